// The text of a reduction: the threads of a block accumulate their elements, merge, and compute the values that follow
// from the results. When several blocks share a result, the last block to finish merges their accumulators in
// `scratch`. Reductions whose results are those elements are loops over registers inside (nested).

#include "src/codegen/reduction.h"

#include <algorithm>

#include "src/codegen/accumulators.h"
#include "src/codegen/body.h"
#include "src/codegen/parameters.h"
#include "src/codegen/reduction_elements.h"

namespace gpulua {

namespace {

// Elements of a thread in one run: a multiple of the vector width.
constexpr int run_elements = 512;

class ReductionText {
 public:
  ReductionText(const KernelSpec& spec, const ReductionSpec& plan) : spec_(spec), plan_(plan), elements_(spec, plan) {}

  std::string emit() const {
    std::string text = accumulators();
    text += "__global__ void " + bounds() + spec_.name() + parameter_list(spec_) + " {\n";
    text += "  constexpr unsigned int lanes = " + std::to_string(plan_.lanes) +
            ", slots = " + std::to_string(plan_.results) +
            ";\n  constexpr int columns = " + std::to_string(plan_.vector_results ? spec_.vector : 1) + ";\n";
    text += plan_.lanes_adjacent ? "  const unsigned int lane = threadIdx.x % lanes, slot = threadIdx.x / lanes;\n"
                                 : "  const unsigned int lane = threadIdx.x / slots, slot = threadIdx.x % slots;\n";
    text += plan_.split ? "  const gpulua_index_t group = blockIdx.x / chunks, part = blockIdx.x - group * chunks;\n"
                        : "  const gpulua_index_t group = blockIdx.x;\n";
    text +=
        "  const gpulua_index_t result = (group * slots + slot) * columns;\n"
        "  const bool live = result < results;\n";
    text += "  gpulua_offset_t at[" + std::to_string(spec_.ndim) + "];\n  " + unravel("live ? result : 0") + ";\n";
    text += "  gpulua_accumulators sums[columns];\n";
    if (is_single()) text += "  gpulua_accumulators& sum = sums[0];\n  constexpr int c = 0;\n";
    text += "  " + each_sum() + "sum = gpulua_accumulators::identity();\n" + elements_.pointers(false, "  ") +
            elements_.stage() + elements_.hold() + accumulate();
    text += !plan_.split ? merge("  ") : plan_.rolled ? merge_in_rounds() : merge("  ") + merge_blocks() + merge("  ");
    return text + "  if (lane != 0 || !live) return;\n" + finish() + "}\n";
  }

 private:
  /// True for a thread with one result, whose `sum` and `c` are named once: loops over one result are code to be
  /// compiled, too.
  bool is_single() const { return plan_.rolled && !plan_.vector_results; }
  std::string each_sum() const { return is_single() ? "" : "for (gpulua_accumulators& sum : sums) "; }
  std::string each_column() const { return is_single() ? "" : "for (int c = 0; c < columns; ++c) "; }

  std::string merge(const std::string& indent) const {
    return indent + each_sum() + "gpulua_merge_block<lanes, slots, " + (plan_.lanes_adjacent ? "true" : "false") +
           ">(sum, lane, slot);\n";
  }

  std::string store_part(const std::string& indent) const {
    return indent + "if (lane == 0 && live)\n" + indent + "  " + each_column() +
           "scratch[part * results + result + c] = sums[c];\n" + indent +
           "if (!gpulua_is_last_block<lanes * slots>(tickets + group, (unsigned int)chunks)) return;\n" + indent +
           each_sum() + "sum = gpulua_accumulators::identity();\n";
  }

  /// The last block of a result takes all parts.
  std::string merge_blocks() const {
    return store_part("  ") +
           "  if (live)\n"
           "    for (gpulua_index_t other = lane; other < chunks; other += lanes)\n"
           "      for (int c = 0; c < columns; ++c) sums[c].merge(scratch[other * results + result + c]);\n";
  }

  /// The same with the text of merge() once: the first round merges a block's elements, the second the blocks.
  std::string merge_in_rounds() const {
    return "  #pragma unroll 1\n"
           "  for (int round = 0;; ++round) {\n" +
           merge("    ") + "    if (round == 1) break;\n" + store_part("    ") +
           "    for (gpulua_index_t others = 0; others < chunks; others += lanes)\n"
           "      if (const gpulua_index_t other = others + lane; live && other < chunks)\n"
           "        " +
           each_column() + "sums[c].merge(scratch[other * results + result + c]);\n  }\n";
  }

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
    return (elements_.nests() ? accumulator_struct("gpulua_nested", accumulators(true)) : "") +
           accumulator_struct("gpulua_accumulators", accumulators(false)) +
           "static_assert(sizeof(gpulua_accumulators) <= " + std::to_string(accumulator_bytes(spec_)) +
           ", \"what blocks accumulate fits its memory\");\n\n";
  }

  // ---- elements ----------------------------------------------------------------------------------------------------

  /// Accumulates the block's chunk of elements. Runs keep the rounding error small: it grows with the number of
  /// additions in a row.
  std::string accumulate() const {
    const std::string position = "const " + position_type();
    const std::string chunk = plan_.split ? "  " + position + " first = part * chunk;\n  " + position +
                                                " last = first + chunk < count ? first + chunk : count;\n"
                                          : "  " + position + " first = 0, last = count;\n";
    if (!plan_.in_runs) return chunk + "  " + position + " begin = first, end = last;\n" + loops();
    return chunk + "  constexpr gpulua_index_t run = lanes * " + std::to_string(run_elements) +
           ";\n"
           "  gpulua_accumulators totals[columns];\n"
           "  for (gpulua_accumulators& total : totals) total = gpulua_accumulators::identity();\n"
           "  for (" +
           position_type() + " begin = first; begin < last; begin += run) {\n    " + position +
           " end = last - begin < run ? last : begin + run;\n" + loops() +
           "    for (int c = 0; c < columns; ++c) {\n"
           "      totals[c].merge(sums[c]);\n"
           "      sums[c] = gpulua_accumulators::identity();\n"
           "    }\n  }\n"
           "  for (int c = 0; c < columns; ++c) sums[c] = totals[c];\n";
  }

