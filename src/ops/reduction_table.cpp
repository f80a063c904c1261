#include "src/ops/reduction_table.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

#include "src/base/error.h"

namespace gpulua {

namespace {

// name, accumulator, has an identity, gives a position
constexpr Reducer table[] = {
    {"sum", "gpulua_sum"},
    {"prod", "gpulua_prod"},
    {"max", "gpulua_max", false},
    {"min", "gpulua_min", false},
    {"argmax", "gpulua_argmax", false, true},
    {"argmin", "gpulua_argmin", false, true},
    {"any", "gpulua_any"},
    {"all", "gpulua_all"},
    {"count_nonzero", "gpulua_count"},
    {"var", "gpulua_variance"},
};

}  // namespace

std::span<const Reducer> reducer_table() {
  return table;
}

const Reducer& reducer(std::string_view name) {
  const auto row = std::find_if(std::begin(table), std::end(table), [&](const Reducer& r) { return r.name == name; });
  if (row == std::end(table)) throw std::logic_error("no reduction " + std::string(name));
  return *row;
}

ReductionDTypes reduction_dtypes(const Reducer& reducer, DType input) {
  const DTypeKind kind = info(input).kind;
  const bool small_float = input == DType::float16 || input == DType::bfloat16;
  const std::string_view name = reducer.name;
  if (name == "any" || name == "all") return {DType::boolean, DType::boolean};
  if (name == "count_nonzero") return {DType::boolean, DType::int64};
  if (name == "argmax" || name == "argmin") return {input, DType::int64};
  if (name == "max" || name == "min") return {input, input};
  switch (kind) {  // sum and prod, and the sums of var
    case DTypeKind::boolean:
    case DTypeKind::signed_integer:
      return {DType::int64, DType::int64};
    case DTypeKind::unsigned_integer:
      return {DType::uint64, DType::uint64};
    case DTypeKind::floating:
      return {small_float ? DType::float32 : input, input};
    case DTypeKind::complex:
      return {input, input};
  }
  throw std::logic_error("no such dtype");
}

}  // namespace gpulua
