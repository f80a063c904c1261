// Scans as functions and methods: x:cumsum(axis, {exclusive=, dtype=, out=}).

#include "bindings/arrays/axis.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/lua/caller.h"
#include "bindings/operations/missing_warning.h"
#include "bindings/operations/operation_parts.h"
#include "src/algorithms/scan.h"
#include "src/expressions/expression.h"

namespace gpulua {

namespace {

struct ScanOptions {
  std::optional<std::size_t> axis;
  bool exclusive = false;
  std::optional<DType> dtype;
  Array out;
};

ScanOptions check_scan(lua_State* L, const Array& array, const char* op) {
  ScanOptions options;
  const auto read_axis = [&](int value) { options.axis = check_axis(L, value, array->layout.ndim(), op); };
  const auto read_exclusive = [&](int value) { options.exclusive = check_flag(L, value, op, "exclusive"); };
  const bool has_axis = !lua_istable(L, 2);
  if (has_axis && !lua_isnoneornil(L, 2)) read_axis(2);
  read_options(
      L, has_axis ? 3 : 2, op,
      {{"axis", read_axis},
       {"exclusive", read_exclusive},
       {"dtype", [&](int value) { options.dtype = parse_dtype(check_string(L, value, op, "a dtype's name")); }},
       {"out", [&](int value) { options.out = check<Array>(L, value, op); }}});
  return options;
}

/// gpu.cumsum, gpu.cumprod, gpu.cummax, gpu.cummin(x [, axis] [, {axis, exclusive, dtype, out}])
int lua_scan(lua_State* L) {
  const auto& row = *static_cast<const ScanOp*>(lua_touserdata(L, lua_upvalueindex(own_upvalue)));
  const std::string name(row.name);
  const Array& array = check<Array>(L, 1, name.c_str());
  const ScanOptions options = check_scan(L, array, name.c_str());
  if (array->missing_by() && is_call_of_script(L, 0)) warn_of_missing(L, array, name);
  return push_result(L, options.out, scan(row, array, options.axis, options.exclusive, options.dtype), name.c_str());
}

void set_scans(lua_State* L) {
  for (const ScanOp& row : scan_table()) {
    lua_pushlightuserdata(L, const_cast<ScanOp*>(&row));
    push_function(L, protect<lua_scan>);
    lua_setfield(L, -2, std::string(row.name).c_str());
  }
}

}  // namespace

void open_scans(lua_State* L) {
  set_scans(L);
}

void open_scan_methods(lua_State* L) {
  set_scans(L);
}

}  // namespace gpulua
