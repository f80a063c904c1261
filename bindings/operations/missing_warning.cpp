// Missing values of series: gpu.pct_change and its kin put NaN where there is no value before, and a reduction gives
// NaN.

#include "bindings/operations/missing_warning.h"

#include <algorithm>
#include <array>

#include "bindings/lua/caller.h"
#include "bindings/lua/library.h"
#include "bindings/operations/operation_parts.h"

namespace gpulua {

void warn_of_missing(lua_State* L, const Array& array, const std::string& op) {
  const char* const function = array->missing_by();
  if (!function || array->layout.size() == 0) return;
  Bindings& bindings = bindings_of(L);
  const std::string skipping = "nan" + op;
  const std::string use = bindings.signatures.has_function(skipping)
                              ? "gpu." + skipping + " leaves them out, and so does x:dropna()"
                              : "x:dropna() leaves them out";
  warn_at(bindings.context(), bindings.origin(),
          "[" + op + "] the result is " + (op.starts_with("arg") ? "the position of NaN" : "NaN") + ": " +
              std::string(function) + " has put missing values into the array; " + use);
}

namespace {

constexpr std::array givers = {"ewm", "expanding", "pct_change", "rolling", "shift"};

/// with_missing(x, function): x, into which the function of the library has put NaN.
int with_missing(lua_State* L) {
  const std::string_view name = check_string(L, 2, "with_missing", "a name");
  check<Array>(L, 1, "with_missing")->set_missing_by(*std::ranges::find(givers, name));
  lua_settop(L, 1);
  return 1;
}

/// warn_of_missing(op, x): before a Lua function of the library reduces x.
int lua_warn_of_missing(lua_State* L) {
  warn_of_missing(L, check<Array>(L, 2, "warn_of_missing"),
                  std::string(check_string(L, 1, "warn_of_missing", "a name")));
  return 0;
}

}  // namespace

void add_missing_values(lua_State* L) {
  set_functions(L, {{"with_missing", protect<with_missing>}, {"warn_of_missing", protect<lua_warn_of_missing>}});
}

}  // namespace gpulua
