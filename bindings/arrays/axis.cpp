#include "bindings/arrays/axis.h"

#include <algorithm>
#include <cmath>

#include "bindings/arrays/lua_array.h"
#include "bindings/lua/signatures.h"

namespace gpulua {

namespace {

/// The hint about an argument that is no axis, where other libraries take another argument: gpu.max(x, 0) probably
/// means gpu.maximum.
std::string elsewhere(std::string_view op) {
  if (op == "max" || op == "min") return "; gpu." + std::string(op) + "imum(x, y) compares element by element";
  if (op == "average") return "; weights are an option, gpu.average(x, {weights = w})";
  if (op == "std" || op == "var") return "; the divisor is an option, x:" + std::string(op) + "({ddof = 1})";
  return "";
}

/// The option of the function `op` that the text is for; null without one.
const char* option_of_text(lua_State* L, const std::string& op, const std::string& text) {
  CallSignatures& signatures = bindings_of(L).signatures;
  if (!signatures.is_in_module(op)) return nullptr;
  const auto options = signatures.options(op);
  const char* option = find_dtype(text) ? "dtype" : "method";
  return std::ranges::count(options, option) != 0 ? option : nullptr;
}

/// The hint for a text in an axis's place: what other libraries pass there.
std::string axis_text_hint(lua_State* L, const std::string& op, const std::string& text) {
  if (text.find("nan") != text.npos) return "; gpu.nanmean(x), gpu.nansum(x) and their kin leave NaN out";
  if (text == "all" || text == "none") return "; without an axis it is of all elements";
  if (text == "rows" || text == "columns" || text == "index")
    return "; in a matrix axis 1 goes down the rows, 2 along them";
  if (const char* option = option_of_text(L, op, text))
    return "; {" + std::string(option) + " = \"" + text + "\"} names one";
  return text.find_first_of("0123456789") == text.npos ? "; options stand by name in braces, {name = value}" : "";
}

}  // namespace

std::size_t check_axis(lua_State* L, int index, std::size_t ndim, const char* op) {
  const bool has_fraction =
      lua_type(L, index) == LUA_TNUMBER && std::floor(lua_tonumber(L, index)) != lua_tonumber(L, index);
  if (test<Array>(L, index) || has_fraction) {
    const std::string text = describe(L, index);
    throw Error("[{}] expected an axis: an integer, got {}{}", op, text, elsewhere(op));
  }
  if (lua_isboolean(L, index))
    throw Error("[{}] expected an axis: an integer, got {}; flags are options by name, {{name = true}}", op,
                describe(L, index));
  const std::string hint = lua_type(L, index) == LUA_TSTRING ? axis_text_hint(L, op, lua_tostring(L, index)) : "";
  if (!hint.empty()) throw Error("[{}] expected an axis: an integer, got {}{}", op, describe(L, index), hint);
  const std::int64_t axis = check_integer(L, index, op, "an axis: an integer");
  const auto count = static_cast<std::int64_t>(ndim);
  if (axis == 0) throw Error("[{}] axes start at 1, got 0{}", op, elsewhere(op));
  if (axis > count || axis < -count)
    throw Error("[{}] axis {} is out of range for an array of {}{}{}{}", op, axis, ndim,
                ndim == 1 ? " dimension" : " dimensions", elsewhere(op),
                ndim == 0 ? "; m[{1, 3}] is an element, m:take({1, 3}, 1) two rows" : "");
  return static_cast<std::size_t>(axis > 0 ? axis - 1 : count + axis);
}

}  // namespace gpulua
