#pragma once

#include <cstddef>
#include <limits>
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

  bool is_full() const { return used_ >= limit_; }
  /// Bytes, counted where there is a limit or an allocator.
  std::size_t used() const { return used_; }

  /// While it lives, the limit does not hold. A collection needs that: LuaJIT makes a smaller table of strings at the
  /// end of one, and where there is no room for it, this collection and all later ones fail there.
  class Lifted {
   public:
    explicit Lifted(LuaMemory& memory) : memory_(memory) { memory_.is_lifted_ = true; }
    ~Lifted() { memory_.is_lifted_ = false; }
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;

   private:
    LuaMemory& memory_;
  };

 private:
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t size);
  void ask_for_collection();
  std::size_t halfway_to_limit() const;
  /// After memory was given back.
  void relax();

  lua_Alloc inner_ = nullptr;
  void* user_ = nullptr;
  lua_State* L_ = nullptr;
  std::size_t used_ = 0, limit_ = std::numeric_limits<std::size_t>::max();
  std::size_t collects_at_ = 0;  // bytes in use
  bool asked_ = false, is_lifted_ = false;
};

}  // namespace gpulua::embed
