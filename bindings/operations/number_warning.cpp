#include "bindings/operations/number_warning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "bindings/lua/caller.h"
#include "bindings/lua/library.h"
#include "src/ops/op_table.h"

namespace gpulua {

namespace {

/// Functions that give NaN for some numbers.
struct PartialFunction {
  std::string_view name;
  double (*value)(double);
};
constexpr PartialFunction partial_functions[] = {{"acos", std::acos},   {"acosh", std::acosh}, {"asin", std::asin},
                                                 {"atanh", std::atanh}, {"log", std::log},     {"log10", std::log10},
                                                 {"log1p", std::log1p}, {"log2", std::log2},   {"sqrt", std::sqrt}};

}  // namespace

void warn_of_number(lua_State* L, const OpInfo& op) {
  if (lua_type(L, 1) != LUA_TNUMBER) return;
  const auto* function = std::ranges::find(partial_functions, op.name, &PartialFunction::name);
  const double x = lua_tonumber(L, 1);
  if (function == std::end(partial_functions) || std::isnan(x) || !std::isnan(function->value(x))) return;
  Bindings& bindings = bindings_of(L);
  const std::string complex = "gpu." + std::string(op.name) + "(gpu.complex(x, 0)) gives a complex number";
  warn_at(bindings.context(), bindings.origin(),
          fmt::format("[{}] the result for {:g} is NaN; {}", op.name, x,
                      op.name == "sqrt" && x == -1 ? "gpu.complex(0, 1) is the imaginary unit" : complex));
}

}  // namespace gpulua
