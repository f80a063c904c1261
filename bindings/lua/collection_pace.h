#pragma once

#include <algorithm>
#include <lua.hpp>

namespace gpulua {

/// Runs Lua's collector in step with the arrays that a script makes. The collector sees handles of a few bytes and
/// would leave the nodes of past expressions to spread over megabytes, so that each new one is written outside of the
/// processor's cache.
class CollectionPace {
 public:
  /// A handle to a new array is about to be pushed.
  void note_array(lua_State* L) {
    if (++arrays_ >= limit_ && arrays_ % arrays_a_step == 0) step(L);
  }

 private:
  static constexpr unsigned arrays_a_step = 32;
  // Arrays to a collection: their nodes take less than a megabyte. A large heap takes longer to mark and is collected
  // less often.
  static constexpr unsigned least_arrays = 2048, arrays_a_kilobyte = 4;

  void step(lua_State* L);

  unsigned arrays_ = 0;  // since the last collection
  unsigned limit_ = least_arrays;
};

inline void CollectionPace::step(lua_State* L) {
  constexpr int kilobytes = 8;  // of Lua's memory that a step goes through
  if (lua_gc(L, LUA_GCISRUNNING, 0) == 0 || lua_gc(L, LUA_GCSTEP, kilobytes) == 0) return;
  arrays_ = 0;
  limit_ = std::max(least_arrays, arrays_a_kilobyte * static_cast<unsigned>(lua_gc(L, LUA_GCCOUNT, 0)));
}

}  // namespace gpulua