  /// Signed where that spares the processor's compiler the case of positions that wrap around.
  std::string position_type() const { return plan_.rolled ? "gpulua_offset_t" : "gpulua_index_t"; }

  std::string loops() const {
    const std::string single = elements_.element("1", "r", "    ");
    const std::string columns = plan_.vector_results ? elements_.element("columns", "r", "    ") : single;
    const std::string places = plan_.ndim > 1 ? "    gpulua_offset_t place[" + std::to_string(plan_.ndim) +
                                                    "];\n    gpulua_unravel(r, reduced, place);\n"
                                              : "";
    if (plan_.rolled && plan_.count == 0 && (plan_.ndim > 1 || spec_.vector == 1 || plan_.vector_results))
      return in_step(places + columns);
    if (plan_.ndim > 1)
      return "  for (gpulua_index_t r = begin + lane; r < end; r += lanes) {\n" + places + columns + "  }\n";
    // Unrolling loads several elements ahead. With random numbers it would only use up registers.
    const bool draws = std::any_of(spec_.values.begin(), spec_.values.end(),
                                   [&](const ValueSpec& value) { return is_vectorised(spec_, value); });
    const unsigned most = draws ? 1 : std::max(1u, most_copies(spec_) / spec_.vector);
    const std::string unroll = "  #pragma unroll " + std::to_string(std::min(4u, most)) + "\n";
    const std::string width = "  constexpr int width = " + std::to_string(spec_.vector) + ";\n";
    if (plan_.count > 0) {
      return width + "  #pragma unroll " + std::to_string(std::clamp(16 / spec_.vector, 1u, most)) +
             "\n  for (gpulua_index_t r = 0; r < " + std::to_string(plan_.count) + "; r += width) {\n" +
             (spec_.vector > 1 ? elements_.element("width", "(r + k)", "    ") : single) + "  }\n";
    }
    if (spec_.vector == 1 || plan_.vector_results) {
      return (plan_.nested_count() > 4 ? "  #pragma unroll 1\n" : unroll) +
             "  for (gpulua_index_t r = begin + lane; r < end; r += lanes) {\n" + columns + "  }\n";
    }
    return width +
           "  const gpulua_index_t whole = begin + (end - begin) / width * width;\n" + unroll +
           "  for (gpulua_index_t r = begin + lane * width; r < whole; r += lanes * width) {\n" +
           elements_.element("width", "(r + k)", "    ") +
           "  }\n"
           "  for (gpulua_index_t r = whole + lane; r < end; r += lanes) {\n" +
           single + "  }\n";
  }

  /// All threads take the same number of elements, in a loop without a bound for each thread. The elements that are left
  /// come after it.
  static std::string in_step(const std::string& element) {
    return "  constexpr gpulua_offset_t step = lanes;\n"
           "  const gpulua_offset_t whole = begin + (end - begin) / step * step, mine = lane;\n"
           "  for (gpulua_offset_t at_once = begin; at_once < whole; at_once += step) {\n"
           "    const gpulua_offset_t r = at_once + mine;\n" +
           element +
           "  }\n"
           "  if (mine < end - whole) {\n"
           "    const gpulua_offset_t r = whole + mine;\n" +
           element + "  }\n";
  }

  /// Computes the values that follow from the results, and stores the outputs.
  std::string finish() const {
    const std::string indent = plan_.vector_results ? "    " : "  ";
    std::string text = elements_.pointers(true, indent);
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      if (is_nested_reduction(spec_, value)) continue;
      if (value.kind == ValueSpec::Kind::reduction) {
        const std::string total = (plan_.vector_results ? "sums[c].a" : "sums[0].a") + std::to_string(i) + ".result()";
        text += indent + "const " + register_type(value.dtype) + " " + value_name(i) + " = " + reduced(value, total) +
                ";\n";
      } else if (value.outer) {
        text += indent + elements_.definition(i, "", false);
      }
    }
    const std::string place = plan_.vector_results ? "[result + c] = " : "[result] = ";
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      const OutputSpec& output = spec_.outputs[i];
      const std::string number = converted(value_name(output.value), spec_.values[output.value].dtype, output.dtype);
      text += indent + output_name(i) + place + stored(number, output.dtype) + ";\n";
    }
    if (!plan_.vector_results) return text;
    return "  for (int c = 0; c < columns; ++c) {\n    " + unravel("result + c") + ";\n" + text + "  }\n";
  }

  /// Sets `at` to the place of the result.
  std::string unravel(const std::string& result) const {
    return plan_.rolled && spec_.ndim == 1 ? "at[0] = (gpulua_offset_t)(" + result + ")"
                                           : "gpulua_unravel(" + result + ", kept, at)";
  }

  const KernelSpec& spec_;
  const ReductionSpec& plan_;
  const ReductionElements elements_;
};

}  // namespace

std::string emit_family(const KernelSpec& spec, const ReductionSpec& family) {
  return ReductionText(spec, family).emit();
}

}  // namespace gpulua
