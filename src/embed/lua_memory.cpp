#include "src/embed/lua_memory.h"

#include <algorithm>
#include <limits>

namespace gpulua::embed {
namespace {

/// LuaJIT's own step, and the one that does a whole collection.
constexpr int usual_step = 200, whole_step = 0;

}  // namespace

lua_State* LuaMemory::open(const gpulua_options& options) {
  limit_ = options.lua_memory != 0 ? options.lua_memory : std::numeric_limits<std::size_t>::max();
  collects_at_ = limit_ / 2;
  if (options.allocate != nullptr) {
    inner_ = options.allocate;
    user_ = options.user;
    // LuaJIT does not survive that memory is short here; what has no room in it is found later.
    const Lifted lifted(*this);
    return L_ = lua_newstate(&allocate, this);
  }
  lua_State* const L = luaL_newstate();
  if (L == nullptr || options.lua_memory == 0) return L;
  inner_ = lua_getallocf(L, &user_);
  used_ =
      static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT, 0)) * 1024 + static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNTB, 0));
  lua_setallocf(L, &allocate, this);
  return L_ = L;
}

void LuaMemory::close(lua_State* L) {
  L_ = nullptr;  // it goes with the last block
  asked_ = false;
  lua_close(L);
}

void* LuaMemory::allocate(void* self, void* block, std::size_t old_size, std::size_t size) {
  auto& memory = *static_cast<LuaMemory*>(self);
  const std::size_t others = memory.used_ - old_size;
  const bool fits = size <= memory.limit_ && others <= memory.limit_ - size;
  if (size > old_size && !fits && !memory.is_lifted_) return nullptr;
  void* const result = memory.inner_(memory.user_, block, old_size, size);
  if (result != nullptr || size == 0) memory.used_ = others + size;
  if (memory.used_ > memory.collects_at_)
    memory.ask_for_collection();
  else if (memory.asked_ && size < old_size)
    memory.relax();
  return result;
}

std::size_t LuaMemory::halfway_to_limit() const {
  return used_ + (limit_ - std::min(used_, limit_)) / 2;
}

/// These functions of Lua's only set numbers, so they may be called within an allocation.
void LuaMemory::ask_for_collection() {
  collects_at_ = halfway_to_limit();
  if (L_ == nullptr) return;
  asked_ = true;
  lua_gc(L_, LUA_GCSETSTEPMUL, whole_step);
  lua_gc(L_, LUA_GCRESTART, 0);
}

void LuaMemory::relax() {
  collects_at_ = std::min(collects_at_, std::max(limit_ / 2, halfway_to_limit()));
  if (used_ > limit_ / 2) return;
  asked_ = false;
  lua_gc(L_, LUA_GCSETSTEPMUL, usual_step);
}

}  // namespace gpulua::embed
