#include "bindings/lua/library.h"

#include <string>

#include "bindings/lua/caller.h"
#include "bindings/lua/chunk.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/names_elsewhere.h"
#include "bindings/lua/parts.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

// The registry key of a table: `core`, and what each file that has run returned, by its name.
constexpr const char* library_key = "gpulua.library";

// That of the function that adds the C++ functions to `core`.
constexpr const char* core_key = "gpulua.core_functions";

void load_file(lua_State* L, const std::string& file);

/// import(name): what the file name.lua of the library returns. It runs at the first import.
int import(lua_State* L) {
  load_file(L, std::string(check_string(L, 1, "import", "a file")) + ".lua");
  return 1;
}

/// Pushes the table of the registry.
void push_library(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, library_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_getfield(L, LUA_REGISTRYINDEX, core_key);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 0, 0) != 0) throw Error(lua_tostring(L, -1));
  set_functions(L, {{"import", protect<import>}});
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
  for (const char* name : {"plain", "guard_methods", "observed", "name_of", "called", "protected"}) {
    lua_getfield(L, -1, name);
    lua_setfield(L, -3, name);
  }
  lua_pop(L, 1);
  // In a sandbox, too, where scripts do not have it.
  lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  lua_getfield(L, -1, "host");
  lua_setfield(L, -3, "host");
  lua_pop(L, 1);
  lua_setfield(L, -2, "core");
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, library_key);
}

/// Pushes the table of the functions that are called as receiver + name, such as "gpu.sparse.linalg."; nil when there
/// is none yet.
void push_functions(lua_State* L, std::string_view receiver) {
  if (receiver == "x:") return lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  if (receiver == "A:") return lua_getfield(L, LUA_REGISTRYINDEX, sparse_methods_key);
  if (receiver == "g:") return lua_getfield(L, LUA_REGISTRYINDEX, generator_methods_key);
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.module");
  receiver.remove_prefix(std::string_view("gpu.").size());
  while (!receiver.empty() && lua_istable(L, -1)) {
    const std::size_t end = receiver.find('.');
    lua_pushlstring(L, receiver.data(), end);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    push_own_functions(L);
    receiver.remove_prefix(end + 1);
  }
}

/// Adds the check of arguments to a function of a file that has run. Returns whether receiver + name is defined.
bool check_calls(lua_State* L, std::string_view receiver, std::string_view name) {
  push_functions(L, receiver);
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, -2);
  const bool is_lua = lua_isfunction(L, -1) && !lua_iscfunction(L, -1);
  const bool is_there = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (is_lua) guard_function(L, receiver, name);
  lua_pop(L, 1);
  return is_there;
}

int refused_function(lua_State* L) {
  const std::string path = lua_tostring(L, lua_upvalueindex(own_upvalue));
  const std::size_t colon = path.find(':');
  const std::string op = path.substr(colon != path.npos ? colon + 1 : std::string_view("gpu.").size());
  throw Error("[{}] expected a function for scripts in a sandbox, got {}, which sandboxes do not have", op, path);
}

/// Puts a function that raises an error in the place of receiver + name.
void refuse_calls(lua_State* L, std::string_view receiver, std::string_view name) {
  push_functions(L, receiver);
  lua_pushlstring(L, name.data(), name.size());
  const std::string path = std::string(receiver) + std::string(name);
  lua_pushlstring(L, path.data(), path.size());
  push_function(L, protect<refused_function>, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/// Checks the arguments of the functions that a file has defined, and takes away those that sandboxes do not have.
void finish_functions(lua_State* L, const std::string& file) {
  CallSignatures& signatures = bindings_of(L).signatures;
  const bool is_sandbox = !bindings_of(L).context().rights.trusted;
  for (const auto& [receiver, name] : signatures.functions_of(file)) {
    if (!check_calls(L, receiver, name))
      throw std::logic_error(file + " does not define " + std::string(receiver) + std::string(name));
    if (receiver == "gpu.") check_calls(L, "x:", name);
    if (receiver == "gpu.random.") check_calls(L, "g:", name);
    if (!is_sandbox || signatures.is_in_sandboxes(file, name)) continue;
    refuse_calls(L, receiver, name);
    if (receiver == "gpu.") refuse_calls(L, "x:", name);
  }
}

/// Pushes what the file returns, after it has run; true when it returns nothing.
void load_file(lua_State* L, const std::string& file) {
  push_library(L);
  lua_getfield(L, -1, file.c_str());
  if (lua_toboolean(L, -1) != 0) return lua_remove(L, -2);
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.module");
  lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  lua_getfield(L, -3, "core");
  lua_getfield(L, -1, "import");
  run_library_chunk(L, file.c_str(), 4, 1);
  finish_functions(L, file);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
  }
  // Only now: a file that ran out of memory, or into a limit, runs again at the next use.
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, file.c_str());
  lua_remove(L, -2);
}

