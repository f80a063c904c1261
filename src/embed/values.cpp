#include "src/embed/values.h"

#include <string>

#include "bindings/arrays/lua_array.h"
#include "src/embed/held_array.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {
namespace {

/// The object of a handle in a value.
template <class T>
T& held_of(const ScriptState& state, const void* handle, const char* what, const char* advice) {
  auto* const held = find_held<T>(handle);
  if (held == nullptr) throw Error("expected {}, got {}", what, describe_handle(handle));
  if (held->state != &state) throw Error("expected {} of this state, got one of another state; {}", what, advice);
  return *held;
}

void push_value(lua_State* L, const ScriptState& state, const gpulua_value& value) {
  switch (value.kind) {
    case GPULUA_NIL:
      return lua_pushnil(L);
    case GPULUA_BOOLEAN:
      return lua_pushboolean(L, value.as.boolean);
    case GPULUA_NUMBER:
      return lua_pushnumber(L, value.as.number);
    case GPULUA_INTEGER:
      return push_scalar(L, Scalar(value.as.integer));
    case GPULUA_TEXT:
      if (value.as.text.data == nullptr && value.as.text.size > 0)
        throw Error("expected a text of {} bytes, got NULL", value.as.text.size);
      return lua_pushlstring(L, value.as.text.data != nullptr ? value.as.text.data : "", value.as.text.size);
    case GPULUA_FUNCTION:
    case GPULUA_OBJECT:
      return lua_rawgeti(L, LUA_REGISTRYINDEX,
                         held_of<HeldFunction>(state, value.as.function, "a gpulua_function",
                                               "a state calls functions of its own scripts alone")
                             .reference);
    case GPULUA_ARRAY:
      push_array(L, held_of<HeldArray>(state, value.as.array, "a gpulua_array",
                                       "copy its elements: gpulua_array_copy_to there, gpulua_array_host here, in C++ "
                                       "state.copy(x.to_vector<float>(), x.shape())")
                        .array);
      return;
    default:
      throw Error("expected a kind of gpulua_kind, got {}", value.kind);
  }
}

/// The integer of the FFI that an int64_t holds; else nothing.
std::optional<std::int64_t> to_integer(lua_State* L, int index) {
  const std::optional<Scalar> scalar = to_scalar(L, index);
  if (!scalar) return {};
  if (const auto* whole = std::get_if<std::int64_t>(&*scalar)) return *whole;
  const auto* natural = std::get_if<std::uint64_t>(&*scalar);
  if (natural == nullptr || *natural > INT64_MAX) return {};
  return static_cast<std::int64_t>(*natural);
}

void hold_value(lua_State* L, int index, ScriptState& state, gpulua_kind kind, gpulua_value& out) {
  auto held = std::make_unique<HeldFunction>(state, L, index);
  out.as.function = static_cast<gpulua_function*>(state.hold(std::move(held)));
  out.kind = kind;
}

void read_value(lua_State* L, int index, ScriptState& state, gpulua_value& out, Texts texts) {
  out = {};
  switch (lua_type(L, index)) {
    case LUA_TNIL:
      return;
    case LUA_TBOOLEAN:
      out.kind = GPULUA_BOOLEAN;
      out.as.boolean = lua_toboolean(L, index);
      return;
    case LUA_TNUMBER:
      out.kind = GPULUA_NUMBER;
      out.as.number = lua_tonumber(L, index);
      return;
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* const data = lua_tolstring(L, index, &size);
      out.kind = GPULUA_TEXT;
      out.as.text = {texts == Texts::kept ? state.keep(std::string(data, size)).c_str() : data, size};
      return;
    }
    case LUA_TFUNCTION:
      return hold_value(L, index, state, GPULUA_FUNCTION, out);
    case LUA_TUSERDATA:
      if (const Array* array = test<Array>(L, index)) {
        out.as.array = hold_array(state, *array);
        out.kind = GPULUA_ARRAY;
        return;
      }
      return hold_value(L, index, state, GPULUA_OBJECT, out);
    case LUA_TCDATA:
      if (const auto integer = to_integer(L, index)) {
        out.kind = GPULUA_INTEGER;
        out.as.integer = *integer;
        return;
      }
      [[fallthrough]];
    default:
      return hold_value(L, index, state, GPULUA_OBJECT, out);
  }
}

std::string name_of(const ValueNames& names, std::size_t i) {
  const std::string head = "[" + std::string(names.op) + "] ";
  return head + (names.is_numbered ? names.what + (" " + std::to_string(i + 1)) : "'" + std::string(names.what) + "'") +
         ": ";
}

/// Runs `work` for each position; on failure pushes the message, with the value's name in front.
template <class Work>
bool for_each(lua_State* L, std::size_t count, const ValueNames& names, Work work) {
  std::string message;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      work(i);
    } catch (const std::exception& error) {
      message = name_of(names, i) + error.what();
    }
    if (message.empty()) continue;
    lua_pushlstring(L, message.data(), message.size());
    return false;
  }
  return true;
}

}  // namespace

bool push_values(lua_State* L, ScriptState& state, const gpulua_value* values, std::size_t count,
                 const ValueNames& names) {
  if (count == 0) return true;
  if (values == nullptr || count > LUAI_MAXCSTACK || lua_checkstack(L, static_cast<int>(count) + LUA_MINSTACK) == 0) {
    lua_pushfstring(L, "[%s] expected %s %ss, got %s", names.op, values == nullptr ? "an array of" : "fewer",
                    names.what, values == nullptr ? "NULL" : "more than a Lua call takes");
    return false;
  }
  return for_each(L, count, names, [&](std::size_t i) { push_value(L, state, values[i]); });
}

bool read_values(lua_State* L, int first, std::size_t count, ScriptState& state, gpulua_value* out,
                 const ValueNames& names, Texts texts) {
  std::size_t done = 0;
  const bool good = for_each(L, count, names, [&](std::size_t i) {
    read_value(L, first + static_cast<int>(i), state, out[i], texts);
    ++done;
  });
  if (!good) release_values(out, done);
  return good;
}

void release_values(const gpulua_value* values, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) switch (values[i].kind) {
      case GPULUA_FUNCTION:
      case GPULUA_OBJECT:
        gpulua_function_release(values[i].as.function);
        break;
      case GPULUA_ARRAY:
        gpulua_array_release(values[i].as.array);
        break;
      default:
        break;
    }
}

}  // namespace gpulua::embed
