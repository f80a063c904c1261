// The schedules of reductions: the elements and results of each thread of a block, and the number of blocks that share
// one result.

#include "src/eval/reduction_schedule.h"

#include <algorithm>
#include <bit>

#include "src/codegen/row_passes.h"
#include "src/eval/nested_parts.h"
#include "src/eval/schedule_parts.h"

namespace gpulua {

namespace {

// The most elements that a thread accumulates. More elements are spread over blocks.
constexpr std::int64_t accumulated_in_a_row = 256;
// The same where so there are fewer blocks than these for each multiprocessor of a GPU: a thread then waits for memory
// once or twice instead of sixteen times.
constexpr std::int64_t least_in_a_row = 16, blocks_of_multiprocessor = 2;
// The same where there are too few blocks for the device.
constexpr std::int64_t longest_row = 1024;
// So many blocks where threads go down columns, and each has few elements on their way at once; and of variances, whose
// threads have more to compute than to wait for.
constexpr std::int64_t column_blocks_of_multiprocessor = 8, variance_blocks_of_multiprocessor = 4;
// Of a row kernel: the bytes of a row that a thread keeps in registers, and the threads of a block for short rows.
constexpr std::size_t kept_by_thread = 128;
constexpr unsigned row_block = 128;
// Of a short reduction, with a thread for each result: the most elements, and the shared memory of a block.
constexpr std::int64_t longest_short = 63;
constexpr std::size_t staged_bytes = 32 << 10;
// A GPU gives fewer results than these a warp or more each: a thread for each would leave it idle, and its kernel is of
// one length only.
constexpr std::int64_t few_results = 32;
// So many long rows fill a GPU with few warps for each.
constexpr std::int64_t enough_rows = 1024;
// The most elements of a result that a thread accumulates alone in other reductions; where a block is one warp; and
// where in addition threads merge by one operation.
constexpr std::int64_t longest_of_block = 15, longest_of_warp = 48, longest_of_quick_warp = 16;
// Of nested reductions: the bytes of operands that a thread holds in registers, and the threads that fill a
// multiprocessor.
constexpr std::size_t held_by_thread = 512;
constexpr std::int64_t filling_threads = 1024;

class ReductionChoice {
 public:
  ReductionChoice(const Step& step, const DeviceInfo& device, Schedule& schedule)
      : step_(step), device_(device), schedule_(schedule), spec_(schedule.spec) {
    split_axes(step, kept_, reduced_, nested_);
  }

  void make() {
    schedule_.results = kept_.size();
    schedule_.count = reduced_.size();
    kept_.collapse();
    reduced_.collapse();
    if (nests()) nested_.collapse();
    spec_.ndim = kept_.shape.size();
    plan_.ndim = reduced_.shape.size();
    plan_.rolled = device_.block_is_warp;
    for (const std::int64_t extent : nested_.shape) plan_.nested.push_back(static_cast<unsigned>(extent));
    schedule_.kept = kept_.shape;
    schedule_.reduced = reduced_.shape;

    Iteration& iteration = schedule_.iteration;
    iteration = kept_;
    iteration.shape.insert(iteration.shape.end(), reduced_.shape.begin(), reduced_.shape.end());
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      Dims& strides = iteration.strides[i];
      const Dims& more = reduced_.strides[i];
      if (!step_.operands[i].outer) strides.insert(strides.end(), more.begin(), more.end());
      if (step_.operands[i].nested) strides.insert(strides.end(), nested_.strides[i].begin(), nested_.strides[i].end());
      spec_.operands[i].access = access_of(step_.operands[i], strides);
    }
    spec_.wide = is_wide(step_, iteration) || reaches_far();
    if (step_.kind == Step::Kind::rows) return choose_row_threads();
    if (nests()) {
      choose_columns();
      choose_nested_threads();
      choose_held();
    } else {
      choose_threads();
      choose_vector();
      choose_fewer_lanes();
      choose_fewer_slots();
      choose_short();
    }
    choose_pieces();
    spec_.family = std::move(plan_);
  }

