#include "bindings/arrays/lua_device.h"
#include "bindings/lua/state.h"
#include "bindings/session/session_parts.h"

namespace gpulua {

namespace {

/// gpu.check([on])
/// gpu.check(on): searches every launch on the current device for mistakes of the kernel. gpu.check(): whether it does.
int check_kernels(lua_State* L) {
  Device& device = bindings_of(L).device().device();
  if (!lua_isnone(L, 1)) {
    if (!lua_isboolean(L, 1)) fail("check", "true or false", L, 1);
    device.set_checking(lua_toboolean(L, 1) != 0);
  }
  lua_pushboolean(L, device.checking());
  return 1;
}

}  // namespace

void open_check(lua_State* L) {
  set_functions(L, {{"check", protect<check_kernels>}});
}

}  // namespace gpulua