/// Whether there is a function receiver + name, which may be in a file that has not run.
bool is_function_of(lua_State* L, std::string_view receiver, std::string_view name) {
  if (!bindings_of(L).signatures.file_of(receiver, name).empty()) return true;
  push_functions(L, receiver);
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, -2);
  const bool is_function = lua_isfunction(L, -1);
  lua_pop(L, 2);
  return is_function;
}

/// Whether the script has the command's function `help`.
bool has_help(lua_State* L) {
  lua_pushliteral(L, "help");
  lua_rawget(L, LUA_GLOBALSINDEX);
  const bool found = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return found;
}

/// __index(table, key) for a missing key.
int missing_field(lua_State* L) {
  const std::string_view receiver = lua_tostring(L, lua_upvalueindex(own_upvalue));
  if (push_from_library(L, receiver, name_at(L, 2))) return 1;
  // Names that mean something else in a part, or for the module, than elsewhere.
  if (const std::string_view module = "gpu."; receiver.starts_with(module)) {
    const std::string_view part = receiver == module ? receiver : receiver.substr(module.size());
    const std::string_view here = name_elsewhere(std::string(part) + std::string(name_at(L, 2)));
    if (!here.empty())
      throw Error("{}{}; use {}", lua_tostring(L, lua_upvalueindex(own_upvalue + 1)), describe(L, 2), here);
    if (receiver == module && name_at(L, 2).ends_with('_') && is_function_of(L, "x:", name_at(L, 2)))
      throw Error("{}{}; use x:{}(...), a method of arrays", lua_tostring(L, lua_upvalueindex(own_upvalue + 1)),
                  describe(L, 2), name_at(L, 2));
  }
  // What gpu.fft lacks may be gpu's or another part's; gpu.sum says nothing about a stream without sum.
  if (receiver.starts_with("gpu.")) {
    const char* const message = lua_tostring(L, lua_upvalueindex(own_upvalue + 1));
    if (receiver != "gpu." && is_function_of(L, "gpu.", name_at(L, 2)))
      throw Error("{}{}; use gpu.{}", message, describe(L, 2), name_at(L, 2));
    const std::string call = name_elsewhere(name_at(L, 2)).empty() ? call_in_a_part(name_at(L, 2)) : std::string();
    if (!call.empty()) throw Error("{}{}; use {}", message, describe(L, 2), call);
  }
  load_library(L);
  NearName near(name_at(L, 2));
  offer_names(L, 1, near);
  if (receiver.starts_with("gpu.") && near.name().empty() && name_elsewhere(name_at(L, 2)).empty() && has_help(L) &&
      lua_type(L, 2) == LUA_TSTRING && !find_dtype(name_at(L, 2)))
    throw Error("{}{}; help({}) lists its functions", lua_tostring(L, lua_upvalueindex(own_upvalue + 1)),
                describe(L, 2), receiver.substr(0, receiver.size() - 1));
  refuse_field(L, lua_tostring(L, lua_upvalueindex(own_upvalue + 1)), 2, near);
}

