#include "src/gradients/terms.h"

#include <bit>
#include <optional>

#include "src/expressions/expression.h"

namespace gpulua {

namespace {

using Operands = std::span<const Term>;

/// What an operation on numbers alone gives, where the library's formulas have such ones.
std::optional<double> computed(std::string_view op, Operands operands) {
  double values[2] = {};
  if (operands.size() > std::size(values)) return std::nullopt;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const double* number = std::get_if<double>(&operands[i]);
    if (!number) return std::nullopt;
    values[i] = *number;
  }
  const double x = values[0], y = values[1];
  if (op == "add") return x + y;
  if (op == "subtract") return x - y;
  if (op == "multiply") return x * y;
  if (op == "divide") return x / y;
  if (op == "negative") return -x;
  if (op == "reciprocal") return 1 / x;
  if (op == "eq") return x == y;
  if (op == "ne") return x != y;
  if (op == "lt") return x < y;
  if (op == "le") return x <= y;
  if (op == "gt") return x > y;
  if (op == "ge") return x >= y;
  return std::nullopt;
}

}  // namespace

Term Terms::apply(std::string_view name, std::initializer_list<Term> operands) {
  return apply(op(name), Operands(operands.begin(), operands.size()));
}

Term Terms::apply(const OpInfo& op, Operands operands) {
  if (const auto number = computed(op.name, operands)) return *number;
  if (op.name == "multiply")
    for (const std::size_t one : {0, 1}) {
      const Term& other = operands[1 - one];
      if (is_number(operands[one], 0)) return 0.0;
      if (is_number(operands[one], 1)) return other;
      if (is_number(operands[one], -1)) return apply("negative", {other});
    }
  if (op.name == "add")
    for (const std::size_t one : {0, 1})
      if (is_number(operands[one], 0)) return operands[1 - one];
  if (op.name == "subtract" && is_number(operands[1], 0)) return operands[0];
  if (op.name == "subtract" && is_number(operands[0], 0)) return apply("negative", {operands[1]});
  if (op.name == "divide" && is_number(operands[1], 1)) return operands[0];
  if (const double* condition = op.name == "where" ? std::get_if<double>(&operands[0]) : nullptr)
    return *condition != 0 ? operands[1] : operands[2];

  Key key{reinterpret_cast<std::uintptr_t>(&op)};
  std::vector<Operand> inputs;
  bool has_array = false;
  for (const Term& operand : operands) {
    if (const auto* array = std::get_if<Array>(&operand)) {
      key.insert(key.end(), {1, (*array)->serial()});
      inputs.emplace_back(*array);
      has_array = true;
    } else {
      key.insert(key.end(), {0, std::bit_cast<std::uint64_t>(std::get<double>(operand))});
      inputs.emplace_back(Scalar(std::get<double>(operand)));
    }
  }
  if (!has_array) inputs.front() = weak_constant(device_, Scalar(std::get<double>(operands.front())));
  Array& known = known_[std::move(key)];
  if (!known) known = elementwise(op, inputs);
  return known;
}

}  // namespace gpulua
