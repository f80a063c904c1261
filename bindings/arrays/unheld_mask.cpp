#include "bindings/arrays/unheld_mask.h"

#include <cstring>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/lua/bytecode_readers.h"

namespace gpulua {

namespace {

// Storing the mask of a small array costs less than finding out whether it must be.
constexpr std::size_t least_bytes = 1 << 20;

}  // namespace

void UnheldMask::note(lua_State* L, const Node& made) {
  if (made.dtype != DType::boolean || !made.pending() || made.nbytes() < least_bytes / 16) return;
  box_ = nullptr;
  lua_Debug frame{};
  if (lua_getstack(L, 1, &frame) == 0) return;
  const void* box = lua_touserdata(L, -1);
  lua_getinfo(L, "fl", &frame);
  caller_ = lua_topointer(L, -1);
  lua_pop(L, 1);
  line_ = frame.currentline;
  node_ = &made;
  number_ = made.number;
  if (line_ > 0) box_ = box;
}

bool UnheldMask::is_unheld(lua_State* L, int index) const {
  lua_Debug frame{};
  if (lua_touserdata(L, index) != box_ || lua_checkstack(L, 8) == 0 || lua_getstack(L, 1, &frame) == 0) return false;
  push_bytecode_reader(L, "called_key");
  lua_getinfo(L, "fl", &frame);
  // The function is the one that has made the mask, not a closure with the address of that: the line's call has
  // returned to it.
  if (lua_topointer(L, -1) != caller_ || frame.currentline != line_) return false;
  lua_pushinteger(L, line_);
  if (lua_pcall(L, 2, 1, 0) != 0 || lua_type(L, -1) != LUA_TNUMBER) return false;
  const char* name = lua_getlocal(L, &frame, static_cast<int>(lua_tointeger(L, -1)) + 1);
  return name && std::strcmp(name, "(*temporary)") == 0 && lua_rawequal(L, -1, index) != 0;
}

void UnheldMask::release(lua_State* L, int index, Node& target) {
  Array* mask = test<Array>(L, index);
  if (!box_ || !mask || mask->get() != node_ || node_->number != number_ || !node_->pending()) return;
  if (target.nbytes() < least_bytes) return;
  const int top = lua_gettop(L);
  const bool unheld = is_unheld(L, index);
  lua_settop(L, top);
  if (!unheld) return;
  box_ = nullptr;
  find_box<Array>(L, index)->destroy();
}

}  // namespace gpulua
