#pragma once

// The layer between C++ and Lua's C API that all bindings use. Its rules:
//  - A binding is a LuaFunction. It throws Error and never calls luaL_check* or lua_error; protect<> turns the
//  exception
//    into a Lua error after all C++ scopes have closed.
//  - Misuse is reported at the line of the script that made the call, as by error(message, 2).

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <lua.hpp>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/lua/held_values.h"
#include "src/base/error.h"
#include "src/base/scalar.h"

namespace gpulua {

/// LuaJIT's type code of FFI values, which lua.h does not define.
inline constexpr int LUA_TCDATA = 10;

using LuaFunction = int (*)(lua_State* L);

/// Runs `function`. Returns its number of results, or -1 with the error's message on the stack. Lua has
/// counted an operator's operands.
int run_protected(lua_State* L, LuaFunction function, bool is_operator = false);

/// A lua_CFunction around a function that may throw.
template <LuaFunction function>
int protect(lua_State* L) {
  const int results = run_protected(L, function);
  return results >= 0 ? results : lua_error(L);
}

struct LuaEntry {
  const char* name;
  lua_CFunction function;  // protect<...>
};

/// The upvalues of each C function: the state's Bindings; the CallSignature, set by attach_signatures; and values of
/// the function's own.
inline constexpr int bindings_upvalue = 1, signature_upvalue = 2, own_upvalue = 3;

/// Pops values and pushes `function` with them as its own upvalues.
void push_function(lua_State* L, lua_CFunction function, int values = 1);

/// Adds the functions to the table at the top of the stack.
void set_functions(lua_State* L, std::initializer_list<LuaEntry> entries);

// ---- userdata
// ---------------------------------------------------------------------------------------------------------

/// Specialised for each C++ type that Lua holds. `static constexpr const char* name` is its name in messages ("an
/// array").
template <class T>
struct LuaType;

/// The values of the state's userdata.
HeldValues& held_values(lua_State* L);

/// The memory of a userdata. The tag identifies T; it is null after the value was destroyed.
template <class T>
struct LuaBox {
  const void* tag;
  HeldValue<T>* held;
  static constexpr char identity = 0;

