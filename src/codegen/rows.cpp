// The text of a row kernel. `lanes` threads go over a row in passes (row_passes.h). A pass computes elements, stores
// the outputs among them and accumulates; after it, all threads of the row have the results. Elements that a later pass
// needs stay in registers, in arrays with an item for each vector of the thread.

#include "src/codegen/rows.h"

#include <algorithm>

#include "src/codegen/accumulators.h"
#include "src/codegen/body.h"
#include "src/codegen/parameters.h"
#include "src/codegen/row_passes.h"

namespace gpulua {

namespace {

constexpr unsigned threads_of_a_multiprocessor = 1024;  // with 64 registers each

class RowText {
 public:
  RowText(const KernelSpec& spec, const RowSpec& plan) : spec_(spec), plan_(plan), passes_(row_passes(spec, plan)) {}

  std::string emit() const {
    std::string text;
    for (int pass = 0; pass < passes_.count; ++pass)
      if (const auto all = accumulators(pass); !all.empty()) text += accumulator_struct(struct_name(pass), all);
    const unsigned threads = plan_.lanes * plan_.results;
    text += "\n__global__ void __launch_bounds__(" + std::to_string(threads) + ", " +
            std::to_string(std::max(1u, threads_of_a_multiprocessor / threads)) + ") " + spec_.name() +
            parameter_list(spec_) + " {\n";
    text += "  constexpr unsigned int lanes = " + std::to_string(plan_.lanes) +
            ", slots = " + std::to_string(plan_.results) +
            ";\n  constexpr int width = " + std::to_string(spec_.vector) + ";\n";
    if (keeps()) text += "  constexpr int items = " + std::to_string(plan_.items) + ";\n";
    text +=
        "  const unsigned int lane = threadIdx.x % lanes, slot = threadIdx.x / lanes;\n"
        "  const gpulua_index_t result = blockIdx.x * slots + slot;\n"
        "  const bool live = result < results;\n"
        "  const gpulua_index_t row = live ? result : 0, end = live ? count : 0;\n"
        "  gpulua_offset_t at[" +
        std::to_string(spec_.ndim) +
        "];\n"
        "  gpulua_unravel(row, kept, at);\n";
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) text += pointer(i);
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
      if (is_inner(value_of(spec_.outputs[i])))
        text += "  auto* const p_" + output_name(i) + " = " + output_name(i) + " + row * count;\n";
    text += known_before(0);
    for (int pass = 0; pass < passes_.count; ++pass) text += emit_pass(pass);
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
      if (!is_inner(value_of(spec_.outputs[i])))
        text += "  if (lane == 0 && live) " + output_name(i) + "[result] = " + number(spec_.outputs[i]) + ";\n";
    return text + "}\n";
  }

 private:
  bool keeps() const { return plan_.items > 0; }
  const ValueSpec& value_of(const OutputSpec& output) const { return spec_.values[output.value]; }
  bool needs(int pass, std::size_t value) const { return passes_.needed[static_cast<std::size_t>(pass)][value]; }
  bool is_element(const ValueSpec& value) const {
    return value.kind == ValueSpec::Kind::operand && spec_.operands[value.operand].memory &&
           moves_in_row(plan_, spec_.operands[value.operand]);
  }
  /// True for random numbers that are drawn for a vector at once.
  bool is_drawn(const ValueSpec& value) const { return spec_.vector > 1 && is_vectorised(spec_, value); }
  bool is_vector(const OperandSpec& operand) const { return operand.access == Access::unit && plan_.ndim == 1; }

  static std::string struct_name(int pass) { return "gpulua_row_" + std::to_string(pass); }
  static std::string sums_name(int pass) { return "sums_" + std::to_string(pass); }
  static std::string mean_name(std::size_t value) { return "mean_" + std::to_string(value); }
  static std::string kept_name(std::size_t value) { return "kept_" + std::to_string(value); }

  // ---- before the passes -------------------------------------------------------------------------------------------

  /// The address of the operand's first element in the row, or the element where there is only one.
  std::string pointer(std::size_t index) const {
    const OperandSpec& operand = spec_.operands[index];
    if (is_whole(operand)) return {};
    const std::string name = operand_name(index);
    const std::size_t axes = spec_.ndim + (operand.outer ? 0 : plan_.ndim);
    const std::string offset = has_strides(operand.access, axes) ? "gpulua_offset(at, " + name + "_strides)"
                               : operand.outer && operand.access == Access::unit ? "at[0]"
                                                                                 : "0";
    if (!operand.memory) return "  const gpulua_offset_t p_" + name + " = " + offset + ";\n";
    if (!moves_in_row(plan_, operand) && operand.indexed == 0)
      return "  const auto x_" + name + " = " + name + "[" + offset + "];\n";
    return "  const auto* const p_" + name + " = " + name + " + " + offset + ";\n";
  }

