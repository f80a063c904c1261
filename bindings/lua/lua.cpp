#include "bindings/lua/lua.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "bindings/lua/array_type.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/cdata.h"
#include "bindings/lua/fields.h"
#include "bindings/lua/library.h"
#include "bindings/lua/names_elsewhere.h"
#include "bindings/lua/options_elsewhere.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// Lua's errors are texts; a host program asks for the kind.
void note_error(lua_State* L, const Error& error) {
  const auto& owner = *static_cast<std::optional<Bindings>*>(lua_touserdata(L, lua_upvalueindex(bindings_upvalue)));
  if (owner) owner->context().last_error = error;
}

}  // namespace

int run_protected(lua_State* L, LuaFunction function, bool is_operator) {
  const CallSignature* signature = nullptr;
  std::string message;
  try {
    Bindings& bindings = bindings_of(L);
    bindings.context().stack.check();
    const Bindings::Running running(bindings, L);
    if (!is_operator) signature = check_arguments(L);  // the bindings hold it
    Context& context = bindings.context();
    return context.observer ? bindings.run_observed(L, function, signature) : function(L);
  } catch (const std::bad_alloc&) {
    message = "[memory] the host is out of memory";
  } catch (const Error& error) {
    message = error.what();
    note_error(L, error);
  } catch (const std::exception& error) {
    message = error.what();
  }
  if (signature) {
    const std::string mistaken = mistaken_colon(L, *signature, 1);
    if (!mistaken.empty()) message = mistaken;
  }
  message = with_position(caller_position(L), named_as_called(L, std::move(message), signature));
  lua_pushlstring(L, message.data(), message.size());
  return -1;
}

void push_function(lua_State* L, lua_CFunction function, int values) {
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.bindings");
  lua_insert(L, -1 - values);
  lua_pushnil(L);
  lua_insert(L, -1 - values);
  lua_pushcclosure(L, function, own_upvalue - 1 + values);
}

void set_functions(lua_State* L, std::initializer_list<LuaEntry> entries) {
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.bindings");
  void* bindings = lua_touserdata(L, -1);
  lua_pop(L, 1);
  for (const LuaEntry& entry : entries) {
    lua_pushlightuserdata(L, bindings);
    lua_pushnil(L);
    lua_pushcclosure(L, entry.function, signature_upvalue);
    lua_setfield(L, -2, entry.name);
  }
}

namespace {

int refuse_set_field(lua_State* L) {
  const std::string type = lua_tostring(L, lua_upvalueindex(own_upvalue));
  std::string noun = type.substr(type.find(' ') + 1);
  if (noun.starts_with("Lua ")) noun.erase(0, 4);
  throw Error("[{}] fields of {} cannot be set, got {}", noun.substr(0, noun.find(' ')), type, describe(L, 2));
}

}  // namespace

void push_refusal_of_fields(lua_State* L, const char* type) {
  lua_pushstring(L, type);
  push_function(L, protect<refuse_set_field>, 1);
}

void push_methods(lua_State* L, const char* receiver, const char* type, std::initializer_list<LuaEntry> methods) {
  lua_newtable(L);
  set_functions(L, methods);
  attach_signatures(L, receiver);
  seal(L, receiver, no_field(type));
}

namespace {

/// The name of the library's type that an object has; empty for another value.
std::string type_name(lua_State* L, int index) {
  if (!lua_getmetatable(L, index)) return "";
  lua_getfield(L, -1, "__metatable");
  const char* name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
  std::string text = name ? name : "";
  lua_pop(L, 2);
  return text;
}

}  // namespace

std::string describe(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNONE:
      return "nothing";
    case LUA_TNIL:
      return "nil";
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) ? "true" : "false";
    case LUA_TNUMBER: {
      const double value = lua_tonumber(L, index);
      return std::isnan(value) ? "NaN" : number_text(value, 14);
    }
    case LUA_TSTRING: {
      std::size_t length = 0;
      const char* text = lua_tolstring(L, index, &length);
      const std::string shown(text, std::min<std::size_t>(length, 40));
      return '"' + shown + (length > shown.size() ? "..." : "") + '"';
    }
    case LUA_TLIGHTUSERDATA:
      return lua_touserdata(L, index) ? "an address" : "gpu.null";
    case LUA_TUSERDATA:
      if (const Array* array = test<Array>(L, index)) return "an array " + type_text(**array);
      if (test_text_column(L, index)) return "a column of text";
      if (test_date_column(L, index)) return "a column of dates or durations";
      [[fallthrough]];
    case LUA_TTABLE: {
      const std::string name = type_name(L, index);
      return name.empty() ? std::string("a ") + luaL_typename(L, index) : name;
    }
    case LUA_TCDATA:
      if (const auto scalar = to_scalar(L, index)) return to_string(*scalar);
      return "an FFI value of type " + to_cdata(L, index)->type;
    default:
      return std::string("a ") + luaL_typename(L, index);
  }
}

