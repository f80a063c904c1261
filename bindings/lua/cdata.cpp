#include "bindings/lua/cdata.h"

#include <cstring>

#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"

namespace gpulua {

std::string CData::type_text() const {
  constexpr std::string_view prefix = "struct ";
  if (!type.starts_with(prefix)) return type;
  const std::size_t end = type.find_first_not_of("0123456789", prefix.size());
  if (end == std::string::npos) return "a struct";
  return end > prefix.size() && type[end] == ' ' ? "structs" + type.substr(end) : type;
}

std::optional<CData> to_cdata(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TCDATA) return std::nullopt;
  // lua_topointer gives the address of an FFI value's payload.
  void* payload = const_cast<void*>(lua_topointer(L, index));
  lua_pushvalue(L, index);
  call_helper(L, "classify", 1, 4);

  CData result;
  const std::string_view kind = lua_tostring(L, -4);
  if (lua_isstring(L, -3)) result.element = find_dtype(lua_tostring(L, -3));
  result.bytes = static_cast<std::size_t>(lua_tonumber(L, -2));
  result.type = lua_tostring(L, -1);
  lua_pop(L, 4);

  result.data = payload;
  if (kind == "number") {
    result.kind = CData::Kind::number;
  } else if (kind == "array") {
    result.kind = CData::Kind::array;
  } else if (kind == "pointer") {
    result.kind = CData::Kind::pointer;
  }
  // The payload of a pointer or a reference is an address.
  if (result.kind == CData::Kind::pointer || result.type.find('&') != result.type.npos)
    std::memcpy(&result.data, payload, sizeof result.data);
  return result;
}

void* check_address(lua_State* L, int index, const char* op, const char* what) {
  if (lua_type(L, index) == LUA_TLIGHTUSERDATA) return lua_touserdata(L, index);
  if (lua_type(L, index) == LUA_TCDATA) {
    const auto value = to_cdata(L, index);
    if (value && (value->kind == CData::Kind::pointer || value->kind == CData::Kind::array))
      return const_cast<void*>(static_cast<const void*>(value->data));
  }
  const std::int64_t number = check_integer(L, index, op, what);
  if (number < 0 || number > std::int64_t{1} << 53) fail(op, what, L, index);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
}

void* check_memory_address(lua_State* L, int index, const char* op, const char* what) {
  void* const address = check_address(L, index, op, what);
  constexpr std::uintptr_t first_page = 4096;
  if (address != nullptr && reinterpret_cast<std::uintptr_t>(address) < first_page)
    throw Error("[{}] expected {}, got {}: no memory of a process lies below {}", op, what, describe(L, index),
                first_page);
  return address;
}

}  // namespace gpulua
