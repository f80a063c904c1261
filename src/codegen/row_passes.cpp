#include "src/codegen/row_passes.h"

#include <algorithm>

namespace gpulua {

namespace {

// What an element takes of a register file, even if it is small: numbers are widened when they are used.
constexpr std::size_t register_bytes = 4;

class Analysis {
 public:
  Analysis(std::span<const ValueSpec> values, std::span<const std::uint16_t> outputs, const std::vector<bool>& moves)
      : values_(values), outputs_(outputs), moves_(moves) {}

  RowPasses make(bool keeps) {
    passes_.kept.assign(values_.size(), RowPasses::never);
    find_ready();
    find_needed();
    if (!keeps) return std::move(passes_);
    // First what takes long to compute, then the elements in memory that are still needed.
    keep([&](std::size_t i) { return is_dear(values_[i]) && uses(i) > 1; });
    find_needed();
    keep([&](std::size_t i) { return is_element(values_[i]) && (uses(i) > 1 || passes_.needed[0][i]); });
    find_needed();
    count_bytes();
    return std::move(passes_);
  }

 private:
  void find_ready() {
    passes_.ready.assign(values_.size(), 0);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const ValueSpec& value = values_[i];
      int& ready = passes_.ready[i];
      for (const std::size_t input : value.inputs) ready = std::max(ready, passes_.ready[input]);
      if (value.kind == ValueSpec::Kind::reduction)
        passes_.count = std::max(passes_.count, ready += value.reducer->passes);
    }
    for (const std::size_t output : outputs_)
      if (is_inner(values_[output])) passes_.count = std::max(passes_.count, passes_.ready[output] + 1);
  }

  void find_needed() {
    passes_.needed.assign(static_cast<std::size_t>(passes_.count), std::vector<bool>(values_.size()));
    passes_.last.assign(values_.size(), RowPasses::never);
    for (int pass = 0; pass < passes_.count; ++pass) {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (values_[i].kind != ValueSpec::Kind::reduction) continue;
        const std::size_t input = values_[i].inputs.front();
        if (passes_.ready[input] <= pass && pass < passes_.ready[i]) need(pass, input);
      }
      for (const std::size_t output : outputs_)
        if (passes_.ready[output] == pass) need(pass, output);
    }
  }

  void need(int pass, std::size_t i) {
    std::vector<bool>& needed = passes_.needed[static_cast<std::size_t>(pass)];
    if (!is_inner(values_[i]) || needed[i]) return;
    needed[i] = true;
    passes_.last[i] = pass;
    if (passes_.takes(pass, i)) return;
    for (const std::size_t input : values_[i].inputs) need(pass, input);
  }

  int uses(std::size_t i) const {
    return static_cast<int>(
        std::count_if(passes_.needed.begin(), passes_.needed.end(), [&](const auto& needed) { return needed[i]; }));
  }

  /// True for a value that is better kept than computed again: a gather, the result of a script's function, or an
  /// operation whose text has a call or a quotient.
  static bool is_dear(const ValueSpec& value) {
    if (value.kind == ValueSpec::Kind::gather) return is_inner(value);
    return value.kind == ValueSpec::Kind::operation && is_inner(value) &&
           (value.op->function || value.op->expression.find_first_of("(/") != std::string_view::npos);
  }

  bool is_element(const ValueSpec& value) const {
    return value.kind == ValueSpec::Kind::operand && is_inner(value) && moves_[value.operand];
  }

  template <class Wanted>
  void keep(const Wanted& wanted) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (wanted(i)) passes_.kept[i] = first_use(i);
  }

  int first_use(std::size_t i) const {
    int pass = 0;
    while (!passes_.needed[static_cast<std::size_t>(pass)][i]) ++pass;
    return pass;
  }

  void count_bytes() {
    // An element is loaded ahead of its first pass, another value computed within it.
    for (int pass = 0; pass < passes_.count; ++pass) {
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (passes_.kept[i] == RowPasses::never) continue;
        const int from = passes_.kept[i] + !is_element(values_[i]);
        if (from <= pass && pass <= passes_.last[i]) bytes += std::max(size_of(values_[i].dtype), register_bytes);
      }
      passes_.bytes = std::max(passes_.bytes, bytes);
    }
  }

  std::span<const ValueSpec> values_;
  std::span<const std::uint16_t> outputs_;
  const std::vector<bool>& moves_;
  RowPasses passes_;
};

}  // namespace

RowPasses row_passes(std::span<const ValueSpec> values, std::span<const std::uint16_t> outputs,
                     const std::vector<bool>& moves, bool keeps) {
  return Analysis(values, outputs, moves).make(keeps);
}

RowPasses row_passes(const KernelSpec& spec, const RowSpec& family) {
  std::vector<std::uint16_t> outputs;
  for (const OutputSpec& output : spec.outputs) outputs.push_back(output.value);
  std::vector<bool> moves;
  for (const OperandSpec& operand : spec.operands) moves.push_back(operand.memory && moves_in_row(family, operand));
  return row_passes(spec.values, outputs, moves, family.items > 0);
}

bool moves_in_row(const RowSpec& family, const OperandSpec& operand) {
  if (operand.outer || is_whole(operand) || operand.access == Access::fixed) return false;
  return operand.access != Access::splat || family.ndim > 1;
}

}  // namespace gpulua