namespace {

constexpr const char* text_column_text =
    ", got a column of text; x:eq(text) compares it, t:where(name, text) selects rows, x:unique() gives its texts, "
    "x:copy() their positions in t:texts(name)";

constexpr const char* date_column_text =
    ", got a column of dates or durations; x:number(unit) gives numbers, x:year() and so on the parts of dates";

/// What a call may have meant that gives a function a number in place of an array, or lacks an operand.
constexpr NameRow meant_calls[] = {
    {"max", "; math.max(i, j) compares numbers, gpu.maximum(x, y) arrays"},
    {"maximum", "; x:max() is the greatest element of one array"},
    {"min", "; math.min(i, j) compares numbers, gpu.minimum(x, y) arrays"},
    {"minimum", "; x:min() is the least element of one array"},
    {"where", "; gpu.where(condition, x, y) chooses, gpu.nonzero(condition) gives positions, x(condition) elements"},
};

std::string meant_call(lua_State* L) {
  const void* const address = lua_touserdata(L, lua_upvalueindex(signature_upvalue));
  const CallSignature* signature = bindings_of(L).signatures.added(address);
  return signature ? std::string(here_of(meant_calls, signature->name)) : std::string();
}

constexpr const char* of_one_table = "; parentheses hold arguments, f(a, b), braces make one table of them";

/// Whether the value at `index` is a table that is no object of the library.
bool is_plain_table(lua_State* L, int index) {
  return lua_istable(L, index) && type_name(L, index).empty();
}

/// What errors say of a column of text: how it is read as numbers, by text_column.lua, or what such a column can do.
std::string about_text_column(lua_State* L, int index) {
  if (index < 0 && index > LUA_REGISTRYINDEX) index = lua_gettop(L) + index + 1;
  if (luaL_getmetafield(L, index, "advice") == 0) return text_column_text;
  lua_pushvalue(L, index);
  const bool has_advice = lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1) != 0;
  std::string advice = has_advice ? lua_tostring(L, -1) : text_column_text;
  lua_pop(L, 1);
  return advice;
}

/// The hint how to make an array of a table, which may be an object of the library.
std::string remedy_of_table(lua_State* L, int table) {
  if (type_name(L, table) == "a table of columns")
    return "; t.name is the array of one, t:matrix(names) a matrix with a column for each, its .T with a row for each";
  if (!is_plain_table(L, table)) return "";
  lua_rawgeti(L, table, 1);
  const bool holds_arrays = test<Array>(L, -1) != nullptr, holds_text = lua_type(L, -1) == LUA_TSTRING;
  lua_pop(L, 1);
  return holds_arrays ? "; gpu.stack(t) makes one array of a table of arrays"
         : holds_text ? "; arrays hold numbers, t[position] is a text"
                      : "; gpu.array(t) makes an array of a table";
}

