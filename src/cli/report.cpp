#include "src/cli/report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "bindings/array_hint.h"
#include "bindings/open.h"
#include "src/cli/command_chunk.h"

namespace gpulua {
namespace {

constexpr const char* renderer_key = "gpulua.render";

/// Replaces the error object on top of the stack by a string.
void describe(lua_State* L) {
  if (lua_isstring(L, -1)) {
    lua_tostring(L, -1);
    return;
  }
  if (luaL_getmetafield(L, -1, "__tostring") != 0) {
    lua_pushvalue(L, -2);
    if (lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1)) {
      lua_replace(L, -2);
      return;
    }
    lua_pop(L, 1);
  }
  push_rendering(L, -1);
  lua_pushliteral(L, "error object: ");
  lua_insert(L, -2);
  lua_concat(L, 2);
  lua_replace(L, -2);
}

/// A line that names no function of the script's, nor one that it calls by name.
bool is_internal(std::string_view line) {
  return line.find("]: at 0x") != line.npos || line.find("[gpulua]:") != line.npos;
}

/// Pushes the traceback without our own frames and those that only give an address; gives its number of lines.
int push_script_frames(lua_State* L, std::string_view trace) {
  luaL_Buffer kept;
  luaL_buffinit(L, &kept);
  int lines = 0;
  while (!trace.empty()) {
    const std::size_t end = std::min(trace.find('\n'), trace.size());
    const std::string_view line = trace.substr(0, end);
    trace.remove_prefix(std::min(end + 1, trace.size()));
    if (is_internal(line)) continue;
    if (lines++ > 0) luaL_addchar(&kept, '\n');
    luaL_addlstring(&kept, line.data(), line.size());
  }
  luaL_pushresult(&kept);
  return lines;
}

/// Lua's own message about a nil does not say that it is a file that was not there, or a device; a hint, where there is
/// one, does.
void add_source_of_nil(lua_State* L) {
  const std::string_view message = lua_tostring(L, -1);
  if (message.find("a nil value") == message.npos || message.find("\nhint: ") != message.npos) return;
  const std::string source = source_of_nil(L);
  if (source.empty()) return;
  lua_pushfstring(L, " (perhaps from %s)", source.c_str());
  lua_concat(L, 2);
}

/// The message handler.
int add_traceback(lua_State* L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) == LUA_TSTRING) add_array_hint(L);
  describe(L);
  // Of running code's errors: a nil value, the length of an FFI array, a table in arithmetic, a module that does not
  // parse or is not there.
  const std::string_view message = lua_tostring(L, -1);
  for (const char* part : {"error loading module '", "' not found:", "(a nil value)", "attempt to index a nil value",
                           "attempt to get length of '", "(a table value)"})
    if (message.find(part) != message.npos) {
      add_hint(L, nullptr);
      break;
    }
  add_source_of_nil(L);
  luaL_traceback(L, L, nullptr, 1);
  const int lines = push_script_frames(L, lua_tostring(L, -1));
  lua_remove(L, -2);
  if (lines == 1) {
    lua_pop(L, 1);
    return 1;
  }
  lua_pushliteral(L, "\n");
  lua_insert(L, -2);
  lua_concat(L, 3);
  return 1;
}

}  // namespace

void open_renderer(lua_State* L) {
  if (load_command_chunk(L, "render.lua") != 0) lua_error(L);
  lua_call(L, 0, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, renderer_key);
}

void push_value_text(lua_State* L, int index) {
  lua_pushvalue(L, index);
  lua_getfield(L, LUA_REGISTRYINDEX, renderer_key);
  lua_insert(L, -2);
  lua_call(L, 1, 1);
}

void push_rendering(lua_State* L, int index) {
  lua_pushvalue(L, index);
  lua_getfield(L, LUA_REGISTRYINDEX, renderer_key);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 1, 0) != 0 || !lua_isstring(L, -1)) {
    lua_pop(L, 1);
    lua_pushfstring(L, "<%s>", luaL_typename(L, -1));
  }
  lua_replace(L, -2);
}

void add_hint(lua_State* L, const std::string* text) {
  const int message = lua_gettop(L);
  if (load_command_chunk(L, "hint.lua") == 0 && lua_pcall(L, 0, 1, 0) == 0) {
    lua_pushvalue(L, message);
    if (text != nullptr)
      lua_pushlstring(L, text->data(), text->size());
    else
      lua_pushnil(L);
    if (lua_pcall(L, 2, 1, 0) == 0 && lua_isstring(L, -1)) {
      lua_pushvalue(L, message);
      lua_pushliteral(L, "\nhint: ");
      lua_pushvalue(L, -3);
      lua_concat(L, 3);
      lua_replace(L, message);
    }
  }
  lua_settop(L, message);
}

bool call_with_traceback(lua_State* L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  const int status = lua_pcall(L, arguments, results, base);
  lua_remove(L, base);
  if (status != 0) {
    // The handler does not run for every error: there may be no memory for it.
    if (!lua_isstring(L, -1)) describe(L);
    lua_gc(L, LUA_GCCOLLECT, 0);
  }
  return status == 0;
}

void print_error(lua_State* L) {
  std::size_t size = 0;
  const char* message = lua_tolstring(L, -1, &size);
  std::fflush(stdout);
  std::fputs("gpulua: ", stderr);
  std::fwrite(message, 1, size, stderr);
  std::fputc('\n', stderr);
  lua_pop(L, 1);
}

}  // namespace gpulua
