#include "src/cli/help.h"

#include <cstdio>

#include "bindings/lua/terminal.h"
#include "cli_text.h"
#include "src/base/near_name.h"
#include "src/cli/command_chunk.h"

namespace gpulua {
namespace {

// The functions of help.lua in the registry, once they were needed.
constexpr const char* show_key = "gpulua.help.show";
constexpr const char* properties_key = "gpulua.help.properties";
constexpr const char* options_key = "gpulua.help.options";

/// load(file, ...): the value of a file of the command's, called with the arguments.
int load(lua_State* L) {
  const char* file = luaL_checkstring(L, 1);
  if (load_command_chunk(L, file) != 0) return lua_error(L);
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/// distance(a, b): how many letters the words differ by.
int distance(lua_State* L) {
  lua_pushinteger(L, static_cast<lua_Integer>(edit_distance(luaL_checkstring(L, 1), luaL_checkstring(L, 2))));
  return 1;
}

void push_part(lua_State* L, const char* key) {
  lua_getfield(L, LUA_REGISTRYINDEX, key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "gpu");  // makes what the chunk gets
  lua_call(L, 1, 0);
  if (load_command_chunk(L, "help.lua") != 0) lua_error(L);
  lua_pushcfunction(L, load);
  const std::string_view reference = cli_text("reference.md");
  lua_pushlstring(L, reference.data(), reference.size());
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
  lua_pushcfunction(L, distance);
  lua_call(L, 4, 3);
  lua_setfield(L, LUA_REGISTRYINDEX, options_key);
  lua_setfield(L, LUA_REGISTRYINDEX, properties_key);
  lua_setfield(L, LUA_REGISTRYINDEX, show_key);
  lua_getfield(L, LUA_REGISTRYINDEX, key);
}

/// Prints what there is about the value at the top of the stack; with `any` false, the chapters.
void print_help(lua_State* L, bool any) {
  push_help_show(L);
  lua_pushinteger(L, static_cast<lua_Integer>(terminal_width()));
  lua_pushboolean(L, any);
  lua_pushvalue(L, -4);
  lua_call(L, 3, 1);
  std::printf("%s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
}

/// __call(help, what)
int call_help(lua_State* L) {
  const int count = lua_gettop(L) - 1;
  if (count > 1) return luaL_error(L, "[help] expected a name or one value, got %d values", count);
  print_help(L, count == 1);
  return 0;
}

int describe_help(lua_State* L) {
  lua_pushliteral(L,
                  "help(gpu.sum) shows what a function does, help \"Indexing\" a chapter, help() the chapters; at the "
                  "prompt, ? gpu.sum is the same");
  return 1;
}

int print_about(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  print_help(L, true);
  return 0;
}

}  // namespace

void push_help(lua_State* L) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, call_help);
  lua_setfield(L, -2, "__call");
  lua_pushcfunction(L, describe_help);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
}

void push_help_about(lua_State* L, std::string_view name) {
  lua_pushlstring(L, name.data(), name.size());
  lua_pushcclosure(L, print_about, 1);
}

void push_help_show(lua_State* L) {
  push_part(L, show_key);
}

void push_properties(lua_State* L) {
  push_part(L, properties_key);
}

void push_options(lua_State* L) {
  push_part(L, options_key);
}

}  // namespace gpulua
