#include "bindings/open.h"

#include <string>

#include "bindings/array.h"
#include "bindings/lua.h"
#include "bindings/state.h"
#include "lua_text.h"
#include "src/core/context.h"

namespace gpulua {

template <>
struct LuaType<std::unique_ptr<Bindings>> {
  static constexpr const char* name = "the state's bindings";
};

namespace {

/// Leaves the helpers of gpu.lua, run on the `gpu` table at the top of the stack, in the registry.
void load_helpers(lua_State* L) {
  lua_pushvalue(L, -1);
  run_library_chunk(L, "gpu.lua", 1, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
}

/// What is a method is a function too, but for those that write in place: `gpu.item(x)`.
void add_methods_as_functions(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.array_methods");
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    if (std::string_view(lua_tostring(L, -2)).ends_with('_')) continue;
    lua_pushvalue(L, -2);
    lua_rawget(L, -5);
    const bool there = !lua_isnil(L, -1);
    lua_pop(L, 1);
    if (there) continue;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -6);
  }
  lua_pop(L, 1);
}

int open_gpu(lua_State* L) {
  lua_newtable(L);
  load_helpers(L);
  open_arrays(L);
  open_check(L);
  open_creation(L);
  open_devices(L);
  open_files(L);
  open_evaluation(L);
  open_images(L);
  open_indexing(L);
  open_kernels(L);
  open_linear_algebra(L);
  open_memory(L);
  open_operations(L);
  open_random(L);
  open_reductions(L);
  open_shapes(L);
  open_scans(L);
  open_sorting(L);
  open_streams(L);
  open_tail_calls(L);
  open_transfer(L);
  open_composed(L);
  open_measure(L);
  open_user_operations(L);
  add_methods_as_functions(L);
  return 1;
}

}  // namespace

void run_library_chunk(lua_State* L, const char* file, int arguments, int results) {
  const std::string_view text = lua_text(file);
  if (luaL_loadbuffer(L, text.data(), text.size(), "=[gpulua]") != 0) throw Error(lua_tostring(L, -1));
  lua_insert(L, -1 - arguments);
  if (lua_pcall(L, arguments, results, 0) != 0) throw Error(lua_tostring(L, -1));
}

std::string source_of_nil(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.bindings");
  const auto* bindings = static_cast<const Bindings*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return bindings ? bindings->gave_nil : "";
}

void open_bindings(lua_State* L, std::shared_ptr<Context> context) {
  // The first userdata of ours is the last one that closing the state finalises: arrays find their context alive.
  lua_newtable(L);
  lua_pushcfunction(L, &collect_box<std::unique_ptr<Bindings>>);
  lua_setfield(L, -2, "__gc");
  lua_pushlightuserdata(L, const_cast<char*>(&LuaBox<std::unique_ptr<Bindings>>::identity));
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  lua_pop(L, 1);
  auto& bindings = push(L, std::make_unique<Bindings>(L, std::move(context)));
  lua_setfield(L, LUA_REGISTRYINDEX, "gpulua.owner");
  lua_pushlightuserdata(L, bindings.get());
  lua_setfield(L, LUA_REGISTRYINDEX, "gpulua.bindings");

  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  set_functions(L, {{"gpu", protect<open_gpu>}});
  lua_pop(L, 2);
}

}  // namespace gpulua
