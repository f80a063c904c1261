#include "bindings/lua/bracket.h"

#include <algorithm>

#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"
#include "src/array/capture.h"
#include "src/array/evaluator.h"
#include "src/array/trace.h"
#include "src/runtime/trace_file.h"

namespace gpulua {

void set_bracket(lua_State* L, const char* name, lua_CFunction enter, lua_CFunction leave, int position) {
  lua_newtable(L);
  set_functions(L, {{"enter", enter}, {"leave", leave}});
  lua_getfield(L, -1, "enter");
  lua_getfield(L, -2, "leave");
  lua_remove(L, -3);
  lua_pushinteger(L, position);
  // Lua's pcall lets the function yield and be compiled; lua_pcall from C++ does neither.
  call_helper(L, "bracket", 3, 1);
  lua_setfield(L, -2, name);
}

bool is_in_bracket(const Bindings& bindings) {
  const Context& context = bindings.context();
  return !bindings.scopes.empty() || is_recording(bindings.context()) || !context.traces.empty() ||
         context.ranges.in_function() || std::ranges::any_of(context.open_devices(), &OpenDevice::is_in_bracket);
}

void end_brackets(Bindings& bindings) noexcept {
  const Context::Call call(bindings.context());
  bindings.scopes.clear();
  bindings.context().traces.clear();
  bindings.context().ranges.close();
  for (const auto& device : bindings.context().open_devices()) {
    if (Trace* trace = device->evaluator().trace()) trace->abandon();
    if (Capture* capture = device->evaluator().capture()) capture->abandon();
    device->end_brackets();
  }
}

}  // namespace gpulua