 private:
  bool nests() const { return !step_.nested_domain.empty(); }

  /// True when nested operands have offsets above 2^31.
  bool reaches_far() const {
    Dims shape = schedule_.iteration.shape;
    shape.insert(shape.end(), nested_.shape.begin(), nested_.shape.end());
    return std::any_of(step_.operands.begin(), step_.operands.end(), [&](const StepOperand& operand) {
      const Dims& strides = schedule_.iteration.strides[static_cast<std::size_t>(&operand - step_.operands.data())];
      return operand.nested && !is_whole(operand) && is_far(shape, strides);
    });
  }

  /// A thread computes the columns of a step that has them, which lie as reads_nested_well() demands.
  void choose_columns() {
    spec_.vector = static_cast<unsigned>(columns_of(step_));
    plan_.vector_results = spec_.vector > 1;
    if (plan_.vector_results) goes_along_results();
  }

  /// A thread computes a result. Several share one where there are too few results for the device, or where
  /// neighbouring elements of a result lie closer together in memory than neighbouring results.
  void choose_nested_threads() {
    int along_elements = 0;
    const std::int64_t results = schedule_.results / spec_.vector;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      const std::int64_t element = std::abs(reduced_.strides[i].back()), result = distance_of_threads(kept_.strides[i]);
      if (!is_whole(step_.operands[i]) && !step_.operands[i].outer && element != 0 && result != 0)
        along_elements += element < result ? 1 : -1;
    }
    const bool one_warp = device_.block_is_warp;
    const std::int64_t wanted = std::max(device_.multiprocessors, 1) * (one_warp ? 32 : filling_threads);
    const auto most = static_cast<unsigned>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(
        schedule_.count, 1, one_warp || schedule_.count < 1024 ? 32 : device_.merging_threads()))));
    plan_.lanes = along_elements > 0 && (!one_warp || schedule_.count > longest_alone()) ? most : 1;
    while (plan_.lanes < most && results * plan_.lanes < wanted) plan_.lanes *= 2;
    plan_.results = std::max(1u, (one_warp ? 32 : block_size) / plan_.lanes);
  }

  /// How far apart neighbouring threads with results of their own read an operand.
  std::int64_t distance_of_threads(const Dims& kept) const {
    const std::size_t columns = plan_.vector_results ? 1 : 0;
    return kept.size() > columns ? std::abs(kept[kept.size() - 1 - columns]) : 0;
  }

  void choose_held() {
    std::size_t bytes = 0, itemsize = 0;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      OperandSpec& operand = spec_.operands[i];
      if (!operand.nested || !operand.memory || is_whole(operand) || operand.indexed > 0) continue;
      if (is_still(nested_.strides[i])) continue;
      operand.common = is_still(kept_.strides[i]);
      if (operand.access == Access::unit) itemsize = std::max(itemsize, size_of(operand.dtype));
      if (!is_still(reduced_.strides[i])) continue;
      const std::size_t more = plan_.nested_count() * size_of(operand.dtype);
      operand.held = schedule_.count > 1 && bytes + more <= held_by_thread;
      if (operand.held) bytes += more;
    }
    if (itemsize == 0 || plan_.nested.size() > 1 || plan_.vector_results) return;
    auto width = static_cast<unsigned>(device_.access_bytes / itemsize);
    while (width > 1 && (plan_.nested.front() % width != 0 || !is_aligned(width))) width /= 2;
    plan_.nested_vector = std::max(width, 1u);
  }

  void choose_threads() {
    // Are neighbouring results, or neighbouring elements of a result, consecutive in memory for most operands? Those
    // that are the same for all results, or for all elements, are in the cache.
    int along_results = 0, along_elements = 0;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      if (is_whole(step_.operands[i]) || step_.operands[i].outer) continue;
      if (is_still(kept_.strides[i]) || is_still(reduced_.strides[i])) continue;
      along_results += kept_.strides[i].back() == 1;
      along_elements += schedule_.iteration.strides[i].back() == 1;
    }
    const bool one_warp = device_.block_is_warp;
    plan_.lanes_adjacent = along_elements >= along_results || schedule_.results == 1;
    if (schedule_.count <= longest_short && !draws() && !one_warp && !has_few_results()) {
      plan_.lanes = 1;
      plan_.results = block_size;
      while (plan_.results > 32 && schedule_.results < plan_.results * 8 * device_.multiprocessors) plan_.results /= 2;
    } else if (plan_.lanes_adjacent) {
      plan_.lanes = lanes_of_row();
      plan_.results = one_warp ? 32 / std::min(plan_.lanes, 32u) : block_size / plan_.lanes;
    } else {
      plan_.lanes = schedule_.count >= 64 && !one_warp ? 8 : 1;
      plan_.results = one_warp ? block_size : 32;
    }
  }

  /// A warp has a row of up to 1024 elements. Of longer rows, where there are enough, a thread of a GPU has 32 elements
  /// or more: merging then takes little of its time.
  unsigned lanes_of_row() const {
    if (schedule_.count < 1024 || device_.block_is_warp)
      return schedule_.count > longest_alone() || has_few_results() ? 32 : 1;
    if (schedule_.results < enough_rows) return block_size;
    const auto lanes = static_cast<unsigned>(std::bit_ceil(static_cast<std::uint64_t>(schedule_.count) / 32));
    return std::min(lanes, block_size);
  }

  /// A row goes to as few threads as can keep it in registers, if there are enough of them to load it at once.
  void choose_row_threads() {
    auto& family = spec_.family.emplace<RowSpec>();
    family.ndim = plan_.ndim;
    const bool one_warp = device_.block_is_warp;
    const auto count = std::max<std::uint64_t>(static_cast<std::uint64_t>(schedule_.count), 1);
    family.items = 1;
    choose_row_vector();
    const std::size_t bytes = std::max<std::size_t>(row_passes(spec_, family).bytes, 4);
    const std::uint64_t most = std::max<std::uint64_t>(kept_by_thread / bytes, spec_.vector);
    const auto threads_for = [&](std::uint64_t elements) {
      return static_cast<unsigned>(std::bit_ceil((count + elements - 1) / elements));
    };
    family.lanes = std::min(threads_for(spec_.vector), 32u);
    if (!one_warp) family.lanes = std::clamp(threads_for(most), family.lanes, device_.max_threads_per_block);
    family.results = std::max(1u, (one_warp ? 32 : row_block) / family.lanes);
    const std::uint64_t vectors = std::uint64_t{family.lanes} * spec_.vector;
    family.items = one_warp ? 0 : rounded_up(static_cast<unsigned>((count + vectors - 1) / vectors));
  }

  static bool is_still(const Dims& strides) {
    return std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
  }

  bool has_few_results() const { return schedule_.results < few_results && !device_.block_is_warp; }

  /// A power of two, or one and a half: two kernels serve rows of up to twice the length.
  static unsigned rounded_up(unsigned items) {
    const unsigned step = std::max(1u, std::bit_floor(items) / 2);
    return (items + step - 1) / step * step;
  }

  /// The most elements of a result that a thread accumulates alone.
  std::int64_t longest_alone() const {
    if (!device_.block_is_warp) return longest_of_block;
    const bool is_quick = std::all_of(spec_.values.begin(), spec_.values.end(),
                                      [&](const ValueSpec& value) { return merges_quickly(value); });
    return is_quick ? longest_of_quick_warp : longest_of_warp;
  }

  /// False for a reduction of the step that needs more than one operation to merge two results: positions, means.
  bool merges_quickly(const ValueSpec& value) const {
    if (value.kind != ValueSpec::Kind::reduction || is_nested_reduction(spec_, value)) return true;
    const ReductionRule rule = value.reducer->rule;
    return rule == ReductionRule::truth || rule == ReductionRule::count ||
           (rule != ReductionRule::position && !value.reducer->combine.empty());
  }

  bool draws() const {
    return std::any_of(spec_.values.begin(), spec_.values.end(),
                       [&](const ValueSpec& value) { return is_vectorised(spec_, value); });
  }

  /// Each thread of a short reduction has a row. Rows of more than two vectors that lie one after the other are copied
  /// to shared memory first, so that the block reads memory in order. Other rows are read in vectors where that is
  /// possible.
  void choose_short() {
    if (plan_.lanes > 1 || !plan_.lanes_adjacent || plan_.ndim > 1 || device_.block_is_warp) return;
    if (schedule_.count < 2 || schedule_.count > longest_short) return;
    plan_.count = static_cast<unsigned>(schedule_.count);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      OperandSpec& operand = spec_.operands[i];
      if (!is_packed(operand)) continue;
      const std::size_t itemsize = size_of(operand.dtype);
      const std::size_t more = itemsize < 4 ? ((plan_.count * itemsize + 3) / 4 | 1) * 4 : (plan_.count | 1) * itemsize;
      const auto width = std::min(plan_.count & -plan_.count, static_cast<unsigned>(device_.access_bytes / itemsize));
      operand.staged = plan_.count > 2 * width && has_even_rows(i) && 32 * (bytes + more) <= staged_bytes;
      if (operand.staged) bytes += more;
    }
    spec_.vector = widest_packed();
    while (spec_.vector > 1 && (plan_.count % spec_.vector != 0 || !is_aligned(spec_.vector))) spec_.vector /= 2;
    while (plan_.results > 32 && plan_.results * bytes > staged_bytes) plan_.results /= 2;
  }

  /// True where all rows of the operand are equally far apart.
  bool has_even_rows(std::size_t i) const {
    const Dims& strides = kept_.strides[i];
    for (std::size_t axis = strides.size() - 1; axis > 0; --axis)
      if (strides[axis - 1] != strides[axis] * kept_.shape[axis]) return false;
    return strides.back() != 0;
  }

  void choose_row_vector() {
    if (plan_.ndim > 1) return;
    std::size_t itemsize = 0;
    for (const OutputSpec& output : spec_.outputs) itemsize = std::max(itemsize, size_of(output.dtype));
    spec_.vector = widest_packed(itemsize);
    while (spec_.vector > 1 && (schedule_.count % spec_.vector != 0 || !is_aligned(spec_.vector))) spec_.vector /= 2;
  }

  void choose_vector() {
    plan_.vector_results = !plan_.lanes_adjacent && goes_along_results();
    if (!plan_.vector_results && (!plan_.lanes_adjacent || plan_.ndim > 1 || plan_.lanes == 1)) return;
    for (unsigned width = widest_packed(); width > 1; width /= 2) {
      if (!is_aligned(width)) continue;
      spec_.vector = width;
      return;
    }
    plan_.vector_results = false;
  }

  /// Gives a row to no more threads than have two vectors of it. A block that is one warp keeps its lanes.
  void choose_fewer_lanes() {
    if (!plan_.lanes_adjacent || plan_.lanes > 32 || device_.block_is_warp || has_few_results()) return;
    while (plan_.lanes > 1 && plan_.lanes * spec_.vector >= schedule_.count) {
      plan_.lanes /= 2;
      plan_.results *= 2;
    }
  }

  /// Threads that have no column of a narrow matrix go down the others' columns.
  void choose_fewer_slots() {
    if (plan_.lanes_adjacent || plan_.lanes == 1 || device_.block_is_warp) return;
    const std::int64_t columns = plan_.vector_results ? spec_.vector : 1;
    while (plan_.results / 2 * columns >= schedule_.results && plan_.lanes * 8 <= schedule_.count) {
      plan_.results /= 2;
      plan_.lanes *= 2;
    }
  }

  /// True when the elements of neighbouring results are consecutive or the same, for each operand.
  bool goes_along_results() {
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      if (is_whole(step_.operands[i]) || step_.operands[i].outer || step_.operands[i].nested) continue;
      if (!step_.operands[i].node || step_.operands[i].gather) return false;
      const std::int64_t stride = kept_.strides[i].back();
      if (stride != 0 && stride != 1) return false;
      spec_.operands[i].along_results = stride == 1;
    }
    return true;
  }

  /// True when a thread loads the operand in vectors.
  bool is_packed(const OperandSpec& operand) const {
    if (!operand.memory || operand.outer || operand.staged || operand.indexed > 0 || operand.nested != nests())
      return false;
    return plan_.vector_results ? operand.along_results : operand.access == Access::unit;
  }

  /// The elements of the widest vectors, of operands and of what takes `itemsize` bytes.
  unsigned widest_packed(std::size_t itemsize = 0) const {
    for (const OperandSpec& operand : spec_.operands)
      if (is_packed(operand)) itemsize = std::max(itemsize, size_of(operand.dtype));
    return widest(spec_, device_, itemsize == 0 ? 16 : itemsize);
  }

  bool is_aligned(unsigned width) const {
    // Vectors need stride 1 along their axis, and along the other axes multiples of the width.
    if (plan_.vector_results && kept_.shape.back() % width != 0) return false;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      if (!is_packed(spec_.operands[i]) && !are_positions_drawn_from(spec_, i)) continue;
      if (step_.operands[i].layout.offset % width != 0) return false;
      const Dims& strides = schedule_.iteration.strides[i];
      const std::size_t along = (plan_.vector_results ? kept_.shape.size() : strides.size()) - 1;
      for (std::size_t axis = 0; axis < strides.size(); ++axis)
        if (axis != along && strides[axis] % width != 0) return false;
    }
    return true;
  }

  /// The blocks of a multiprocessor whose loads, on their way at the same time, hide the wait for memory.
  std::int64_t blocks_for_latency() const {
    if (plan_.lanes_adjacent) return blocks_of_multiprocessor;
    const bool has_variance = std::ranges::any_of(spec_.values, [](const ValueSpec& value) {
      return value.kind == ValueSpec::Kind::reduction && value.reducer->passes > 1;
    });
    return has_variance ? variance_blocks_of_multiprocessor : column_blocks_of_multiprocessor;
  }

  void choose_pieces() {
    const std::int64_t slots = plan_.results * (plan_.vector_results ? spec_.vector : 1);
    const std::int64_t groups = (schedule_.results + slots - 1) / slots;
    const std::int64_t lane_elements = plan_.lanes * accumulated_in_a_row;
    std::int64_t wanted = std::max<std::int64_t>(1, (schedule_.count + lane_elements - 1) / lane_elements);
    if (!device_.block_is_warp) {
      const std::int64_t filling =
          blocks_for_latency() * std::max(device_.multiprocessors, 1) / std::max<std::int64_t>(groups, 1);
      wanted = std::max(wanted, std::min(filling, schedule_.count / (plan_.lanes * least_in_a_row)));
    }
    // With many results, more blocks than fill the device are of no use.
    const std::int64_t enough =
        std::max<std::int64_t>(1, 64 * std::max(device_.multiprocessors, 1) / std::max<std::int64_t>(groups, 1));
    std::int64_t& chunk = schedule_.chunk;
    schedule_.chunks = schedule_.results == 1 ? wanted : std::min(wanted, enough);
    chunk = (schedule_.count + schedule_.chunks - 1) / schedule_.chunks;
    chunk = (chunk + 63) / 64 * 64;  // each chunk begins at a multiple of the vector width
    schedule_.chunks = std::max<std::int64_t>(1, (schedule_.count + chunk - 1) / std::max<std::int64_t>(chunk, 1));
    plan_.split = schedule_.chunks > 1;
    plan_.in_runs = chunk > plan_.lanes * longest_row;
  }

  const Step& step_;
  const DeviceInfo& device_;
  Schedule& schedule_;
  KernelSpec& spec_;
  ReductionSpec plan_;
  Iteration kept_, reduced_, nested_;
};

}  // namespace

void choose_reduction(const Step& step, const DeviceInfo& device, Schedule& schedule) {
  ReductionChoice(step, device, schedule).make();
}

}  // namespace gpulua
