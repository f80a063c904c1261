#pragma once

#include <cstddef>
#include <lua.hpp>

#include "include/gpulua/gpulua.h"

namespace gpulua::embed {

/// The memory of a Lua state: the host program's allocator where it has one, and a limit. It outlives the state.
///
/// LuaJIT lets garbage grow to as much as what is in use, whatever the limit, and collects none when memory is short.
/// So beyond half of the limit the allocator asks for a whole collection, which comes at LuaJIT's next look, again each
/// time half of what was left then is used up.
class LuaMemory {
 public:
  /// A new Lua state; null when there is no room. The options' allocator and limit hold for it.
  lua_State* open(const gpulua_options& options);
  /// Closes that state.
  void close(lua_State* L);

 private:
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t size);
  void ask_for_collection();
  /// After memory was given back.
  void relax();

  lua_Alloc inner_ = nullptr;
  void* user_ = nullptr;
  lua_State* L_ = nullptr;
  std::size_t used_ = 0, limit_ = 0;
  std::size_t collects_at_ = 0;  // bytes in use
  bool asked_ = false;
};

}  // namespace gpulua::embed