  /// The values of the whole row that are known before the pass, and not before an earlier one.
  std::string known_before(int pass) const {
    std::string text;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (is_inner(value) || passes_.ready[i] != pass) continue;
      const std::string right = value.kind == ValueSpec::Kind::reduction
                                    ? reduced(value, sums_name(pass - 1) + ".a" + std::to_string(i) + ".result()")
                                : value.kind == ValueSpec::Kind::operand ? operand_text(value.operand, "0")
                                : value.kind == ValueSpec::Kind::gather  ? gathered(value, "0")
                                                                         : expression(value, spec_);
      text += "  const " + value_type(value, spec_) + " " + value_name(i) + " = " + right + ";\n";
    }
    return text;
  }

  // ---- a pass ------------------------------------------------------------------------------------------------------

  /// True when the pass accumulates for this value.
  bool accumulates(int pass, const ValueSpec& value, int ready) const {
    return value.kind == ValueSpec::Kind::reduction && ready - value.reducer->passes <= pass && pass < ready;
  }
  /// True in the second pass of a variance.
  bool deviates(int pass, std::size_t i) const {
    return spec_.values[i].reducer->passes == 2 && pass == passes_.ready[i] - 1;
  }

  std::vector<Accumulator> accumulators(int pass) const {
    std::vector<Accumulator> all;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (!accumulates(pass, value, passes_.ready[i])) continue;
      const bool two = value.reducer->passes == 2;
      all.push_back({i,
                     !two                ? std::string(value.reducer->accumulator)
                     : deviates(pass, i) ? "gpulua_deviations"
                                         : "gpulua_sum",
                     value.compute});
    }
    return all;
  }

  std::string emit_pass(int pass) const {
    const std::string number = std::to_string(pass), sums = sums_name(pass);
    const std::vector<Accumulator> all = accumulators(pass);
    std::string text = "  // pass " + std::to_string(pass + 1) + "\n" + loads(pass);
    if (!all.empty()) text += "  " + struct_name(pass) + " " + sums + " = " + struct_name(pass) + "::identity();\n";
    text += loop(elements(pass));
    if (all.empty()) return text;
    text += "  gpulua_merge_row<" + number + ", lanes, slots>(" + sums + ", lane, slot);\n";
    for (const Accumulator& one : all)
      if (spec_.values[one.value].reducer->passes == 2 && !deviates(pass, one.value))
        text += "  const " + register_type(one.compute) + " " + mean_name(one.value) + " = " + sums + ".a" +
                std::to_string(one.value) + ".result() / (" + register_type(one.compute) + ")count;\n";
    return text + known_before(pass + 1);
  }

  /// `body` for each vector of the thread, from position r on.
  std::string loop(const std::string& body) const {
    if (!keeps()) return "  for (gpulua_index_t r = lane * width; r < end; r += lanes * width) {\n" + body + "  }\n";
    return "  #pragma unroll\n  for (int i = 0; i < items; ++i) {\n"
           "    const gpulua_index_t r = (i * lanes + lane) * width;\n"
           "    if (r < end) {\n" +
           body + "    }\n  }\n";
  }

  /// Declares what the pass adds to the registers, and loads all elements of the thread at once.
  std::string loads(int pass) const {
    if (!keeps()) return {};
    std::string text, body;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (passes_.kept[i] != pass) continue;
      const bool element = is_element(value);
      text += "  gpulua_pack<" + (element ? element_type(value.dtype) : register_type(value.dtype)) + ", width> " +
              kept_name(i) + "[items];\n";
      if (!element) continue;
      const std::string name = operand_name(value.operand);
      if (is_vector(spec_.operands[value.operand]))
        body += "      " + kept_name(i) + "[i] = gpulua_pack<" + element_type(value.dtype) + ", width>(p_" + name +
                " + r);\n";
      else
        body += "      for (int k = 0; k < width; ++k) {\n" + place() + "        " + kept_name(i) + "[i].at[k] = p_" +
                name + "[" + step(value.operand) + "];\n      }\n";
    }
    return text + (body.empty() ? "" : loop(body));
  }

  std::string elements(int pass) const {
    const std::string indent = keeps() ? "      " : "    ", inner = indent + "  ";
    std::string ahead, text, after;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (accumulates(pass, value, passes_.ready[i])) text += inner + accumulate(pass, i);
      if (!needs(pass, i)) continue;
      text += inner + "const " + value_type(value, spec_) + " " + value_name(i) + " = " + definition(pass, i) + ";\n";
      if (is_drawn(value) && !passes_.takes(pass, i)) ahead += indent + vectorised(spec_, i, "r");
      if (!is_element(value) && passes_.kept[i] == pass)
        text += inner + kept_name(i) + "[i].at[k] = " + value_name(i) + ";\n";
      if (is_element(value) && passes_.kept[i] == RowPasses::never && is_vector(spec_.operands[value.operand]))
        ahead += indent + "const gpulua_pack<" + element_type(value.dtype) + ", width> x_" +
                 operand_name(value.operand) + "(p_" + operand_name(value.operand) + " + r);\n";
    }
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      const OutputSpec& output = spec_.outputs[i];
      if (!is_inner(value_of(output)) || passes_.ready[output.value] != pass) continue;
      const std::string name = output_name(i);
      ahead += indent + "gpulua_pack<" + element_type(output.dtype) + ", width> y_" + name + ";\n";
      text += inner + "y_" + name + ".at[k] = " + number(output) + ";\n";
      after += indent + "y_" + name + ".store(p_" + name + " + r);\n";
    }
    return ahead + indent + "#pragma unroll\n" + indent + "for (int k = 0; k < width; ++k) {\n" + place() + text +
           indent + "}\n" + after;
  }

  std::string accumulate(int pass, std::size_t index) const {
    const ValueSpec& value = spec_.values[index];
    const std::size_t input = value.inputs.front();
    const std::string x = converted(value_name(input), spec_.values[input].dtype, value.compute);
    const std::string add = sums_name(pass) + ".a" + std::to_string(index) + ".add(";
    return deviates(pass, index) ? add + "gpulua_distance(" + x + ", " + mean_name(index) + "));\n"
                                 : add + x + ", r + k);\n";
  }

  std::string definition(int pass, std::size_t index) const {
    const ValueSpec& value = spec_.values[index];
    if (passes_.takes(pass, index) || (is_element(value) && passes_.kept[index] == pass)) {
      const std::string kept = kept_name(index) + "[i].at[k]";
      return is_element(value) ? loaded(kept, value.dtype) : kept;
    }
    if (value.kind == ValueSpec::Kind::operand) return operand_text(value.operand, step(value.operand));
    if (value.kind == ValueSpec::Kind::gather) return gathered(value, step(value.operand));
    return is_drawn(value) ? vectorised_element(value, index) : expression(value, spec_);
  }

  // ---- parts -------------------------------------------------------------------------------------------------------

  std::string place() const {
    if (plan_.ndim == 1) return {};
    return "        gpulua_offset_t place[" + std::to_string(plan_.ndim) +
           "];\n        gpulua_unravel(r + k, reduced, place);\n";
  }

  /// The offset of the element r + k from the first element of the row.
  std::string step(std::size_t index) const {
    const OperandSpec& operand = spec_.operands[index];
    if (operand.access == Access::fixed || is_whole(operand)) return "0";
    const std::string strides = operand_name(index) + "_strides", first = std::to_string(spec_.ndim);
    if (plan_.ndim > 1) return "gpulua_offset(place, " + strides + ", " + first + ")";
    if (operand.access == Access::unit) return "(r + k)";
    return operand.access == Access::splat ? "0" : "(gpulua_offset_t)(r + k) * " + strides + ".at[" + first + "]";
  }

  /// An operand that is not in registers, at this offset from the first element of the row.
  std::string operand_text(std::size_t index, const std::string& offset) const {
    const OperandSpec& operand = spec_.operands[index];
    const std::string name = operand_name(index);
    if (is_whole(operand)) return whole(operand, name);
    if (!operand.memory) return "(long long)p_" + name + " + (long long)" + offset;
    if (!moves_in_row(plan_, operand)) return loaded("x_" + name, operand.dtype);
    return loaded(is_vector(operand) ? "x_" + name + ".at[k]" : "p_" + name + "[" + offset + "]", operand.dtype);
  }

  std::string number(const OutputSpec& output) const {
    return stored(converted(value_name(output.value), value_of(output).dtype, output.dtype), output.dtype);
  }

  const KernelSpec& spec_;
  const RowSpec& plan_;
  const RowPasses passes_;
};

}  // namespace

std::string emit_family(const KernelSpec& spec, const RowSpec& family) {
  return RowText(spec, family).emit();
}

}  // namespace gpulua