  void destroy() {
    tag = nullptr;
    if (held) std::exchange(held, nullptr)->drop();
  }
};

/// The box of the value at `index`, if it is a T. `tag`: that of the boxes which only some functions take for a T.
template <class T>
LuaBox<T>* find_box(lua_State* L, int index, const void* tag = &LuaBox<T>::identity) {
  // A light userdata has an address but no length. lua_touserdata comes first, because lua_objlen converts numbers to
  // strings.
  auto* box = static_cast<LuaBox<T>*>(lua_touserdata(L, index));
  if (!box || lua_objlen(L, index) < sizeof(LuaBox<T>)) return nullptr;
  return box->tag == tag ? box : nullptr;
}

/// The value at `index`, if it is a T.
template <class T>
T* test(lua_State* L, int index) {
  LuaBox<T>* box = find_box<T>(L, index);
  return box ? &box->held->value : nullptr;
}

template <class T>
int collect_box(lua_State* L) {
  if (LuaBox<T>* box = find_box<T>(L, 1)) box->destroy();
  return 0;
}

/// Pushes the __newindex of objects whose fields cannot be set. `type`: "a stream".
void push_refusal_of_fields(lua_State* L, const char* type);

/// Creates the metatable of T and pushes it. `entries`: the metamethods without __gc.
template <class T>
void new_metatable(lua_State* L, std::initializer_list<LuaEntry> entries) {
  lua_newtable(L);
  push_refusal_of_fields(L, LuaType<T>::name);
  lua_setfield(L, -2, "__newindex");
  set_functions(L, entries);
  lua_pushcfunction(L, &collect_box<T>);
  lua_setfield(L, -2, "__gc");
  lua_pushstring(L, LuaType<T>::name);
  lua_setfield(L, -2, "__metatable");
  lua_pushlightuserdata(L, const_cast<char*>(&LuaBox<T>::identity));
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

/// Pushes a table of methods with their signatures; reads of other names are errors. `receiver`: the prefix of the
/// names in their declarations ("s:"). `type`: the object's name in messages ("a stream").
void push_methods(lua_State* L, const char* receiver, const char* type, std::initializer_list<LuaEntry> methods);

/// Creates the metatable of a type whose fields are all methods. Pushes nothing.
template <class T>
void new_type(lua_State* L, std::initializer_list<LuaEntry> metamethods, const char* receiver,
              std::initializer_list<LuaEntry> methods) {
  new_metatable<T>(L, metamethods);
  push_methods(L, receiver, LuaType<T>::name, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

/// Pushes the metatable of T.
template <class T>
void push_metatable(lua_State* L) {
  lua_pushlightuserdata(L, const_cast<char*>(&LuaBox<T>::identity));
  lua_rawget(L, LUA_REGISTRYINDEX);
}

/// Pushes a userdata that holds `value`. new_metatable<T> must have been called on the state. `push_metatable` pushes
/// its result.
template <class T, class PushMetatable>
T& push(HeldValues& values, lua_State* L, T value, PushMetatable push_metatable) {
  // The value goes in last, because Lua's functions throw its own errors.
  auto* box = new (lua_newuserdata(L, sizeof(LuaBox<T>))) LuaBox<T>{nullptr, nullptr};
  push_metatable(L);
  lua_setmetatable(L, -2);
  box->held = &values.add(std::move(value));
  box->tag = &LuaBox<T>::identity;
  return box->held->value;
}
template <class T>
T& push(lua_State* L, T value) {
  return push(held_values(L), L, std::move(value), &push_metatable<T>);
}

// ---- arguments
// --------------------------------------------------------------------------------------------------------

/// Describes the value at `index` for "got ...": `a table`, `NaN`, `"abc"`, `an array float32[3x4]`.
std::string describe(lua_State* L, int index);

/// Throws Error "[op] expected <expected>, got <the value at index>".
[[noreturn]] void fail(const char* op, const std::string& expected, lua_State* L, int index);

/// These read the value at `index`, or throw Error "[op] expected <what>, got ...".
double check_number(lua_State* L, int index, const char* op, const char* what);
/// An integral number or an int64/uint64 cdata, in the range of int64.
std::int64_t check_integer(lua_State* L, int index, const char* op, const char* what);
std::string_view check_string(lua_State* L, int index, const char* op, const char* what);

template <class T>
T& check(lua_State* L, int index, const char* op) {
  if (T* value = test<T>(L, index)) return *value;
  fail(op, LuaType<T>::name, L, index);
}

/// A number, boolean, 64-bit integer cdata or complex cdata as one element; nullopt for another value.
std::optional<Scalar> to_scalar(lua_State* L, int index);
/// Pushes an element as a Lua value: 64-bit integers become numbers when that is exact, else cdata; complex numbers
/// become complex cdata.
void push_scalar(lua_State* L, const Scalar& value);

/// A field of an option table: its name, and the function that reads its value at a stack index.
struct Option {
  const char* name;
  std::function<void(int value)> read;
};

/// Reads the option table at `index`; nil and none mean no options. The table is the last argument. Throws Error for an
/// argument after it, and for an unknown field, with a list of the known ones.
void read_options(lua_State* L, int index, const char* op, std::span<const Option> options);
inline void read_options(lua_State* L, int index, const char* op, std::initializer_list<Option> options) {
  read_options(L, index, op, std::span(options.begin(), options.size()));
}

/// Reads an option that is true or false: `name` = true or false.
bool check_flag(lua_State* L, int index, const char* op, const char* name);

/// Throws Error when there is an argument at `index`, after the last one of `op`, which is called `last`.
void check_end(lua_State* L, int index, const char* op, const char* last, std::string_view advice = {});

}  // namespace gpulua