/// The hint how to get the expected array or number from the value at `index`.
std::string remedy(lua_State* L, const char* op, int index, std::string_view expected) {
  const bool wants_array = expected.starts_with(LuaType<Array>::name), wants_number = expected.starts_with("a number");
  switch (lua_type(L, index)) {
    case LUA_TNONE:
      return index == 2 && is_plain_table(L, 1) ? of_one_table : meant_call(L);
    case LUA_TNUMBER:
      if (!wants_array) return "";
      if (const std::string meant = meant_call(L); !meant.empty()) return meant;
      return about_call(op) +
             "; x[i] of a vector is a number: x[{i}] is an array of one, gpu.array(t) makes one of numbers";
    case LUA_TUSERDATA:
      if (type_name(L, index) == "a sparse matrix") return wants_array ? "; " + instead_of_sparse(op) : "";
      [[fallthrough]];
    case LUA_TTABLE:
      if (!wants_array && (!expected.starts_with("a table of arrays") || is_plain_table(L, index))) return "";
      return (expected == LuaType<Array>::name && takes_several(op) ? about_call(op) : "") + remedy_of_table(L, index);
    case LUA_TFUNCTION:
      return wants_array || wants_number ? "; parentheses call a function: x:mean() is a value, x.mean a function" : "";
    case LUA_TSTRING:
      if (wants_number && std::strchr(lua_tostring(L, index), ','))
        return "; [[ ]] is text: {{1, 2}, {3, 4}} is a matrix";
      if ((wants_array || wants_number) && lua_isnumber(L, index)) return "; tonumber(text) makes a number";
      return takes_number_beside(expected) ? about_text_operand(lua_tostring(L, index)) : "";
    case LUA_TBOOLEAN:
      if (expected.find("x:eq") != expected.npos) return "";
      return expected.find("an array") != expected.npos ? "; x:eq(y) compares the elements, Lua's == gives one boolean"
                                                        : "";
    case LUA_TNIL: {
      const std::string source = passes_nil(L) ? bindings_of(L).gave_nil.reason(L) : "";
      std::string why = source.empty() ? about_nil_variable(L) : " (perhaps from " + source + ")";
      if (why.empty()) why = meant_call(L);
      return !why.empty() ? why : wants_array && takes_several(op) ? about_call(op) : about_method(L);
    }
    default:
      return "";
  }
}

/// fail() for an expected number, with a hint for an array of one element and for text.
[[noreturn]] void fail_number(const char* op, const char* expected, lua_State* L, int index) {
  const Array* array = test<Array>(L, index);
  std::string remedy;
  if (array && (*array)->layout.size() == 1) remedy = "; x:item() gives its number";
  if (lua_type(L, index) == LUA_TSTRING && lua_isnumber(L, index)) remedy = "; tonumber(text) is the number";
  if (is_plain_table(L, index)) remedy = of_one_table;
  if (lua_isnil(L, index) && (remedy = about_nil_variable(L)).empty())
    remedy = "; a misspelt name is nil, and so is tonumber of a text that is not a number";
  throw Error("[{}] expected {}, got {}{}", op, expected, describe(L, index), remedy);
}

}  // namespace

void fail(const char* op, const std::string& expected, lua_State* L, int index) {
  const bool wants_array = expected.starts_with(LuaType<Array>::name), is_text = test_text_column(L, index);
  if (is_text || (wants_array && test_date_column(L, index))) {
    const std::string own = own_method(L, index, op);
    const std::string about = !own.empty() ? ", got " + describe(L, index) + own
                              : is_text    ? about_text_column(L, index)
                                           : date_column_text;
    throw Error("[{}] expected {}{}", op, wants_array ? "numbers" : expected, about);
  }
  throw Error("[{}] expected {}, got {}{}", op, expected, describe(L, index), remedy(L, op, index, expected));
}

double check_number(lua_State* L, int index, const char* op, const char* what) {
  if (lua_type(L, index) == LUA_TNUMBER) return lua_tonumber(L, index);
  if (const auto scalar = to_scalar(L, index)) {
    if (const auto* value = std::get_if<std::int64_t>(&*scalar)) return static_cast<double>(*value);
    if (const auto* value = std::get_if<std::uint64_t>(&*scalar)) return static_cast<double>(*value);
  }
  if (is_weak_number(L, index)) {
    const Scalar scalar = item(**test<Array>(L, index));
    if (const auto* value = std::get_if<double>(&scalar)) return *value;
  }
  fail_number(op, what, L, index);
}

bool check_flag(lua_State* L, int index, const char* op, const char* name) {
  if (!lua_isboolean(L, index)) fail(op, std::string(name) + " = true or false", L, index);
  return lua_toboolean(L, index) != 0;
}

std::int64_t check_integer(lua_State* L, int index, const char* op, const char* what) {
  if (lua_type(L, index) == LUA_TNUMBER) {
    const double value = lua_tonumber(L, index);
    if (value == std::floor(value) && std::abs(value) < 0x1p63) return static_cast<std::int64_t>(value);
  } else if (const auto scalar = to_scalar(L, index)) {
    if (const auto* value = std::get_if<std::int64_t>(&*scalar)) return *value;
    if (const auto* value = std::get_if<std::uint64_t>(&*scalar); value && *value < (1ULL << 63))
      return static_cast<std::int64_t>(*value);
  }
  fail_number(op, what, L, index);
}

