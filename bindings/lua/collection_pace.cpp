#include "bindings/lua/collection_pace.h"

#include <algorithm>

namespace gpulua {

void CollectionPace::step(lua_State* L) {
  constexpr int kilobytes = 8;  // of Lua's memory that a step goes through
  if (lua_gc(L, LUA_GCISRUNNING, 0) == 0 || lua_gc(L, LUA_GCSTEP, kilobytes) == 0) return;
  arrays_ = 0;
  limit_ = std::max(least_arrays, arrays_a_kilobyte * static_cast<unsigned>(lua_gc(L, LUA_GCCOUNT, 0)));
}

}  // namespace gpulua
