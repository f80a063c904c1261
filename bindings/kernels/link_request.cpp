#include "bindings/kernels/link_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/arrays/lua_device.h"
#include "bindings/lua/list.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

constexpr const char* link_name = "link";

/// True for the bytes of compiled code: binaries, and PTX, which has a line that no C++ has.
bool is_compiled(std::string_view text) {
  return text.find('\0') != text.npos || text.starts_with(".version ") || text.find("\n.version ") != text.npos;
}

bool is_compiled_file(std::string_view text) {
  if (text.find('\n') != text.npos) return false;
  return std::ranges::any_of(std::array{".ptx", ".cubin", ".fatbin", ".ltoir", ".o", ".a"},
                             [&](const char* ending) { return text.ends_with(ending); });
}

/// Copies the fields of the table at `from` to that at `to`.
void copy_options(lua_State* L, int from, int to) {
  for (lua_pushnil(L); lua_next(L, from) != 0;) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, to);
  }
}

/// Compiled code; nothing for a source.
std::optional<KernelSource> read_image(lua_State* L, int part) {
  if (lua_type(L, part) != LUA_TSTRING) return std::nullopt;
  const std::string_view text = check_string(L, part, link_name, "a part");
  const bool is_file = is_compiled_file(text);
  if (!is_file && !is_compiled(text)) return std::nullopt;
  if (!bindings_of(L).context().rights.trusted) fail(link_name, "CUDA C++ source in a sandbox", L, part);
  KernelSource image;
  if (is_file) image.file = text;
  image.image = is_file ? read_compiled_file(link_name, std::string(text)) : std::string(text);
  return image;
}

/// The part at the top of the stack; `shared`: the options for all, or 0.
KernelSource read_part(lua_State* L, int number, int shared) {
  const int part = lua_gettop(L);
  if (auto image = read_image(L, part)) return std::move(*image);
  const bool is_table = lua_istable(L, part);
  if (!is_table && lua_type(L, part) != LUA_TSTRING)
    fail(link_name, ("as part " + std::to_string(number) + " a source, {source, options...}, or compiled code").c_str(),
         L, part);
  if (is_table)
    lua_rawgeti(L, part, 1);
  else
    lua_pushvalue(L, part);
  const int source = lua_gettop(L);
  lua_newtable(L);
  const int options = lua_gettop(L);
  if (shared != 0) copy_options(L, shared, options);
  lua_pushnil(L);
  lua_setfield(L, options, "device");
  if (is_table) {
    copy_options(L, part, options);
    lua_pushnil(L);
    lua_rawseti(L, options, 1);  // the source
    for (lua_pushnil(L); lua_next(L, options) != 0; lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TNUMBER)
        throw Error(
            "[link] expected part {} to have one source, {{source, options...}}, got {} at position {}; another "
            "source is another part: {{a, b}} links a and b",
            number, describe(L, lua_gettop(L)), describe(L, lua_gettop(L) - 1));
  }
  lua_getfield(L, options, "device");
  if (!lua_isnil(L, -1)) fail(link_name, "the option device beside the list of parts, not in one of them", L, part);
  lua_pop(L, 1);
  lua_pushnil(L);
  const bool has_options = lua_next(L, options) != 0;
  lua_settop(L, has_options ? options : source);
  return check_source(L, source, options, link_name).source;
}

}  // namespace

SourceRequest check_link_request(lua_State* L, int parts, int options) {
  if (!lua_istable(L, parts))
    fail(link_name, "a list of parts: sources, {source, options...}, compiled code", L, parts);
  SourceRequest request;
  const bool has_options = !lua_isnoneornil(L, options);
  if (has_options) {
    const auto later = [](int) {};  // read with each part
    read_options(L, options, link_name,
                 {{"options", later},
                  {"defines", later},
                  {"headers", later},
                  {"include", later},
                  {"device", [&](int value) { request.device = check_device(L, value, link_name); }}});
  }
  if (!request.device) request.device = bindings_of(L).context().current();
  const int count = check_list(L, parts, link_name, "parts");
  if (count == 0) fail(link_name, "at least one part", L, parts);
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, parts, i);
    const int part = lua_gettop(L);
    request.source.parts.push_back(read_part(L, i, has_options ? options : 0));
    lua_settop(L, part - 1);
  }
  return request;
}

}  // namespace gpulua
