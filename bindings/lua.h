#pragma once

// The layer between C++ and Lua's C API that every binding stands on. Its rules:
//  - A binding is a LuaFunction: it throws Error, and calls no luaL_check* or lua_error itself. protect<> turns the
//  exception
//    into a Lua error, once all C++ scopes have closed.
//  - Misuse is reported at the line of the script that made the call, as error(message, 2) would.

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

#include "src/base/error.h"
#include "src/base/scalar.h"

namespace gpulua {

/// LuaJIT's type of FFI values, which lua.h does not name.
inline constexpr int LUA_TCDATA = 10;

using LuaFunction = int (*)(lua_State* L);

/// Runs `function`; gives its number of results, or -1 with the error's message on the stack.
int run_protected(lua_State* L, LuaFunction function);

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

/// What the functions' upvalues are: the state's Bindings; a CallSignature, once attach_signatures has been there; and
/// what a function has of its own.
inline constexpr int bindings_upvalue = 1, signature_upvalue = 2, own_upvalue = 3;

/// Makes the value at the top of the stack the function's own upvalue, and leaves the function in its place.
void push_function(lua_State* L, lua_CFunction function);

/// Sets the functions as fields of the table at the top of the stack.
void set_functions(lua_State* L, std::initializer_list<LuaEntry> entries);

// ---- userdata
// ---------------------------------------------------------------------------------------------------------

/// Specialised for each C++ type that Lua holds: `static constexpr const char* name`, as messages call it ("an array").
template <class T>
struct LuaType;

/// A userdata's block. The tag says which T it holds, and is null once the value has been destroyed.
template <class T>
struct LuaBox {
  const void* tag;
  T value;
  static constexpr char identity = 0;
};

/// The value at `index`, if it is a T.
template <class T>
T* test(lua_State* L, int index) {
  // Of what has an address, a light userdata has no length. The order counts: lua_objlen makes strings of numbers.
  auto* box = static_cast<LuaBox<T>*>(lua_touserdata(L, index));
  if (!box || lua_objlen(L, index) < sizeof(LuaBox<T>)) return nullptr;
  return box->tag == &LuaBox<T>::identity ? &box->value : nullptr;
}

template <class T>
int collect_box(lua_State* L) {
  if (T* value = test<T>(L, 1)) {
    static_cast<LuaBox<T>*>(lua_touserdata(L, 1))->tag = nullptr;
    value->~T();
  }
  return 0;
}

/// Makes the metatable of T. `entries` are its metamethods, __gc excepted; the table is left on the stack for more.
template <class T>
void new_metatable(lua_State* L, std::initializer_list<LuaEntry> entries) {
  lua_newtable(L);
  set_functions(L, entries);
  lua_pushcfunction(L, &collect_box<T>);
  lua_setfield(L, -2, "__gc");
  lua_pushstring(L, LuaType<T>::name);
  lua_setfield(L, -2, "__metatable");
  lua_pushlightuserdata(L, const_cast<char*>(&LuaBox<T>::identity));
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

/// Pushes a table of methods with their signatures, in which other names are errors. `receiver` is what stands before
/// their names in signatures.txt ("s:"), `type` what messages call the object ("a stream").
void push_methods(lua_State* L, const char* receiver, const char* type, std::initializer_list<LuaEntry> methods);

/// As new_metatable, for a type whose fields are all methods. Leaves nothing on the stack.
template <class T>
void new_type(lua_State* L, std::initializer_list<LuaEntry> metamethods, const char* receiver,
              std::initializer_list<LuaEntry> methods) {
  new_metatable<T>(L, metamethods);
  push_methods(L, receiver, LuaType<T>::name, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

/// Pushes a userdata that holds `value`. new_metatable<T> has been called on this state.
template <class T>
T& push(lua_State* L, T value) {
  auto* box = static_cast<LuaBox<T>*>(lua_newuserdata(L, sizeof(LuaBox<T>)));
  new (box) LuaBox<T>{&LuaBox<T>::identity, std::move(value)};
  lua_pushlightuserdata(L, const_cast<char*>(&LuaBox<T>::identity));
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_setmetatable(L, -2);
  return box->value;
}

// ---- arguments
// --------------------------------------------------------------------------------------------------------

/// What stands at `index`, for "got ...": `a table`, `NaN`, `"abc"`, `an array float32[3x4]`.
std::string describe(lua_State* L, int index);

[[noreturn]] void fail(const char* op, const std::string& expected, lua_State* L, int index);

/// Each reads the value at `index`, or throws Error "[op] expected <what>, got ...".
double check_number(lua_State* L, int index, const char* op, const char* what);
/// A number without a fraction, or an int64/uint64 cdata; within int64.
std::int64_t check_integer(lua_State* L, int index, const char* op, const char* what);
std::string_view check_string(lua_State* L, int index, const char* op, const char* what);

template <class T>
T& check(lua_State* L, int index, const char* op) {
  if (T* value = test<T>(L, index)) return *value;
  fail(op, LuaType<T>::name, L, index);
}

/// A number, boolean, 64-bit integer cdata or complex cdata as one element; nothing for any other value.
std::optional<Scalar> to_scalar(lua_State* L, int index);
/// As the specification says values come out: 64-bit integers as numbers where exact, complex as complex cdata.
void push_scalar(lua_State* L, const Scalar& value);

/// A field of an option table: its name, and what reads its value, at a stack index.
struct Option {
  const char* name;
  std::function<void(int value)> read;
};

/// Reads the option table at `index`, if there is one; nil and none are no options. It is the last argument: throws
/// Error for one behind it, and for a field that is none of `options`, naming those there are.
void read_options(lua_State* L, int index, const char* op, std::span<const Option> options);
inline void read_options(lua_State* L, int index, const char* op, std::initializer_list<Option> options) {
  read_options(L, index, op, std::span(options.begin(), options.size()));
}

/// Throws Error when there is an argument at `index`, which is behind the last that `op` takes, called `last`.
void check_end(lua_State* L, int index, const char* op, const char* last);

}  // namespace gpulua
