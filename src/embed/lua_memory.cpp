#include "src/embed/lua_memory.h"

#include <limits>

namespace gpulua::embed {

lua_State* LuaMemory::open(const gpulua_options& options) {
  limit_ = options.lua_memory != 0 ? options.lua_memory : std::numeric_limits<std::size_t>::max();
  if (options.allocate != nullptr) {
    inner_ = options.allocate;
    user_ = options.user;
    return lua_newstate(&allocate, this);
  }
  lua_State* const L = luaL_newstate();
  if (L == nullptr || options.lua_memory == 0) return L;
  inner_ = lua_getallocf(L, &user_);
  used_ =
      static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT, 0)) * 1024 + static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNTB, 0));
  lua_setallocf(L, &allocate, this);
  return L;
}

void* LuaMemory::allocate(void* self, void* block, std::size_t old_size, std::size_t size) {
  auto& memory = *static_cast<LuaMemory*>(self);
  const std::size_t others = memory.used_ - old_size;
  if (size > old_size && (size > memory.limit_ || others > memory.limit_ - size)) return nullptr;
  void* const result = memory.inner_(memory.user_, block, old_size, size);
  if (result != nullptr || size == 0) memory.used_ = others + size;
  return result;
}

}  // namespace gpulua::embed
