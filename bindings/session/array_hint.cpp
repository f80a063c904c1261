#include "bindings/session/array_hint.h"
#include "bindings/lua/library.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "bindings/arrays/lua_array.h"

namespace gpulua {

namespace {

// A text of fixed length: a Lua error can longjmp over the handler's frames, so they own no memory.
struct Hint {
  char text[256] = "";
};

template <class... Values>
void write(Hint& hint, const char* format, Values... values) {
  std::snprintf(hint.text, sizeof hint.text, format, values...);
}

/// Pushes one after another the values of the function that failed, and calls `fits` for each: the arguments of a C
/// function; the locals and temporaries of a Lua function. `unnamed_only`: only temporaries. Returns true at the first
/// value that fits.
template <class Fits>
bool find_value(lua_State* L, bool unnamed_only, Fits fits) {
  lua_Debug frame{};
  if (lua_getstack(L, 1, &frame) == 0) return false;
  for (int n = 1; const char* name = lua_getlocal(L, &frame, n); ++n) {
    const bool found = (!unnamed_only || name[0] == '(') && fits();
    lua_pop(L, 1);
    if (found) return true;
  }
  return false;
}

const Array* find_array(lua_State* L, bool unnamed_only) {
  const Array* array = nullptr;
  find_value(L, unnamed_only, [&] { return (array = test<Array>(L, -1)) != nullptr; });
  return array;
}

/// True when x.shape or x.strides is among the values of a numeric loop.
bool has_sizes(lua_State* L) {
  return find_value(L, true, [&] {
    if (!lua_getmetatable(L, -1)) return false;
    lua_getfield(L, LUA_REGISTRYINDEX, sizes_key);
    const bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
  });
}

/// Stores the text between `before` and the next quote in `name`; returns false when there is none.
template <std::size_t size>
bool quoted(std::string_view message, std::string_view before, char (&name)[size]) {
  const std::size_t at = message.find(before);
  if (at == message.npos) return false;
  const std::string_view rest = message.substr(at + before.size());
  const std::size_t length = rest.find('\'');
  if (length == rest.npos || length >= size) return false;
  std::memcpy(name, rest.data(), length);
  name[length] = '\0';
  return true;
}

bool is_method(lua_State* L, const char* name) {
  lua_getfield(L, LUA_REGISTRYINDEX, array_methods_key);
  if (!lua_istable(L, -1)) return lua_pop(L, 1), false;
  lua_getfield(L, -1, name);
  const bool found = lua_isfunction(L, -1);
  lua_pop(L, 2);
  return found;
}

void write_argument_hint(lua_State* L, std::string_view message, Hint& hint) {
  const Array* array = find_array(L, false);
  if (!array) return;
  char name[32] = "";
  quoted(message, " to '", name);
  const auto is = [&](const char* function) { return std::strcmp(name, function) == 0; };
  if (is("insert") || is("remove"))
    return write(
        hint,
        "; the argument is an array: gpu.array(t) makes one of a table that is full, gpu.concat({x, y}) a longer "
        "one");
  if (is("sort")) return write(hint, "; the argument is an array: x:sort() gives its elements in order");
  if (message.find("(table expected") != message.npos)
    return write(hint, "; the argument is an array: x:table() gives its elements as a table");
  if (message.find("(string expected") != message.npos)
    return write(hint, "; the argument is an array: tostring(x) gives its text");
  if ((*array)->layout.size() == 1) return write(hint, "; the argument is an array: x:item() gives its number");
  if (is("max") || is("min"))
    return write(hint, "; the argument is an array: gpu.%simum(x, y) compares each element, x:%s() gives the %s of all",
                 name, name, is("max") ? "largest" : "smallest");
  if (is_method(L, name)) return write(hint, "; the argument is an array: x:%s(...) takes one", name);
  write(hint, "; the argument is an array: x:table() gives its elements");
}

void write_hint(lua_State* L, std::string_view message, Hint& hint) {
  const auto has = [&](std::string_view text) { return message.find(text) != message.npos; };
  char name[32];
  if (has("bad argument") && has("expected, got userdata)")) return write_argument_hint(L, message, hint);
  if (has("'for' ") && has(" must be a number")) {
    if (find_array(L, true)) return write(hint, "; of an array, x:item() gives the number");
    if (has_sizes(L)) return write(hint, "; x.shape[1] is the first extent of an array, x.size counts its elements");
  }
  if (has("attempt to compare") && has("userdata") && find_array(L, false))
    return write(hint,
                 "; x:lt(y), x:le(y), x:gt(y) and x:ge(y) compare arrays, x:item() < y the number of one element");
  if (has("attempt to perform arithmetic on") && has("and 'userdata'"))
    return write(hint, "; numbers of the FFI go to an array's right, x + 2LL, or into a function, gpu.add(2LL, x)");
  if (quoted(message, "attempt to call method '", name) && (has("(a number value)") || has("(a string value)")))
    for (const char* property : {"ndim", "size", "dtype", "nbytes", "device", "pointer"})
      if (std::strcmp(name, property) == 0)
        return write(hint, "; x.%s is a property of arrays: it has no parentheses%s", property,
                     std::strcmp(name, "size") == 0 ? "; x.shape[1] is the first extent" : "");
}

}  // namespace

void add_array_hint(lua_State* L) {
  Hint hint;
  std::size_t length = 0;
  const char* message = lua_tolstring(L, -1, &length);
  write_hint(L, {message, length}, hint);
  if (hint.text[0] == '\0') return;
  lua_pushstring(L, hint.text);
  lua_concat(L, 2);
}

}  // namespace gpulua
