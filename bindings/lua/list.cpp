#include "bindings/lua/list.h"

#include <cmath>

#include "bindings/lua/caller.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/options_elsewhere.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

/// `dtype = "float64"`: the field whose key is at `key` and whose value is at `key` + 1.
std::string field_text(lua_State* L, int key) {
  return std::string(lua_tostring(L, key)) + " = " + describe(L, key + 1);
}

/// The items as text, "2, 3"; empty when an item is not a number.
std::string items_text(lua_State* L, int index) {
  std::string text;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    const bool is_number = lua_type(L, -1) == LUA_TNUMBER;
    if (is_number) text += (i > 1 ? ", " : "") + describe(L, -1);
    lua_pop(L, 1);
    if (!is_number) return {};
  }
  return text;
}

/// The call that was probably meant when a list has option fields among its items. `key` is the stack index of one such
/// field. The call is spelled out when the list is the first argument; else the advice is the signature.
std::string advice(lua_State* L, int index, int key) {
  const CallSignature* signature = signature_of_running(L);
  if (!signature) {
    const CallSignature* called = called_function(L);
    const bool is_option = called && called->has_option(lua_tostring(L, key));
    return is_option ? "; options come in a table of their own: " + called->text() : "";
  }
  const std::string items = items_text(L, index);
  const int first = signature->is_method() ? 2 : 1;
  const bool is_all = index == first && key == index + 1 && !items.empty();
  if (index > first + 1) return "; elements are lists without names";
  if (!is_all) return "; options come in a table of their own: " + signature->text();
  const bool is_one = items.find(',') == items.npos;
  return "; options come in a table of their own: " + signature->receiver + signature->name + "(" +
         (is_one ? items : "{" + items + "}") + ", {" + field_text(L, key) + "})";
}

[[noreturn]] void refuse_field(lua_State* L, int index, int key, const char* op, const std::string& expected) {
  const std::string argument = argument_in_options(op, lua_tostring(L, key));
  throw Error("{} alone in a list, got {} among them{}", expected, field_text(L, key),
              argument.empty() ? advice(L, index, key) : argument);
}

/// The remedy for a gap in a list of numbers.
const char* about_gap(lua_State* L, int index) {
  lua_rawgeti(L, index, 1);
  const bool has_numbers = lua_type(L, -1) == LUA_TNUMBER;
  lua_pop(L, 1);
  return has_numbers ? "; 0/0, NaN, stands for a missing number" : "";
}

}  // namespace

int check_list(lua_State* L, int index, const char* op, const char* what) {
  const auto expected = [&] { return "[" + std::string(op) + "] expected " + what; };
  if (index < 0) index = lua_gettop(L) + 1 + index;
  const auto length = static_cast<double>(lua_objlen(L, index));
  double count = 0;
  if (!lua_checkstack(L, 4)) throw std::bad_alloc();
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    const int key = lua_gettop(L) - 1;
    if (lua_type(L, key) == LUA_TSTRING) refuse_field(L, index, key, op, expected());
    const double position = lua_type(L, key) == LUA_TNUMBER ? lua_tonumber(L, key) : 0;
    if (position >= 1 && position <= length && position == std::floor(position))
      ++count;
    else
      throw Error("{} in a list without gaps, got one with the key {} and {} items before a gap{}", expected(),
                  describe(L, key), static_cast<std::int64_t>(length), about_gap(L, index));
  }
  if (count != length) {
    int gap = 1;
    for (bool found = false; !found; ++gap) {
      lua_rawgeti(L, index, gap);
      found = lua_isnil(L, -1);
      lua_pop(L, 1);
    }
    throw Error("{} in a list without gaps, got nil at [{}]{}", expected(), gap - 1, about_gap(L, index));
  }
  return static_cast<int>(length);
}

}  // namespace gpulua
