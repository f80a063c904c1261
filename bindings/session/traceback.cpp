#include "bindings/session/traceback.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "bindings/lua/state.h"

namespace gpulua {
namespace {

bool is_of_library(std::string_view line) {
  return line.find("[gpulua]:") != line.npos;
}

/// A line that names no function of the script's, nor one that it calls by name. `caller`: the next line. A function in
/// C that the library's Lua has called has a name there alone, such as 'fail'.
bool is_internal(std::string_view line, std::string_view caller) {
  return line.find("]: at 0x") != line.npos || is_of_library(line) ||
         (line.starts_with("\t[C]: ") && is_of_library(caller));
}

/// Pushes the lines of `trace` that are not internal; gives their number.
int push_script_frames(lua_State* L, std::string_view trace) {
  luaL_Buffer kept;
  luaL_buffinit(L, &kept);
  int lines = 0;
  while (!trace.empty()) {
    const std::size_t end = std::min(trace.find('\n'), trace.size());
    const std::string_view line = trace.substr(0, end);
    trace.remove_prefix(std::min(end + 1, trace.size()));
    if (is_internal(line, trace.substr(0, trace.find('\n')))) continue;
    if (lines++ > 0) luaL_addchar(&kept, '\n');
    luaL_addlstring(&kept, line.data(), line.size());
  }
  luaL_pushresult(&kept);
  return lines;
}

}  // namespace

int push_traceback(lua_State* L) {
  luaL_traceback(L, L, nullptr, 1);
  const int lines = push_script_frames(L, lua_tostring(L, -1));
  lua_remove(L, -2);
  return lines;
}

void add_source_of_nil(lua_State* L) {
  const std::string_view message = lua_tostring(L, -1);
  if (message.find("a nil value") == message.npos) return;
  if (message.find("attempt to call ") != message.npos) return;  // it returned no function
  const std::string source = source_of_nil(L);
  if (source.empty()) return;
  const std::size_t end = std::min(message.find("\nhint: "), message.size());
  lua_pushlstring(L, message.data(), end);
  lua_pushfstring(L, " (perhaps from %s)", source.c_str());
  lua_pushlstring(L, message.data() + end, message.size() - end);
  lua_concat(L, 3);
  lua_replace(L, -2);
}

void push_running_line(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0 && std::strcmp(frame.source, "=[gpulua]") != 0) return luaL_where(L, level);
  }
  lua_pushliteral(L, "");
}

}  // namespace gpulua
