#pragma once

#include <cstddef>
#include <lua.hpp>

#include "include/gpulua/gpulua.h"

namespace gpulua::embed {

/// The memory of a Lua state: the host program's allocator where it has one, and a limit. It outlives the state.
class LuaMemory {
 public:
  /// A new Lua state; null when there is no room. The options' allocator and limit hold for it.
  lua_State* open(const gpulua_options& options);

 private:
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t size);

  lua_Alloc inner_ = nullptr;
  void* user_ = nullptr;
  std::size_t used_ = 0, limit_ = 0;
};

}  // namespace gpulua::embed
