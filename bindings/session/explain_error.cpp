#include "bindings/session/explain_error.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "bindings/arrays/lua_array.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/library.h"

namespace gpulua {

namespace {

// A text of fixed length: a Lua error can longjmp over the handler's frames, so they own no memory.
template <std::size_t size>
struct Text {
  char text[size] = "";
};
using Hint = Text<256>;

template <std::size_t size, class... Values>
void write(Text<size>& to, const char* format, Values... values) {
  std::snprintf(to.text, size, format, values...);
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

/// Whether one of the function's values is a column of text, of dates or of durations.
bool has_column(lua_State* L) {
  return find_value(L, false, [&] { return test_text_column(L, -1) || test_date_column(L, -1); });
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

/// Whether one of the function's values is an object of the library's Lua files of this name.
bool has_object(lua_State* L, std::string_view name) {
  return find_value(L, false, [&] {
    if (luaL_getmetafield(L, -1, "__metatable") == 0) return false;
    const bool same = lua_type(L, -1) == LUA_TSTRING && lua_tostring(L, -1) == name;
    lua_pop(L, 1);
    return same;
  });
}

/// A loop over a table of columns or over groups, which are no Lua tables.
void write_loop_hint(lua_State* L, Hint& hint) {
  if (has_object(L, "a table of columns"))
    write(hint,
          "; the argument is a table of columns: t.names is a list of their names, t:values(name) one of a column's "
          "values, #t the number of rows");
  if (has_object(L, "groups of rows"))
    write(hint,
          "; groups have no loop: g:mean() and g:aggregate{...} give a table with a row for each group, and "
          "t:where(name, key) one with a group's rows");
}

void write_argument_hint(lua_State* L, std::string_view message, Hint& hint) {
  const Array* array = find_array(L, false);
  if (!array) return write_loop_hint(L, hint);
  char name[32] = "";
  quoted(message, " to '", name);
  const auto is = [&](const char* function) { return std::strcmp(name, function) == 0; };
  if (is("insert") || is("remove"))
    return write(
        hint,
        "; the argument is an array: gpu.array(t) makes one of a table that is full, gpu.concat({x, y}) a longer "
        "one");
  if (is("unpack"))
    return write(
        hint,
        "; the argument is an array: x:table() gives its elements as a table; results of a call are taken one by "
        "one, local q, r = gpu.linalg.qr(a)");
  if (is("sort")) return write(hint, "; the argument is an array: x:sort() gives its elements in order");
  if (message.find("(table expected") != message.npos)
    return write(hint, "; the argument is an array: x:table() gives its elements as a table");
  if (message.find("(string expected") != message.npos)
    return write(hint, "; the argument is an array: tostring(x) gives its text");
  const bool is_number = (*array)->layout.size() == 1;
  // A number that is read from an array is a constant for derivatives.
  const bool is_followed = (*array)->device().context().observer != nullptr;
  if (is_number && !is_followed) return write(hint, "; the argument is an array: x:item() gives its number");
  const char* constant = is_number ? "; x:detach():item() is its number, a constant for derivatives" : "";
  if (is("max") || is("min"))
    return write(hint,
                 "; the argument is an array: gpu.%simum(x, y) compares each element, x:%s() gives the %s of all%s",
                 name, name, is("max") ? "largest" : "smallest", constant);
  if (is_method(L, name)) return write(hint, "; the argument is an array: x:%s(...) takes one%s", name, constant);
  write(hint, "; the argument is an array: x:table() gives its elements%s", constant);
}

/// A method in the place of what it gives: `x.sum + 1`, math.sqrt(x.sum).
void write_function_hint(lua_State* L, std::string_view message, Hint& hint) {
  char name[32];
  if (quoted(message, " field '", name) && is_method(L, name))
    return write(hint, "; parentheses call a function: x:%s() is a value, x.%s a function", name, name);
  if (quoted(message, " local '", name) || quoted(message, " global '", name) || quoted(message, " upvalue '", name))
    return write(hint, "; parentheses call a function: %s() is a value, x:mean() that of a method", name);
  write(hint, message.find("arithmetic on a function value") != message.npos
                  ? "; parentheses call a function, and what a call gives may be one: local seconds = gpu.timer(), and "
                    "seconds() is the time since"
                  : "; parentheses call a function: x:mean() is a value, x.mean a function");
}

/// Whether one of the function's temporaries is the text of a date, as an element of a column of dates is.
bool has_date(lua_State* L) {
  return find_value(L, true, [&] {
    const std::string_view text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    return text.size() >= 10 && text[4] == '-' && text[7] == '-';
  });
}

/// Whether one of the function's values is a list of numbers.
bool has_numbers(lua_State* L) {
  return find_value(L, false, [&] {
    if (!lua_istable(L, -1)) return false;
    lua_rawgeti(L, -1, 1);
    const bool is_number = lua_type(L, -1) == LUA_TNUMBER;
    lua_pop(L, 1);
    return is_number;
  });
}

/// A property of an array that is called, x.size() or x:size(), or of a table.
void write_property_hint(const char* name, Hint& hint) {
  if (std::strcmp(name, "rows") == 0)
    return write(hint, "; t.rows is a number: it has no parentheses; t:take({1, 2}) gives a table of rows");
  if (std::strcmp(name, "nnz") == 0)
    return write(hint, "; A.nnz is a property of sparse matrices: it has no parentheses");
  for (const char* property : {"ndim", "size", "dtype", "nbytes", "device", "pointer"})
    if (std::strcmp(name, property) == 0)
      return write(hint, "; x.%s is a property of arrays: it has no parentheses%s", property,
                   std::strcmp(name, "size") == 0 ? "; x.shape[1] is the first extent" : "");
}

/// Writes the name of the C function at this level of the stack, one of Lua's own: "max". Nothing for another function.
void write_name(lua_State* L, int level, Text<32>& name) {
  lua_Debug frame{};
  const int top = lua_gettop(L), function = top + 1, modules = top + 2;
  lua_getstack(L, level, &frame);
  lua_getinfo(L, "f", &frame);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushnil(L);
  while (name.text[0] == '\0' && lua_istable(L, modules) && lua_next(L, modules) != 0) {
    if (lua_istable(L, -1))
      for (lua_pushnil(L); lua_next(L, modules + 2) != 0; lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, function) != 0)
          write(name, "%s", lua_tostring(L, -2));
    lua_settop(L, modules + 1);
  }
  lua_settop(L, top);
}

/// Whether a C function has called the function that failed, directly or not, other than pcall and the program itself,
/// which is outermost: no coroutine yields from below it.
bool is_below_c(lua_State* L) {
  lua_Debug frame{}, caller{};
  for (int level = 2; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "S", &frame);
    if (*frame.what != 'C' || lua_getstack(L, level + 1, &caller) == 0) continue;
    Text<32> name;
    write_name(L, level, name);
    if (std::strcmp(name.text, "pcall") != 0 && std::strcmp(name.text, "xpcall") != 0) return true;
  }
  return false;
}

/// coroutine.yield outside of a coroutine, or in a function that one of C has called.
void write_yield_hint(lua_State* L, Hint& hint) {
  Text<32> failed;
  if (lua_checkstack(L, 20) == 0) return;
  write_name(L, 1, failed);
  const bool is_main = lua_pushthread(L) != 0;
  lua_pop(L, 1);
  const bool is_outside = is_main && std::strcmp(failed.text, "yield") == 0;
  if (is_outside && !is_below_c(L))
    return write(
        hint,
        "; no coroutine runs here: job = coroutine.wrap(job) makes a function that begins at its first call and "
        "goes on at the next where it yielded");
  write(
      hint,
      "; a function that table.sort, string.gsub or another function of C calls cannot yield: it returns its value to "
      "that function");
}

void write_hint(lua_State* L, std::string_view message, Hint& hint) {
  const auto has = [&](std::string_view text) { return message.find(text) != message.npos; };
  char name[32];
  if (has("attempt to yield across C-call boundary")) return write_yield_hint(L, hint);
  if (has("bad argument") && has("expected, got userdata)")) return write_argument_hint(L, message, hint);
  if (has("bad argument") && has("(number expected, got function)")) return write_function_hint(L, message, hint);
  if (has("bad argument") && has("(number expected, got cdata)"))
    return write(
        hint,
        "; elements of complex arrays are complex numbers of the FFI: z:abs(), z:real() and z:imag() are arrays "
        "of numbers, z[i].re and z[i].im parts; tonumber(n) is the number of a 64-bit integer");
  if (has("'complex' has no member named"))
    return write(hint, "; a complex number has the parts z.re and z.im, and gpu.abs(z), gpu.angle(z), gpu.conj(z)");
  if (quoted(message, "has no member named '", name) && is_method(L, name))
    return write(
        hint, "; an FFI array, as x:host() gives, has no methods: x:%s() is of the array x, and gpu.array(h) makes one",
        name);
  if (has("attempt to call")) {
    const bool called =
        quoted(message, "attempt to call method '", name) || quoted(message, "attempt to call field '", name);
    if (called && (has("(a number value)") || has("(a string value)"))) write_property_hint(name, hint);
    if (has("attempt to call a number value"))
      write(hint, "; for i = 1, n do ... end counts, for i, v in ipairs(t) do ... end goes through a list");
    if (called && (has("call method") || has_numbers(L)) && has("(a nil value)") && is_method(L, name))
      write(hint, "; gpu.array(t):%s() is of the array of a table of numbers", name);
    return;
  }
  if (has("attempt to index field 'norm' (a function value)"))
    return write(hint,
                 "; gpu.normcdf(x), gpu.normcdfinv(p) and gpu.random.normal(shape) are of the normal distribution");
  if (has("attempt to index field 'values' (a function value)"))
    return write(hint,
                 "; t:values(name) is a list of a table's column; t.name is the column itself, t.names has the names");
  if (has("attempt to index") && has("a function value") && !has(" field '"))
    return write(
        hint, "; a function has no fields and methods: f(x) calls it, gpu.grad(f, {each = true})(x) is its derivative");
  if (has("attempt to ") && (has("(a function value)") || has("on a function value")))
    return write_function_hint(L, message, hint);
  if (has("'for' ") && has(" must be a number")) {
    if (find_array(L, true)) return write(hint, "; of an array, x:item() gives the number");
    if (has_sizes(L)) return write(hint, "; x.shape[1] is the first extent of an array, x.size counts its elements");
  }
  if (has("attempt to compare") && has("userdata") && has("string") && has_column(L))
    return write(hint,
                 "; x:gt(text), x:ge(text), x:lt(text) and x:le(text) compare a column of dates or of text: "
                 "t:take(t.date:ge(\"2024-01-01\"))");
  if (has("attempt to perform arithmetic on a string value") && has_date(L))
    return write(
        hint,
        "; an element of a column of dates is a text: d({i, i}) is a column of it alone, from which others are "
        "subtracted, d:diff() has the durations between neighbours");
  if (has("attempt to perform arithmetic on") && has("string value"))
    return write(hint, "; .. joins texts and numbers: \"n = \" .. n, tonumber(text) is a number");
  if (has("attempt to compare") && has("userdata") && (find_array(L, false) || has_column(L)))
    return write(hint,
                 "; x:lt(y), x:le(y), x:gt(y) and x:ge(y) compare arrays, gpu.where(condition, x, y) chooses elements, "
                 "x:item() < y the number of one element");
  if (has("attempt to compare number with function") || has("attempt to compare function with number"))
    return write_function_hint(L, message, hint);
  if (has("attempt to perform arithmetic on") && has("and 'userdata'"))
    return write(hint, "; numbers of the FFI go to an array's right, x + 2LL, or into a function, gpu.add(2LL, x)");
}

/// The part of a message behind the position that LuaJIT has put there for the frame that called; null where that is
/// the script's. A tail call, `return math.max(x, 0)`, takes the script's frame away: "[gpulua]:41: bad argument #1 to
/// 'f' (number expected, got userdata)". An error about an argument then has the position of any caller, or none.
const char* behind_position(const char* message, bool raised_by_c) {
  const char* const argument = raised_by_c ? std::strstr(message, "bad argument #") : nullptr;
  if (argument && (argument == message || argument[-1] == ' ')) return argument;
  const char* const end = std::strncmp(message, "[gpulua]:", 9) == 0 ? std::strstr(message, ": ") : nullptr;
  return end ? end + 2 : nullptr;
}

/// Puts the script's line and the failed function's own name into the message at the top of the stack.
void correct_place(lua_State* L) {
  lua_Debug failed{};
  if (lua_getstack(L, 1, &failed) == 0 || lua_checkstack(L, 20) == 0) return;
  lua_getinfo(L, "S", &failed);
  const bool in_c = *failed.what == 'C';
  const char* const message = lua_tostring(L, -1);
  if (!behind_position(message, in_c)) return;
  Text<32> name;
  if (in_c) write_name(L, 1, name);
  // These pass on messages of other functions, as a coroutine does.
  const bool raises =
      name.text[0] != '\0' && std::strcmp(name.text, "error") != 0 && std::strcmp(name.text, "assert") != 0;
  const char* const text = behind_position(message, raises);
  Text<300> position;
  if (text) write(position, "%s", caller_position(L, 1).c_str());
  if (position.text[0] == '\0') return;
  const char* const quote = raises ? std::strstr(text, " to '") : nullptr;
  const char* const rest = quote ? std::strchr(quote + 5, '\'') : nullptr;
  lua_pushstring(L, position.text);
  if (rest) {
    lua_pushlstring(L, text, static_cast<std::size_t>(quote + 5 - text));
    lua_pushstring(L, name.text);
  }
  lua_pushstring(L, rest ? rest : text);
  lua_concat(L, rest ? 4 : 2);
  lua_replace(L, -2);
}

}  // namespace

int explain_error(lua_State* L) {
  if (lua_type(L, -1) != LUA_TSTRING) return 1;
  correct_place(L);
  Hint hint;
  std::size_t length = 0;
  const char* const text = lua_tolstring(L, -1, &length);
  const std::string_view message(text, length);
  write_hint(L, message, hint);
  // An error that the library has passed on has its hint.
  if (hint.text[0] == '\0' || message.find(hint.text) != message.npos) return 1;
  lua_pushstring(L, hint.text);
  lua_concat(L, 2);
  return 1;
}

}  // namespace gpulua
