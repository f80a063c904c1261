// The text of a reduction: the threads of a block accumulate their elements, merge, and compute the values that follow
// from the results. When several blocks share a result, the last block to finish merges their accumulators in
// `scratch`. Reductions whose results are those elements are loops over registers inside (nested).

#include "src/codegen/reduction.h"

#include <algorithm>

#include "src/codegen/accumulators.h"
#include "src/codegen/body.h"
#include "src/codegen/parameters.h"

namespace gpulua {

namespace {

// Elements of a thread in one run: a multiple of the vector width.
constexpr int run_elements = 512;

class ReductionText {
 public:
  ReductionText(const KernelSpec& spec, const ReductionSpec& plan) : spec_(spec), plan_(plan) {}

  std::string emit() const {
    std::string text = accumulators();
    text += "extern \"C\" __global__ void " + bounds() + spec_.name() + parameter_list(spec_) + " {\n";
    text += "  constexpr unsigned int lanes = " + std::to_string(plan_.lanes) +
            ", slots = " + std::to_string(plan_.results) +
            ";\n  constexpr int columns = " + std::to_string(plan_.vector_results ? spec_.vector : 1) + ";\n";
    text += plan_.lanes_adjacent ? "  const unsigned int lane = threadIdx.x % lanes, slot = threadIdx.x / lanes;\n"
                                 : "  const unsigned int lane = threadIdx.x / slots, slot = threadIdx.x % slots;\n";
    text += plan_.split ? "  const gpulua_index_t group = blockIdx.x / chunks, part = blockIdx.x - group * chunks;\n"
                        : "  const gpulua_index_t group = blockIdx.x;\n";
    text +=
        "  const gpulua_index_t result = (group * slots + slot) * columns;\n"
        "  const bool live = result < results;\n"
        "  gpulua_offset_t at[" +
        std::to_string(spec_.ndim) +
        "];\n"
        "  gpulua_unravel(live ? result : 0, kept, at);\n"
        "  gpulua_accumulators sums[columns];\n"
        "  for (gpulua_accumulators& sum : sums) sum = gpulua_accumulators::identity();\n" +
        pointers(false, "  ") + stage() + hold() + accumulate();
    const std::string merge = "  for (gpulua_accumulators& sum : sums) gpulua_merge_block<lanes, slots, " +
                              std::string(plan_.lanes_adjacent ? "true" : "false") + ">(sum, lane, slot);\n";
    text += merge;
    if (plan_.split) {
      text +=
          "  if (lane == 0 && live)\n"
          "    for (int c = 0; c < columns; ++c) scratch[part * results + result + c] = sums[c];\n"
          "  if (!gpulua_is_last_block<lanes * slots>(tickets + group, (unsigned int)chunks)) return;\n"
          "  for (gpulua_accumulators& sum : sums) sum = gpulua_accumulators::identity();\n"
          "  if (live)\n"
          "    for (gpulua_index_t other = lane; other < chunks; other += lanes)\n"
          "      for (int c = 0; c < columns; ++c) sums[c].merge(scratch[other * results + result + c]);\n" +
          merge;
    }
    return text + "  if (lane != 0 || !live) return;\n" + finish() + "}\n";
  }

 private:
  bool nests() const { return !plan_.nested.empty(); }

  /// Threads that each have columns of what lies in memory wait for it: with 32 registers a multiprocessor holds 2048
  /// of them. A variance would take 48, and its blocks would come in one and a half waves.
  std::string bounds() const {
    const auto is_plain = [&](const ValueSpec& value) {
      return value.kind == ValueSpec::Kind::operand ||
             (value.kind == ValueSpec::Kind::reduction && size_of(value.compute) == 4 &&
              spec_.values[value.inputs.front()].kind == ValueSpec::Kind::operand);
    };
    const unsigned threads = plan_.lanes * plan_.results;
    if (!plan_.vector_results || spec_.vector > 4 || threads < 256 ||
        !std::all_of(spec_.values.begin(), spec_.values.end(), is_plain))
      return "";
    return "__launch_bounds__(" + std::to_string(threads) + ", " + std::to_string(2048 / threads) + ") ";
  }

  /// The accumulators of the nested reductions, or of the others.
  std::vector<Accumulator> accumulators(bool nested) const {
    std::vector<Accumulator> all;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (value.kind == ValueSpec::Kind::reduction && is_nested_reduction(spec_, value) == nested)
        all.push_back({i, std::string(value.reducer->accumulator), value.compute});
    }
    return all;
  }

  std::string accumulators() const {
    return (nests() ? accumulator_struct("gpulua_nested", accumulators(true)) : "") +
           accumulator_struct("gpulua_accumulators", accumulators(false)) +
           "static_assert(sizeof(gpulua_accumulators) <= " + std::to_string(accumulator_bytes(spec_)) +
           ", \"what blocks accumulate fits its memory\");\n\n";
  }

