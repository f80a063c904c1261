#include "src/codegen/kernel_spec.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "src/ops/user_function.h"

namespace gpulua {

namespace {

constexpr std::size_t named_operations = 4;

}  // namespace

std::string KernelSpec::name() const {
  std::vector<std::string_view> names;
  for (const ValueSpec& value : values) {
    if (value.kind == ValueSpec::Kind::operand) continue;
    const std::string_view name = value.op ? value.op->name : value.reducer ? value.reducer->name : "gather";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string result = "gpulua";
  for (std::size_t i = 0; i < std::min(names.size(), named_operations); ++i) result.append("_").append(names[i]);
  if (names.empty()) result += "_copy";
  if (names.size() > named_operations) result += "_etc";
  result += "_kernel";  // gpulua_sum is an accumulator
  // An operation of a script may be called anything.
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return result;
}

std::size_t KernelSpec::reduced_ndim() const {
  if (const auto* reduction = as<ReductionSpec>()) return reduction->ndim;
  if (const auto* row = as<RowSpec>()) return row->ndim;
  return 0;
}

bool has_strides(Access access, std::size_t ndim) {
  if (access == Access::value || access == Access::fixed || access == Access::raw) return false;
  return access == Access::strided || ndim > 1;
}

bool is_product(const OpInfo& op, DType compute) {
  const bool has_many_bits =
      compute == DType::float32 || compute == DType::float64;  // the others are rounded when they are stored
  return has_many_bits && !op.function && op.expression.find(" * ") != std::string_view::npos &&
         op.expression.find('+') == std::string_view::npos;
}

bool has_fast_path(const ValueSpec& value) {
  return value.kind == ValueSpec::Kind::operation && !value.op->fast_path.empty() &&
         info(value.compute).kind == DTypeKind::floating;
}

bool divides_by_number(const KernelSpec& spec, const ValueSpec& value) {
  if (value.kind != ValueSpec::Kind::operation || !value.op->divides || value.compute == DType::boolean) return false;
  const DTypeKind kind = info(value.compute).kind;
  const std::size_t most = kind == DTypeKind::signed_integer ? 8 : kind == DTypeKind::unsigned_integer ? 2 : 0;
  const ValueSpec& divisor = spec.values[value.inputs[1]];
  return size_of(value.compute) <= most && divisor.kind == ValueSpec::Kind::operand && divisor.dtype == value.compute &&
         spec.operands[divisor.operand].access == Access::value;
}

bool is_divisor(const KernelSpec& spec, std::size_t operand) {
  return std::any_of(spec.values.begin(), spec.values.end(), [&](const ValueSpec& value) {
    return divides_by_number(spec, value) && spec.values[value.inputs[1]].operand == operand;
  });
}

bool is_vectorised(const KernelSpec& spec, const ValueSpec& value) {
  if (value.kind != ValueSpec::Kind::operation || value.op->vectorised.empty()) return false;
  if (value.outer || value.nested) return false;
  return std::all_of(value.inputs.begin(), value.inputs.end(), [&](std::size_t input) {
    if (spec.values[input].kind != ValueSpec::Kind::operand) return false;
    const OperandSpec& operand = spec.operands[spec.values[input].operand];
    return operand.access == (input == value.inputs.back() ? Access::unit : Access::value);
  });
}

bool is_nested_reduction(const KernelSpec& spec, const ValueSpec& value) {
  return value.kind == ValueSpec::Kind::reduction && spec.values[value.inputs.front()].nested;
}

std::size_t accumulator_bytes(const KernelSpec& spec) {
  // The library's accumulators have at most three numbers; a script's have one, of any dtype, and a flag.
  std::size_t bytes = 0;
  for (const ValueSpec& value : spec.values)
    if (value.kind == ValueSpec::Kind::reduction && !is_nested_reduction(spec, value))
      bytes += std::max<std::size_t>(3 * size_of(value.compute), 32);
  return bytes;
}

unsigned most_copies(const KernelSpec& spec) {
  // Milliseconds, measured with NVRTC 13.0: of all copies, and of one copy of most functions.
  constexpr unsigned budget = 250, of_function = 3;
  unsigned one = 1;
  for (const ValueSpec& value : spec.values) {
    if (value.kind != ValueSpec::Kind::operation || value.outer) continue;
    if (info(value.compute).kind != DTypeKind::floating && info(value.compute).kind != DTypeKind::complex) continue;
    const bool calls = value.op->expression.find('(') != std::string_view::npos;
    one += value.op->copy_ms > 0 ? value.op->copy_ms : calls ? of_function : 0;
  }
  return std::bit_floor(std::max(budget / one, 1u));
}

}  // namespace gpulua
