#include "src/codegen/kernel_spec.h"

#include <algorithm>
#include <cctype>

#include "src/ops/user_function.h"

namespace gpulua {

namespace {

constexpr std::size_t named_operations = 4;

void append(std::string& key, std::size_t number) {
  // Few numbers have more than one digit.
  do key += static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  key += ',';
}

}  // namespace

std::string KernelSpec::key() const {
  std::string key = reduces ? "r" : compresses ? "c" : "e";
  key.reserve(16 * (operands.size() + values.size() + outputs.size()));
  append(key, ndim * 32 + walks * 16 + spread * 8 + wide * 4 + rows * 2 + fast_path);
  append(key, vector);
  append(key, tile == 0 ? 0 : tile + lines);
  if (reduces) {
    append(key, reduction.results);
    append(key, reduction.lanes);
    append(key, reduction.ndim * 16 + reduction.in_runs * 8 + reduction.vector_results * 4 +
                    reduction.lanes_adjacent * 2 + reduction.split);
    if (reduction.rows) append(key.append("w"), reduction.items);
    if (reduction.count > 0) append(key.append("s"), reduction.count);
    for (const unsigned extent : reduction.nested) append(key.append("n"), extent * 16 + reduction.nested_vector);
  }
  if (compresses) {
    append(key, compress.threads);
    append(key, compress.items);
  }
  for (const OperandSpec& operand : operands) {
    key += 'o';
    append(key, static_cast<std::size_t>(operand.dtype));
    append(key, static_cast<std::size_t>(operand.access) * 8 + operand.along_results * 4 + operand.memory * 2 +
                    operand.outer);
    if (operand.indexed > 0) append(key.append("@"), operand.indexed);
    if (operand.roll > 0) append(key.append("~"), operand.roll);
    if (operand.seam > 0) append(key.append("|"), operand.seam);
    if (operand.nested || operand.staged)
      append(key.append("n"), operand.nested * 8u + operand.common * 4u + operand.held * 2u + operand.staged);
  }
  for (const ValueSpec& value : values) {
    switch (value.kind) {
      case ValueSpec::Kind::operand:
        key += '=';
        append(key, value.operand);
        continue;
      case ValueSpec::Kind::gather:
        append(key.append("g"), value.operand);
        break;
      case ValueSpec::Kind::call:
        key.append(value.op->function->id).append("{");
        break;
      case ValueSpec::Kind::operation:
        key.append(value.op->function ? value.op->expression : value.op->name).append("(");
        break;
      case ValueSpec::Kind::reduction:
        key.append(value.reducer->function ? value.reducer->function->id : value.reducer->name).append("[");
        break;
    }
    append(key, static_cast<std::size_t>(value.dtype) * 8 + value.nested * 4 + value.rounded * 2 + value.outer);
    append(key, static_cast<std::size_t>(value.compute));
    for (std::size_t input : value.inputs) append(key, input);
  }
  for (const OutputSpec& output : outputs) {
    key += '>';
    append(key, static_cast<std::size_t>(output.dtype) * 8 + static_cast<std::size_t>(output.access));
    append(key, output.value);
    if (output.mask) append(key.append("?"), *output.mask);
    if (!output.indices.empty()) key += output.adds ? "+" : "@";
    for (std::size_t index : output.indices) append(key, index);
  }
  return key;
}

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

}  // namespace gpulua
