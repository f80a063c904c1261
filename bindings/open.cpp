#include "bindings/open.h"

#include <cstring>
#include <optional>
#include <string>

#include "bindings/fields.h"
#include "bindings/lua.h"
#include "bindings/lua_array.h"
#include "bindings/state.h"
#include "lua_text.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

// Of the registry.
constexpr const char* owner_key = "gpulua.bindings";
constexpr const char* module_key = "gpulua.module";

/// The finalizer. The memory of the userdata stays until all of the state's are finalised, so that those which come
/// later find it empty.
int close_bindings(lua_State* L) {
  static_cast<std::optional<Bindings>*>(lua_touserdata(L, 1))->reset();
  return 0;
}

/// Leaves the helpers of gpu.lua, run on the `gpu` table at the top of the stack, in the registry.
void load_helpers(lua_State* L) {
  lua_pushvalue(L, -1);
  run_library_chunk(L, "gpu.lua", 1, 1);
  add_signature_helpers(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
}

/// What is a method is a function too, but for those that write in place: `gpu.item(x)`.
void add_methods_as_functions(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.array_methods");
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const std::string name = lua_tostring(L, -2);
    if (name.ends_with('_')) continue;
    lua_pushvalue(L, -2);
    lua_rawget(L, -5);
    const bool there = !lua_isnil(L, -1);
    lua_pop(L, 1);
    if (there) continue;
    // A function of its own: it has another signature.
    lua_pushvalue(L, -4);
    set_functions(L, {{name.c_str(), lua_tocfunction(L, -2)}});
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/// Once all functions are there: the check of their arguments, and errors about other names.
void seal_module(lua_State* L) {
  lua_pushvalue(L, -1);
  const auto seal = [L](const char* path) {
    attach_signatures(L, (std::string(path) + ".").c_str());
    refuse_unknown_fields(L, "[" + std::string(path) + "] " + path + " has no field ");
    lua_pop(L, 1);
  };
  seal("gpu");
  for (const char* part : {"image", "random"}) {
    lua_getfield(L, -1, part);
    seal((std::string("gpu.") + part).c_str());
  }
}

/// The state's module, made when it is first asked for.
int open_gpu(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, module_key);
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
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
  open_user_operations(L);
  add_methods_as_functions(L);
  seal_module(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, module_key);
  return 1;
}

}  // namespace

namespace {

/// The bytecode fits the LuaJIT of the build alone. A host program may bring another one.
bool is_luajit_of_build(lua_State* L) {
  lua_getfield(L, LUA_GLOBALSINDEX, LUA_JITLIBNAME);
  const bool has_library = lua_istable(L, -1);
  if (has_library) lua_getfield(L, -1, "version");
  const bool same =
      has_library && lua_type(L, -1) == LUA_TSTRING && std::strcmp(lua_tostring(L, -1), LUAJIT_VERSION) == 0;
  lua_pop(L, has_library ? 2 : 1);
  return same;
}

bool load(lua_State* L, std::string_view chunk) {
  return luaL_loadbuffer(L, chunk.data(), chunk.size(), "=[gpulua]") == 0;
}

/// Pushes the chunk of the file, from its bytecode where that is of use: parsing takes most of the time of a start.
void load_library_chunk(lua_State* L, const std::string& file) {
  if (is_luajit_of_build(L)) {
    if (load(L, lua_text(file + "c"))) return;
    lua_pop(L, 1);
  }
  if (!load(L, lua_text(file))) throw Error(lua_tostring(L, -1));
}

}  // namespace

void run_library_chunk(lua_State* L, const char* file, int arguments, int results) {
  load_library_chunk(L, file);
  lua_insert(L, -1 - arguments);
  if (lua_pcall(L, arguments, results, 0) != 0) throw Error(lua_tostring(L, -1));
}

std::string source_of_nil(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, owner_key);
  const auto* owner = static_cast<const std::optional<Bindings>*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return owner && *owner ? (*owner)->gave_nil : "";
}

bool has_bindings(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, owner_key);
  const bool found = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return found;
}

void open_bindings(lua_State* L, std::shared_ptr<Context> context) {
  // The first userdata of ours is the last one that closing the state finalises: arrays find their context alive.
  auto* owner = new (lua_newuserdata(L, sizeof(std::optional<Bindings>))) std::optional<Bindings>;
  lua_newtable(L);
  lua_pushcfunction(L, &close_bindings);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, owner_key);
  owner->emplace(L, std::move(context));

  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  set_functions(L, {{"gpu", protect<open_gpu>}});
  lua_pop(L, 2);
}

}  // namespace gpulua