/// gpu.name = value by a script: an error, as nothing would read the value. The library's files define functions so.
int set_part_field(lua_State* L) {
  if (!is_call_of_script(L, 0)) {
    lua_pushvalue(L, lua_upvalueindex(own_upvalue));
    lua_replace(L, 1);
    lua_rawset(L, 1);
    return 0;
  }
  const std::string path = lua_tostring(L, lua_upvalueindex(own_upvalue + 1));
  const std::string message = "[" + path + "] expected no assignment to a field of " + path;
  if (lua_type(L, 2) != LUA_TSTRING) throw Error("{}, got the key {}", message, describe(L, 2));
  const std::string name(name_at(L, 2)), whole = path + "." + name;
  lua_pushvalue(L, lua_upvalueindex(own_upvalue));
  lua_getfield(L, -1, name.c_str());
  const bool is_function = lua_isfunction(L, -1);
  throw Error("{}, got {} = {}{}", message, whole, describe(L, 3),
              is_function ? "; it is a function, " + whole + "(...)" : "; a table of the script's own has its values");
}

/// gpu.fft(x): an error, since a part of the module is not a function.
int refuse_call(lua_State* L) {
  const std::string path = lua_tostring(L, lua_upvalueindex(own_upvalue)), name = path.substr(path.rfind('.') + 1);
  const bool has_namesake = !bindings_of(L).signatures.file_of(path + ".", name).empty();
  const std::string_view here = name_elsewhere(name + "." + name);  // plot.plot
  throw Error("[{}] expected a call of one of its functions{}, got a call of {} itself", path,
              has_namesake    ? ", " + path + "." + name + "(...)"
              : !here.empty() ? ", " + std::string(here)
                              : "",
              path);
}

}  // namespace

bool push_from_library(lua_State* L, std::string_view receiver, std::string_view name) {
  CallSignatures& signatures = bindings_of(L).signatures;
  const std::string_view file = signatures.file_of(receiver, name);
  if (!file.empty()) {
    load_file(L, std::string(file));
    lua_pop(L, 1);
    push_functions(L, receiver);
    lua_pushlstring(L, name.data(), name.size());
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    return false;
  }
  const std::string path = std::string(receiver) + std::string(name);
  if (!signatures.has_functions(path + ".")) return false;
  push_functions(L, receiver);
  lua_pushlstring(L, name.data(), name.size());
  lua_newtable(L);
  seal_functions(L, path);
  lua_pushvalue(L, -1);
  lua_insert(L, -4);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  return true;
}

void load_library(lua_State* L) {
  for (const std::string_view file : bindings_of(L).signatures.files()) {
    load_file(L, std::string(file));
    lua_pop(L, 1);
  }
}

void set_core_functions(lua_State* L, lua_CFunction add) {
  push_function(L, add, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, core_key);
}

void push_import(lua_State* L, const char* name) {
  load_file(L, std::string(name) + ".lua");
}

void seal_result(lua_State* L, const char* op) {
  push_import(L, "records");
  lua_getfield(L, -1, "seal");
  lua_pushvalue(L, -3);
  lua_pushstring(L, op);
  lua_call(L, 2, 0);
  lua_pop(L, 1);
}

void seal(lua_State* L, std::string_view receiver, std::string_view message) {
  lua_createtable(L, 0, 1);
  lua_pushlstring(L, receiver.data(), receiver.size());
  lua_pushlstring(L, message.data(), message.size());
  push_function(L, protect<missing_field>, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

void seal_functions(lua_State* L, const std::string& path) {
  attach_signatures(L, path + ".");
  seal(L, path + ".", "[" + path + "] " + path + " has no field ");
  const int functions = lua_gettop(L);

  lua_newtable(L);
  lua_createtable(L, 0, 4);
  lua_pushvalue(L, functions);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, functions);
  lua_pushlstring(L, path.data(), path.size());
  push_function(L, protect<set_part_field>, 2);
  lua_setfield(L, -2, "__newindex");
  lua_pushlstring(L, path.data(), path.size());
  push_function(L, protect<refuse_call>, 1);
  lua_setfield(L, -2, "__call");
  lua_pushfstring(L, "the functions of %s", path.c_str());
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);

  push_parts(L);
  for (const int table : {functions, functions + 1}) {
    lua_pushvalue(L, table);
    lua_pushlstring(L, path.data(), path.size());
    lua_rawset(L, -3);
  }
  lua_pop(L, 1);
  lua_replace(L, functions);
}

}  // namespace gpulua
