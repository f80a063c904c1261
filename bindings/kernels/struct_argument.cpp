#include "bindings/kernels/struct_argument.h"

#include "bindings/lua/state.h"

namespace gpulua {

namespace {

/// A call that makes what the parameter takes.
std::string advice_of(const ArgumentRule& rule) {
  if (rule.members.empty()) return "";
  const bool is_pointer = rule.parameter.kind == ParameterKind::pointer;
  return "; ffi.new(\"struct { " + rule.members + " }" + (is_pointer ? "[?]\", n) makes them" : "\", {...}) makes one");
}

}  // namespace

std::string bytes_text(std::size_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string struct_misfit(lua_State* L, int index, const CData& value, const ArgumentRule& rule) {
  const Parameter& parameter = rule.parameter;
  const bool is_pointer = parameter.kind == ParameterKind::pointer;
  const std::size_t lanes_size = is_pointer && parameter.dtype ? parameter.lanes * size_of(*parameter.dtype) : 0;
  if (rule.members.empty() && lanes_size == 0) return {};

  lua_pushvalue(L, index);
  lua_pushboolean(L, value.kind == CData::Kind::array);
  lua_pushlstring(L, rule.members.data(), rule.members.size());
  call_helper(L, "struct_layout", 3, 5);
  const auto number = [&](int at) { return static_cast<std::size_t>(lua_tonumber(L, at)); };
  const std::size_t size = number(-5), wanted = lanes_size > 0 ? lanes_size : number(-4);
  const std::string member = lua_isstring(L, -3) ? lua_tostring(L, -3) : "";
  const std::size_t wanted_place = number(-2), place = number(-1);
  lua_pop(L, 5);

  if (wanted != 0 && size != wanted)
    return std::string("expected ") + (is_pointer ? "FFI structs" : "an FFI struct") + " of " + bytes_text(wanted) +
           " for " + parameter.type + ", got " + value.type_text() + " of " + bytes_text(size) +
           (value.kind == CData::Kind::array ? " each" : "") + advice_of(rule);
  if (!member.empty())
    return "expected the member " + member + " at byte " + std::to_string(wanted_place) + " of an FFI struct for " +
           parameter.type + ", got it at byte " + std::to_string(place) + " of " + value.type_text() + advice_of(rule);
  return {};
}

}  // namespace gpulua
