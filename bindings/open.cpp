#include "bindings/open.h"

#include <optional>
#include <string>

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/condition.h"
#include "bindings/core.h"
#include "bindings/data/data_parts.h"
#include "bindings/functions/captured_values.h"
#include "bindings/functions/function_parts.h"
#include "bindings/kernels/kernel_parts.h"
#include "bindings/linalg/linalg_parts.h"
#include "bindings/lua/array_type.h"
#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/chunk.h"
#include "bindings/lua/library.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/parts.h"
#include "bindings/lua/state.h"
#include "bindings/operations/operation_parts.h"
#include "bindings/random/lua_random.h"
#include "bindings/session/explain_error.h"
#include "bindings/session/session_parts.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

// Keys of the registry.
constexpr const char* helpers_key = "gpulua.helpers";
// The registry keys of the table of gpu's functions, and of the one that scripts have in its place.
constexpr const char* module_key = "gpulua.module";
constexpr const char* public_key = "gpulua.public_module";

/// The finalizer. A closing state frees userdata after all finalizers have run, so later finalizers find an empty
/// optional.
int close_bindings(lua_State* L) {
  static_cast<std::optional<Bindings>*>(lua_touserdata(L, 1))->reset();
  return 0;
}

/// load_library(): makes all functions that are written in Lua fields of their tables.
int load_whole_library(lua_State* L) {
  load_library(L);
  return 0;
}

/// refuse_comparison(signature, value, may_be_kept): see refuse_comparison_of(), of a value that is an array.
int refuse_comparison(lua_State* L) {
  if (test_array_or_column(L, 2) != nullptr)
    refuse_comparison_of(L, *static_cast<const CallSignature*>(lua_touserdata(L, 1)), lua_toboolean(L, 3) != 0);
  return 0;
}

int restrict_module(lua_State* L) {
  push_import(L, "restricted");
  return 0;
}

/// Runs gpu.lua on the `gpu` table at the top of the stack and stores its helpers in the registry.
void load_helpers(lua_State* L) {
  lua_pushvalue(L, -1);
  push_parts(L);
  run_library_chunk(L, "gpu.lua", 2, 1);
  add_signature_helpers(L);
  set_functions(L, {{"load_library", protect<load_whole_library>},
                    {"refuse_comparison", protect<refuse_comparison>},
                    {"restrict", protect<restrict_module>},
                    {"explain", &explain_error}});
  lua_setfield(L, LUA_REGISTRYINDEX, helpers_key);
}

int add_to_core(lua_State* L) {
  add_core_functions(L);
  return 0;
}

void add_array_methods(lua_State* L) {
  open_array_transfer_methods(L);
  open_evaluation_methods(L);
  open_exchange_methods(L);
  open_indexing_methods(L);
  open_linear_algebra_methods(L);
  open_operation_methods(L);
  open_reduction_methods(L);
  open_shape_methods(L);
  open_scan_methods(L);
  open_sorting_methods(L);
}

/// Adds each method of arrays as a function, such as `gpu.item(x)`, except those that write in place, and gpu.table,
/// which a Lua file has.
void add_methods_as_functions(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const std::string name = lua_tostring(L, -2);
    if (name.ends_with('_') || name == "table") continue;
    lua_pushvalue(L, -2);
    lua_rawget(L, -5);
    const bool there = !lua_isnil(L, -1);
    lua_pop(L, 1);
    if (there) continue;
    // A separate function object, because its signature differs from the method's.
    lua_pushvalue(L, -4);
    set_functions(L, {{name.c_str(), lua_tocfunction(L, -2)}});
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/// Attaches the checks of arguments, and makes unknown names and assignments errors. Called after all functions were
/// added. Leaves what scripts have in the place of the module.
void seal_module(lua_State* L) {
  for (const char* part : {"image", "random"}) {
    lua_getfield(L, -1, part);
    seal_functions(L, std::string("gpu.") + part);
    lua_setfield(L, -2, part);
  }
  seal_functions(L, "gpu");
  lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  attach_signatures(L, "x:");
  lua_pop(L, 1);
}

/// Pushes the state's module. The first call creates it.
int open_gpu(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, public_key);
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  lua_newtable(L);
  load_helpers(L);
  set_core_functions(L, protect<add_to_core>);
  open_arrays(L, &set_operators, &add_array_methods);
  open_check(L);
  open_creation(L);
  open_devices(L);
  open_exchange(L);
  open_evaluation(L);
  open_images(L);
  open_indexing(L);
  open_jit_kernels(L);
  open_kernels(L);
  open_lua_functions(L);
  open_linear_algebra(L);
  open_measuring(L);
  open_memory(L);
  open_operations(L);
  open_random(L);
  open_reductions(L);
  open_shapes(L);
  open_scans(L);
  open_sorting(L);
  open_streams(L);
  open_textures(L);
  open_transfer(L);
  open_user_operations(L);
  open_user_reductions(L);
  add_methods_as_functions(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, module_key);
  seal_module(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, public_key);
  return 1;
}

}  // namespace

std::shared_ptr<Context> context_of(lua_State* L) {
  const Bindings* bindings = find_bindings(L);
  return bindings ? bindings->context_ref() : nullptr;
}

void open_lua_libraries(lua_State* L) {
  luaL_openlibs(L);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit.opt");
  lua_getfield(L, -1, "start");
  lua_pushliteral(L, "-dse");  // the removal of dead stores
  lua_call(L, 1, 0);
  lua_pop(L, 2);
  note_parsed_functions(L);
}

void name_replaced_functions(lua_State* L) {
  note_replaced_functions(L);
}

void restrict_bindings(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, helpers_key);
  lua_getfield(L, -1, "restrict");
  lua_call(L, 0, 0);
  lua_pop(L, 1);
}

bool has_bindings(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, bindings_key);
  const bool found = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return found;
}

const char* missing_library(lua_State* L) {
  for (const char* library : {"package", "string", "table", "math"}) {
    lua_getglobal(L, library);
    const bool is_open = lua_istable(L, -1);
    lua_pop(L, 1);
    if (!is_open) return library;
  }
  return nullptr;
}

void open_bindings(lua_State* L, std::shared_ptr<Context> context) {
  // A closing state finalises userdata in reverse order of creation. The context belongs to the first userdata of the
  // library, so all arrays are destroyed before it.
  auto* owner = new (lua_newuserdata(L, sizeof(std::optional<Bindings>))) std::optional<Bindings>;
  lua_newtable(L);
  lua_pushcfunction(L, &close_bindings);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, bindings_key);
  owner->emplace(L, std::move(context));

  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  set_functions(L, {{"gpu", protect<open_gpu>}});
  lua_pop(L, 2);
}

}  // namespace gpulua