std::string_view check_string(lua_State* L, int index, const char* op, const char* what) {
  if (lua_type(L, index) != LUA_TSTRING) fail(op, what, L, index);
  std::size_t length = 0;
  const char* text = lua_tolstring(L, index, &length);
  return {text, length};
}

void check_end(lua_State* L, int index, const char* op, const char* last, std::string_view advice) {
  if (lua_gettop(L) < index) return;
  throw Error("[{}] expected no argument after {}, got {}{}", op, last, describe(L, index), advice);
}

/// Adds the option's name to an error about its value, unless the message has it: `[exp] out: expected an array`.
static Error naming_option(const std::string& op, const std::string& option, const Error& error) {
  const std::string text = error.what(), prefix = "[" + op + "] ";
  if (!text.starts_with(prefix) || text.find(option) != text.npos) return error;
  return Error(error.kind(), prefix + option + ": " + text.substr(prefix.size()));
}

void read_options(lua_State* L, int index, const char* op, std::span<const Option> options) {
  check_end(L, index + 1, op, "the options");
  if (lua_isnoneornil(L, index)) return;
  const auto names = [&] {
    std::string text;
    for (const Option& option : options)
      text += std::string(text.empty() ? "" : &option == &options.back() ? " and " : ", ") + option.name;
    return text;
  };
  if (!lua_istable(L, index)) {
    const bool is_number = lua_type(L, index) == LUA_TNUMBER;
    std::string here(is_number ? number_for_options(op) : "");
    if (is_number && std::ranges::find(options, std::string_view("axis"), &Option::name) != options.end())
      here = index > 1 && lua_istable(L, index - 1) && lua_objlen(L, index - 1) == 0
                 ? "an axis follows the array, x:" + std::string(op) + "(" + describe(L, index) + ")"
                 : "several axes are one list, {1, 2}";
    if (!here.empty())
      throw Error("[{}] expected a table of options: {}, got {}; {}", op, names(), describe(L, index), here);
    fail(op, "a table of options: " + names(), L, index);
  }
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    const int value = lua_gettop(L);
    const std::string_view field = lua_type(L, value - 1) == LUA_TSTRING ? lua_tostring(L, value - 1) : "";
    const auto found = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == field; });
    if (found != options.end()) {
      try {
        found->read(value);
      } catch (const Error& error) {
        throw naming_option(op, found->name, error);
      }
      continue;
    }
    const char* const plural = options.size() == 1 ? " " : "s ";
    if (field.empty())
      throw Error("[{}] expected the option{}{}, got {}; parentheses hold arguments, f(a, b), braces options by name",
                  op, plural, names(), describe(L, value));
    NearName near(field);
    for (const Option& option : options) offer_option(near, field, option.name);
    throw Error("[{}] expected the option{}{}, got {}{}", op, plural, names(), describe(L, value - 1),
                question_about_option(op, near, field));
  }
}

std::optional<Scalar> to_scalar(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      return lua_tonumber(L, index);
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) != 0;
    case LUA_TCDATA: {
      const auto value = to_cdata(L, index);
      if (value->kind != CData::Kind::number || !value->element) return std::nullopt;
      return decode(*value->element, value->data);
    }
    default:
      return std::nullopt;
  }
}

void push_scalar(lua_State* L, const Scalar& value) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (const auto* boolean = std::get_if<bool>(&value)) return lua_pushboolean(L, *boolean);
  if (const auto* real = std::get_if<double>(&value)) return lua_pushnumber(L, *real);
  if (const auto* z = std::get_if<std::complex<double>>(&value)) {
    lua_pushnumber(L, z->real());
    lua_pushnumber(L, z->imag());
    return call_helper(L, "complex", 2, 1);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (*integer >= -exact && *integer <= exact) return lua_pushnumber(L, static_cast<double>(*integer));
    lua_pushlstring(L, reinterpret_cast<const char*>(integer), sizeof *integer);
    return call_helper(L, "int64", 1, 1);
  }
  const std::uint64_t integer = std::get<std::uint64_t>(value);
  if (integer <= static_cast<std::uint64_t>(exact)) return lua_pushnumber(L, static_cast<double>(integer));
  lua_pushlstring(L, reinterpret_cast<const char*>(&integer), sizeof integer);
  call_helper(L, "uint64", 1, 1);
}

}  // namespace gpulua
