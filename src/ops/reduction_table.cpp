#include "src/ops/reduction_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>

namespace gpulua {

namespace {

using Rule = ReductionRule;

// clang-format off
constexpr Reducer reduction_rows[] = {
    {.name = "sum", .accumulator = "gpulua_sum", .rule = Rule::total, .combine = "add", .complex = true},
    {.name = "prod", .accumulator = "gpulua_prod", .rule = Rule::total, .identity = 1, .combine = "multiply", .complex = true},
    {.name = "max", .accumulator = "gpulua_max", .rule = Rule::extreme, .has_identity = false, .combine = "maximum"},
    {.name = "min", .accumulator = "gpulua_min", .rule = Rule::extreme, .has_identity = false, .combine = "minimum"},
    {.name = "argmax", .accumulator = "gpulua_argmax", .rule = Rule::position, .has_identity = false},
    {.name = "argmin", .accumulator = "gpulua_argmin", .rule = Rule::position, .has_identity = false},
    {.name = "any", .accumulator = "gpulua_any", .rule = Rule::truth},
    {.name = "all", .accumulator = "gpulua_all", .rule = Rule::truth, .identity = 1},
    {.name = "count_nonzero", .accumulator = "gpulua_count", .rule = Rule::count},
    {.name = "var", .accumulator = "gpulua_variance", .rule = Rule::total, .passes = 2},
};
// clang-format on

}  // namespace

std::span<const Reducer> reducer_table() {
  return reduction_rows;
}

const Reducer& reducer(std::string_view name) {
  const auto row = std::find_if(std::begin(reduction_rows), std::end(reduction_rows),
                                [&](const Reducer& r) { return r.name == name; });
  if (row == std::end(reduction_rows)) throw std::logic_error("no reduction " + std::string(name));
  return *row;
}

const Reducer& with_identity(const Reducer& row) {
  static const auto rows = [] {
    auto copies = std::to_array(reduction_rows);
    for (Reducer& copy : copies) copy.has_identity = true;
    return copies;
  }();
  return rows[static_cast<std::size_t>(&row - reduction_rows)];
}

ReductionDTypes reduction_dtypes(const Reducer& reducer, DType input) {
  switch (reducer.rule) {
    case Rule::extreme:
      return {input, input};
    case Rule::position:
      return {input, DType::int64};
    case Rule::truth:
      return {DType::boolean, DType::boolean};
    case Rule::count:
      return {DType::boolean, DType::int64};
    case Rule::total:
      break;
  }
  switch (info(input).kind) {
    case DTypeKind::boolean:
    case DTypeKind::signed_integer:
      return {DType::int64, DType::int64};
    case DTypeKind::unsigned_integer:
      return {DType::uint64, DType::uint64};
    case DTypeKind::floating:
      return {size_of(input) == 2 ? DType::float32 : input, input};
    case DTypeKind::complex:
      return {input, input};
  }
  throw std::logic_error("no such dtype");
}

}  // namespace gpulua