  /// The part of the operands' addresses that is constant for a result.
  std::string pointers(bool outer, const std::string& indent) const {
    std::string text;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      if (operand.outer != outer || is_whole(operand) || operand.staged) continue;
      const std::string name = operand_name(i);
      const std::string offset =
          operand.common ? "0"
          : has_strides(operand.access, spec_.ndim + inner_axes(operand))
              ? (operand.along_results ? "gpulua_unit_offset(at, " : "gpulua_offset(at, ") + name + "_strides)"
          : outer && operand.access == Access::unit ? "at[0]"
                                                    : "0";
      text += indent + (operand.memory ? "const auto* const p_" + name + " = " + name + " + " + offset + ";\n"
                                       : "const gpulua_offset_t p_" + name + " = " + offset + ";\n");
    }
    return text;
  }

  /// Copies the rows of a short reduction to shared memory.
  std::string stage() const {
    std::string text;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      if (!spec_.operands[i].staged) continue;
      const std::string name = operand_name(i);
      text += "  __shared__ gpulua_staged_rows<" + element_type(spec_.operands[i].dtype) + ", " +
              std::to_string(plan_.count) + ", slots> s_" + name + ";\n  s_" + name + ".copy(" + name +
              ", group * slots, results, " + name + "_strides.at[" + std::to_string(spec_.ndim - 1) + "]);\n";
    }
    return text.empty() ? text : text + "  __syncthreads();\n";
  }

  // ---- nested reductions -------------------------------------------------------------------------------------------

  bool is_nested_pack(const OperandSpec& operand) const {
    return operand.nested && operand.memory && operand.indexed == 0 && operand.access == Access::unit &&
           plan_.nested.size() == 1;
  }

  std::string nested_pack(const OperandSpec& operand) const {
    return "gpulua_pack<" + element_type(operand.dtype) + ", " + std::to_string(plan_.nested_vector) + ">";
  }

  std::string nested_loop(const std::string& indent) const {
    return indent + "#pragma unroll\n" + indent + "for (int i = 0; i < " +
           std::to_string(plan_.nested_count() / plan_.nested_vector) + "; ++i) {\n";
  }

  std::string nested_place() const { return "(i * " + std::to_string(plan_.nested_vector) + " + k)"; }

  std::string each_of_vector(const std::string& indent) const {
    return indent + "#pragma unroll\n" + indent + "for (int k = 0; k < " + std::to_string(plan_.nested_vector) +
           "; ++k) {\n";
  }

  /// The offset of an element along the nested axes.
  std::string nested_step(std::size_t index, const std::string& place) const {
    const OperandSpec& operand = spec_.operands[index];
    if (is_nested_pack(operand)) return place;
    std::string text;
    unsigned before = 1;
    for (std::size_t axis = plan_.nested.size(); axis-- > 0; before *= plan_.nested[axis]) {
      const std::string at = place + " / " + std::to_string(before) + " % " + std::to_string(plan_.nested[axis]);
      text += (text.empty() ? "" : " + ") + at + " * " + operand_name(index) + "_strides.at[" +
              std::to_string(spec_.ndim + plan_.ndim + axis) + "]";
    }
    return "(" + text + ")";
  }

  /// Loads what a thread holds for its result.
  std::string hold() const {
    std::string text;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      if (!operand.held) continue;
      const std::string name = operand_name(i);
      text += "  " + nested_pack(operand) + " h_" + name + "[" +
              std::to_string(plan_.nested_count() / plan_.nested_vector) + "];\n" + nested_loop("  ");
      if (is_nested_pack(operand))
        text += "    h_" + name + "[i] = " + nested_pack(operand) + "(p_" + name + " + i * " +
                std::to_string(plan_.nested_vector) + ");\n  }\n";
      else
        text += each_of_vector("    ") + "      h_" + name + "[i].at[k] = p_" + name + "[" +
                nested_step(i, nested_place()) + "];\n    }\n  }\n";
    }
    return text;
  }

  /// Computes the results of the nested reductions for the element at `position`.
  std::string nested(const std::string& position, const std::string& indent) const {
    std::string text = indent + "gpulua_nested inside = gpulua_nested::identity();\n" + nested_loop(indent);
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      if (operand.held || !is_nested_pack(operand)) continue;
      text += indent + "  const " + nested_pack(operand) + " x_" + operand_name(i) + "(p_" + operand_name(i) + " + " +
              step(i, position, "i * " + std::to_string(plan_.nested_vector)) + ");\n";
    }
    text += each_of_vector(indent + "  ");
    std::string results;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      const std::string member = "inside.a" + std::to_string(i);
      if (value.nested) {
        text += indent + "    " + definition(i, position, false);
      } else if (is_nested_reduction(spec_, value)) {
        const std::size_t input = value.inputs.front();
        text += indent + "    " + member + ".add(" +
                converted(value_name(input), spec_.values[input].dtype, value.compute) + ", " + nested_place() + ");\n";
        results += indent + "const " + register_type(value.dtype) + " " + value_name(i) + " = " +
                   reduced(value, member + ".result()") + ";\n";
      }
    }
    return text + indent + "  }\n" + indent + "}\n" + results;
  }

  // ---- elements ----------------------------------------------------------------------------------------------------

  /// Accumulates the block's chunk of elements. Runs keep the rounding error small: it grows with the number of
  /// additions in a row.
  std::string accumulate() const {
    const std::string chunk = plan_.split
                                  ? "  const gpulua_index_t first = part * chunk;\n"
                                    "  const gpulua_index_t last = first + chunk < count ? first + chunk : count;\n"
                                  : "  const gpulua_index_t first = 0, last = count;\n";
    if (!plan_.in_runs) return chunk + "  const gpulua_index_t begin = first, end = last;\n" + loops();
    return chunk + "  constexpr gpulua_index_t run = lanes * " + std::to_string(run_elements) +
           ";\n"
           "  gpulua_accumulators totals[columns];\n"
           "  for (gpulua_accumulators& total : totals) total = gpulua_accumulators::identity();\n"
           "  for (gpulua_index_t begin = first; begin < last; begin += run) {\n"
           "    const gpulua_index_t end = last - begin < run ? last : begin + run;\n" +
           loops() +
           "    for (int c = 0; c < columns; ++c) {\n"
           "      totals[c].merge(sums[c]);\n"
           "      sums[c] = gpulua_accumulators::identity();\n"
           "    }\n  }\n"
           "  for (int c = 0; c < columns; ++c) sums[c] = totals[c];\n";
  }

  std::string loops() const {
    const std::string single = element("1", "r", "    ");
    if (plan_.ndim > 1) {
      return "  for (gpulua_index_t r = begin + lane; r < end; r += lanes) {\n"
             "    gpulua_offset_t place[" +
             std::to_string(plan_.ndim) +
             "];\n"
             "    gpulua_unravel(r, reduced, place);\n" +
             (plan_.vector_results ? element("columns", "r", "    ") : single) + "  }\n";
    }
    // Unrolling loads several elements ahead. With random numbers it would only use up registers.
    const bool draws = std::any_of(spec_.values.begin(), spec_.values.end(),
                                   [&](const ValueSpec& value) { return is_vectorised(spec_, value); });
    const std::string width = "  constexpr int width = " + std::to_string(spec_.vector) + ";\n";
    if (plan_.count > 0) {
      return width + "  #pragma unroll " + std::to_string(draws ? 1 : std::max(1u, 16 / spec_.vector)) +
             "\n  for (gpulua_index_t r = 0; r < " + std::to_string(plan_.count) + "; r += width) {\n" +
             (spec_.vector > 1 ? element("width", "(r + k)", "    ") : single) + "  }\n";
    }
    if (spec_.vector == 1 || plan_.vector_results) {
      return "  #pragma unroll " + std::string(plan_.nested_count() > 4 ? "1" : "4") +
             "\n  for (gpulua_index_t r = begin + lane; r < end; r += lanes) {\n" +
             (plan_.vector_results ? element("columns", "r", "    ") : single) + "  }\n";
    }
    return width +
           "  const gpulua_index_t whole = begin + (end - begin) / width * width;\n"
           "  #pragma unroll " +
           std::string(draws ? "1" : "4") +
           "\n"
           "  for (gpulua_index_t r = begin + lane * width; r < whole; r += lanes * width) {\n" +
           element("width", "(r + k)", "    ") +
           "  }\n"
           "  for (gpulua_index_t r = whole + lane; r < end; r += lanes) {\n" +
           single + "  }\n";
  }

  bool is_packed(const OperandSpec& operand) const {
    if (operand.outer || !operand.memory || operand.staged || operand.indexed > 0) return false;
    return plan_.vector_results ? operand.along_results : operand.access == Access::unit;
  }

  /// Accumulates the element at `position` (of r), or `width` of them.
  std::string element(const std::string& width, const std::string& position, const std::string& indent) const {
    const bool vector = width != "1";
    std::string text;
    if (vector) {
      for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
        const OperandSpec& operand = spec_.operands[i];
        if (!is_packed(operand)) continue;
        text += indent + "const gpulua_pack<" + element_type(operand.dtype) + ", " + width + "> x_" + operand_name(i) +
                "(p_" + operand_name(i) + " + " + step(i, "r") + ");\n";
      }
      text += vectorised(spec_, "r", indent);
      text += indent + "#pragma unroll\n" + indent + "for (int k = 0; k < " + width + "; ++k) {\n";
    }
    const std::string inner = vector ? indent + "  " : indent;
    const std::string sum = vector && plan_.vector_results ? "sums[k].a" : "sums[0].a";
    if (nests()) text += nested(position, inner);
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (is_nested_reduction(spec_, value) || value.nested) continue;
      if (value.kind == ValueSpec::Kind::reduction) {
        const std::size_t input = value.inputs.front();
        text += inner + sum + std::to_string(i) + ".add(" +
                converted(value_name(input), spec_.values[input].dtype, value.compute) + ", " + position + ");\n";
      } else if (!value.outer) {
        text += inner + definition(i, position, vector);
      }
    }
    return vector ? text + indent + "}\n" : text;
  }

  std::string definition(std::size_t index, const std::string& position, bool vector) const {
    const ValueSpec& value = spec_.values[index];
    const std::string right = value.kind == ValueSpec::Kind::operand  ? operand_text(value.operand, position, vector)
                              : value.kind == ValueSpec::Kind::gather ? gathered(value, step(value.operand, position))
                              : vector && is_vectorised(spec_, value) ? vectorised_element(value, index)
                                                                      : expression(value, spec_);
    return "const " + value_type(value, spec_) + " " + value_name(index) + " = " + right + ";\n";
  }

  /// The offset of the element at `position` from the first element of the result, of a nested one at `place` inside.
  std::string step(std::size_t index, const std::string& position, const std::string& place) const {
    const OperandSpec& operand = spec_.operands[index];
    if (operand.outer || operand.access == Access::fixed) return "0";
    const std::string strides = operand_name(index) + "_strides", first = std::to_string(spec_.ndim);
    const std::string inside = operand.nested ? " + " + nested_step(index, place) : "";
    if (plan_.ndim > 1) return "gpulua_offset(place, " + strides + ", " + first + ")" + inside;
    if (operand.access == Access::unit && !operand.nested) return position;
    if (operand.access == Access::strided || operand.nested)
      return "(gpulua_offset_t)" + position + " * " + strides + ".at[" + first + "]" + inside;
    return "0";
  }

  std::string step(std::size_t index, const std::string& position) const {
    return step(index, position, nested_place());
  }

  /// The axes of the operand beyond those of the results.
  std::size_t inner_axes(const OperandSpec& operand) const {
    return (operand.outer ? 0 : plan_.ndim) + (operand.nested ? plan_.nested.size() : 0);
  }

  std::string operand_text(std::size_t index, const std::string& position, bool vector) const {
    const OperandSpec& operand = spec_.operands[index];
    const std::string name = operand_name(index);
    if (is_whole(operand)) return whole(operand, name);
    if (!operand.memory) return "(long long)p_" + name + " + (long long)" + step(index, position);
    if (operand.staged) return loaded("s_" + name + ".at(slot, " + position + ")", operand.dtype);
    if (operand.held) return loaded("h_" + name + "[i].at[k]", operand.dtype);
    if (operand.nested ? is_nested_pack(operand) : vector && is_packed(operand))
      return loaded("x_" + name + ".at[k]", operand.dtype);
    return loaded("p_" + name + "[" + step(index, position) + "]", operand.dtype);
  }

  /// Computes the values that follow from the results, and stores the outputs.
  std::string finish() const {
    const std::string indent = plan_.vector_results ? "    " : "  ";
    std::string text = pointers(true, indent);
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (is_nested_reduction(spec_, value)) continue;
      if (value.kind == ValueSpec::Kind::reduction) {
        const std::string total = (plan_.vector_results ? "sums[c].a" : "sums[0].a") + std::to_string(i) + ".result()";
        text += indent + "const " + register_type(value.dtype) + " " + value_name(i) + " = " + reduced(value, total) +
                ";\n";
      } else if (value.outer) {
        text += indent + definition(i, "", false);
      }
    }
    const std::string place = plan_.vector_results ? "[result + c] = " : "[result] = ";
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      const OutputSpec& output = spec_.outputs[i];
      const std::string number = converted(value_name(output.value), spec_.values[output.value].dtype, output.dtype);
      text += indent + output_name(i) + place + stored(number, output.dtype) + ";\n";
    }
    if (!plan_.vector_results) return text;
    return "  for (int c = 0; c < columns; ++c) {\n    gpulua_unravel(result + c, kept, at);\n" + text + "  }\n";
  }

  const KernelSpec& spec_;
  const ReductionSpec& plan_;
};

}  // namespace

std::string emit_family(const KernelSpec& spec, const ReductionSpec& family) {
  return ReductionText(spec, family).emit();
}

}  // namespace gpulua
