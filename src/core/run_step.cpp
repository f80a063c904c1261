// One kernel: which variant of it fits the shapes and the device, and its arguments.

#include "src/core/run_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>

#include "src/codegen/body.h"
#include "src/codegen/emit.h"
#include "src/core/arguments.h"
#include "src/core/array.h"
#include "src/core/iteration.h"
#include "src/core/tiling.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
// A row of the innermost axis gets blocks of its own from so many elements a thread on; shorter ones share blocks.
constexpr std::int64_t row_threads = 32;
// Elements that a thread of a reduction accumulates one after the other; more of them are spread over blocks.
constexpr std::int64_t accumulated_in_a_row = 256;

/// True for what has no place in the iteration.
bool is_whole(const StepOperand& operand) {
  return operand.value || operand.raw;
}

/// A kernel and how it moves through memory: what a step comes to for its operands' shapes.
class Launch {
 public:
  Launch(const Step& step, OpenDevice& device) : step_(step), device_(device) {
    spec_.operands.reserve(step.operands.size());
    spec_.outputs.reserve(step.outputs.size());
    iteration_.strides.reserve(step.operands.size() + step.outputs.size());
    for (const StepOperand& operand : step.operands) {
      OperandSpec spec;
      spec.dtype = operand.dtype;
      spec.memory = operand.node != nullptr;
      spec.outer = operand.outer;
      if (operand.indexed) spec.indexed = static_cast<std::uint16_t>(operand.indexed->axes.size());
      spec_.operands.push_back(spec);
    }
    spec_.values = step.values;
    for (const StepOutput& output : step.outputs)
      spec_.outputs.push_back({output.target ? output.target->dtype : output.node->dtype, Access::unit, output.value,
                               output.indices, output.places && output.places->combine == Combine::add, output.mask});
    if (step.reduces)
      choose_reduction();
    else if (step.compresses)
      choose_compression();
    else
      choose_elementwise();
  }

  const KernelSpec& spec() const { return spec_; }
  bool empty() const { return iteration_.size() == 0; }

  /// `outputs`: the nodes to write, in the step's order.
  void run(const std::vector<const Node*>& outputs) {
    const std::shared_ptr<Kernel>& kernel = device_.kernel(spec_.key(), [&] { return emit(spec_); });
    const StreamRef& stream = device_.stream();
    Arguments arguments;
    LaunchConfig config;
    BufferRef scratch;
    if (step_.reduces)
      scratch = add_reduction(arguments, config);
    else
      add_elementwise(arguments, config);
    for (std::size_t i = 0; i < step_.operands.size(); ++i) add_operand(arguments, i, stream);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const BufferRef& buffer = outputs[i]->buffer();
      const Scatter* places = step_.outputs[i].places;
      const Layout& layout = places ? places->at->layout : outputs[i]->layout;
      arguments.add(static_cast<char*>(buffer->write(stream)) +
                    layout.offset * static_cast<std::int64_t>(outputs[i]->itemsize()));
      if (!step_.reduces) add_strides(arguments, spec_.outputs[i].access, step_.operands.size() + i);
      if (places) add_indexed(arguments, *places->at, places->origin);
    }
    device_.launch(kernel, config, arguments.pointers(*kernel).data(), stream, moved_bytes());
  }

  /// As run, for a step that compresses: gives how many elements there are, once it is done.
  std::int64_t compress(const Node& output) {
    const std::shared_ptr<Kernel>& kernel = device_.kernel(spec_.key(), [&] { return emit(spec_); });
    const StreamRef& stream = device_.stream();
    const std::int64_t inner = iteration_.shape.back(), size = iteration_.size();
    const std::int64_t tile = std::int64_t{spec_.compress.threads} * spec_.compress.items;
    Arguments arguments;
    LaunchConfig config;
    config.block.x = spec_.compress.threads;
    config.grid.x = static_cast<unsigned>((size + tile - 1) / tile);
    add_index(arguments, size);
    if (spec_.ndim > 1) {
      add_extents(arguments, {inner});
      add_extents(arguments, Dims(iteration_.shape.begin(), iteration_.shape.end() - 1));
    }
    // A gpulua_compress_state: the ticket, the total, and a word for each tile.
    const Array state = gpulua::empty(device_, {2 + std::int64_t{config.grid.x}}, DType::uint64);
    char* words = state->write(stream);
    const char zero = 0;
    device_.device().fill(words, &zero, 1, state->nbytes(), *stream);
    const std::array<char*, 3> pointers{words, words + 8, words + 16};
    arguments.add(pointers.data(), sizeof pointers);
    for (std::size_t i = 0; i < step_.operands.size(); ++i) add_operand(arguments, i, stream);
    arguments.add(output.write(stream));
    device_.launch(kernel, config, arguments.pointers(*kernel).data(), stream, moved_bytes());
    std::int64_t total = 0;
    device_.download(&total, words + 8, sizeof total);
    return total;
  }

 private:
  // ---- elementwise
  // ----------------------------------------------------------------------------------------------------

  /// An iteration over the whole domain, with the operands' strides.
  void start_iteration() {
    iteration_.shape = step_.domain;
    for (const StepOperand& operand : step_.operands)
      iteration_.strides.push_back(is_whole(operand) ? Dims(step_.domain.size(), 0) : operand.layout.strides);
  }

  void collapse_iteration() {
    iteration_.collapse();
    spec_.ndim = iteration_.shape.size();
    for (std::size_t i = 0; i < step_.operands.size(); ++i)
      spec_.operands[i].access = step_.operands[i].value ? Access::value
                                 : step_.operands[i].raw ? Access::raw
                                                         : access(iteration_.strides[i]);
  }

  void choose_elementwise() {
    start_iteration();
    for (const StepOutput& output : step_.outputs) iteration_.strides.push_back(output.layout().strides);
    if (step_.outputs.front().target && !step_.outputs.front().places) iteration_.follow(step_.operands.size());
    collapse_iteration();
    for (std::size_t i = 0; i < step_.outputs.size(); ++i)
      spec_.outputs[i].access = access(iteration_.strides[step_.operands.size() + i]);
    spec_.wide = is_wide(iteration_) || reads_far();
    if (!is_indexed()) choose_tiles(spec_, iteration_, device_.info().merging_threads);
    if (spec_.tile != 0) return;

    const std::int64_t inner = iteration_.shape.back();
    for (unsigned width = widest(); width > 1; width /= 2) {
      spec_.rows = spec_.ndim == 1 || inner >= row_threads * width;
      if ((!spec_.rows && inner % width != 0) || !aligned(width)) continue;
      spec_.vector = width;
      break;
    }
    spec_.rows = spec_.ndim == 1 || inner >= row_threads * spec_.vector;
  }

  void choose_compression() {
    spec_.compresses = true;
    start_iteration();
    collapse_iteration();
    spec_.wide = is_wide(iteration_) || reads_far();
    if (device_.info().merging_threads == 32) spec_.compress.threads = 32;
    // What a block keeps is put in order in 16 KiB of its shared memory.
    spec_.compress.items =
        static_cast<unsigned>(std::clamp<std::size_t>(64 / size_of(spec_.outputs.front().dtype), 4, 32));
    spec_.vector = spec_.ndim > 1 ? 1 : std::min(widest(), spec_.compress.items);
    while (spec_.vector > 1 && !aligned(spec_.vector)) spec_.vector /= 2;
  }

  /// The most elements that a thread can move at once.
  unsigned widest() const {
    std::size_t itemsize = 1;
    for (const OperandSpec& operand : spec_.operands)
      if (operand.memory && operand.access == Access::unit && operand.indexed == 0)
        itemsize = std::max(itemsize, size_of(operand.dtype));
    for (const OutputSpec& output : spec_.outputs)
      if (!output.mask) itemsize = std::max(itemsize, size_of(output.dtype));
    return widest(itemsize);
  }

  unsigned widest(std::size_t itemsize) const {
    const auto width = static_cast<unsigned>(std::clamp<std::size_t>(device_.info().access_bytes / itemsize, 1, 8));
    return std::max(width, drawn_at_once());
  }

  /// The random numbers that a thread gets for the price of one; 1 where it draws none.
  unsigned drawn_at_once() const {
    unsigned numbers = 1;
    for (const ValueSpec& value : spec_.values)
      if (comes_in_several(spec_, value)) numbers = std::max(numbers, size_of(value.compute) == 8 ? 2u : 4u);
    return numbers;
  }

  /// True for the positions of what is drawn, which begin at multiples of the width as well.
  bool are_positions_drawn_from(std::size_t index) const {
    const OperandSpec& operand = spec_.operands[index];
    return operand.access == Access::unit && !operand.memory && !operand.outer && drawn_at_once() > 1;
  }

  bool aligned(unsigned width) const {
    const auto fits = [&](const Dims& strides, const Layout& layout) {
      if (layout.offset % width != 0) return false;
      return std::all_of(strides.begin(), strides.end() - 1, [&](std::int64_t stride) { return stride % width == 0; });
    };
    for (std::size_t i = 0; i < step_.operands.size(); ++i)
      if ((are_positions_drawn_from(i) ||
           (spec_.operands[i].memory && spec_.operands[i].access == Access::unit && spec_.operands[i].indexed == 0)) &&
          !fits(iteration_.strides[i], step_.operands[i].layout))
        return false;
    for (std::size_t i = 0; i < step_.outputs.size(); ++i) {
      const StepOutput& output = step_.outputs[i];
      if (spec_.outputs[i].access == Access::unit && !output.places && !output.mask &&
          !fits(iteration_.strides[step_.operands.size() + i], output.layout()))
        return false;
    }
    return true;
  }

  void add_tiled(Arguments& arguments, LaunchConfig& config) const {
    Dims tiles = iteration_.shape;
    for (std::size_t axis = tiles.size() - 2; axis < tiles.size(); ++axis)
      tiles[axis] = (tiles[axis] + spec_.tile - 1) / spec_.tile;
    config.block.x = 32 * spec_.lines;
    config.grid.x = static_cast<unsigned>(Iteration{tiles, {}}.size());
    add_index(arguments, iteration_.shape.back());
    add_index(arguments, tiles.back());
    add_index(arguments, *(iteration_.shape.end() - 2));
    add_extents(arguments, {tiles.begin(), tiles.end() - 1});
  }

  void add_elementwise(Arguments& arguments, LaunchConfig& config) const {
    if (spec_.tile != 0) return add_tiled(arguments, config);
    const std::int64_t inner = iteration_.shape.back(), size = iteration_.size(), width = spec_.vector;
    config.block.x = block_size;
    if (spec_.rows) {
      const std::int64_t items = (inner + width - 1) / width;
      if (items < block_size) config.block.x = static_cast<unsigned>((items + 31) / 32 * 32);
      const std::int64_t blocks = (items + config.block.x - 1) / config.block.x;
      config.grid.x = static_cast<unsigned>(blocks * (size / inner));
      add_index(arguments, inner);
      add_index(arguments, blocks);
    } else {
      config.grid.x = static_cast<unsigned>((size / width + block_size - 1) / block_size);
      add_index(arguments, size);
      add_extents(arguments, {inner});
    }
    if (spec_.ndim > 1) add_extents(arguments, {iteration_.shape.begin(), iteration_.shape.end() - 1});
  }

  // ---- reductions
  // -----------------------------------------------------------------------------------------------------

  void choose_reduction() {
    spec_.reduces = true;
    Iteration kept, reduced;
    for (std::size_t axis = 0; axis < step_.domain.size(); ++axis)
      (is_reduced(axis) ? reduced : kept).shape.push_back(step_.domain[axis]);
    for (const StepOperand& operand : step_.operands) {
      kept.strides.emplace_back();
      reduced.strides.emplace_back();
      const bool has_axes = step_.result.size() == step_.domain.size();  // with keepdims the result has all axes
      std::size_t result_axis = 0;
      for (std::size_t axis = 0; axis < step_.domain.size(); ++axis) {
        const bool is_kept = !is_reduced(axis);
        if (is_whole(operand) || (operand.outer && !is_kept)) {
          (is_kept ? kept : reduced).strides.back().push_back(0);
        } else {
          const std::size_t at = operand.outer && !has_axes ? result_axis : axis;
          (is_kept ? kept : reduced).strides.back().push_back(operand.layout.strides[at]);
        }
        result_axis += is_kept;
      }
    }
    results_ = kept.size();
    count_ = reduced.size();
    kept.collapse();
    reduced.collapse();
    spec_.ndim = kept.shape.size();
    spec_.reduction.ndim = reduced.shape.size();
    kept_ = kept.shape;
    reduced_ = reduced.shape;

    iteration_ = kept;
    iteration_.shape.insert(iteration_.shape.end(), reduced.shape.begin(), reduced.shape.end());
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      Dims& strides = iteration_.strides[i];
      if (!step_.operands[i].outer) strides.insert(strides.end(), reduced.strides[i].begin(), reduced.strides[i].end());
      spec_.operands[i].access = step_.operands[i].value ? Access::value
                                 : step_.operands[i].raw ? Access::raw
                                                         : access(strides);
    }
    spec_.wide = is_wide(iteration_) || reads_far();
    choose_block(kept);
    iteration_.shape = kept.shape;  // nothing to run means no results
  }

  bool is_reduced(std::size_t axis) const { return (step_.axes >> axis & 1) != 0; }

  void choose_block(const Iteration& kept) {
    ReductionSpec& plan = spec_.reduction;
    // Which neighbours lie side by side in memory, for most of the operands?
    int along_results = 0, along_elements = 0;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      if (is_whole(step_.operands[i]) || step_.operands[i].outer) continue;
      along_results += kept.strides[i].back() == 1;
      along_elements += iteration_.strides[i].back() == 1;
    }
    const bool one_warp = device_.info().merging_threads == 32;
    plan.lanes_adjacent = along_elements >= along_results || results_ == 1;
    if (plan.lanes_adjacent) {
      plan.lanes = count_ >= 1024 && !one_warp ? 256 : count_ >= 16 ? 32 : 1;
      plan.results = one_warp ? 32 / std::min(plan.lanes, 32u) : block_size / plan.lanes;
    } else {
      plan.lanes = count_ >= 64 && !one_warp ? 8 : 1;
      plan.results = one_warp ? block_size : 32;
    }
    std::int64_t groups = (results_ + plan.results - 1) / plan.results;
    choose_reduction_vector(kept);
    if (plan.vector_results) groups = (results_ + plan.results * spec_.vector - 1) / (plan.results * spec_.vector);
    const std::int64_t lane_elements = plan.lanes * accumulated_in_a_row;
    const std::int64_t wanted = std::max<std::int64_t>(1, (count_ + lane_elements - 1) / lane_elements);
    // More blocks than fill the device are of no use where there are many results anyway.
    const std::int64_t enough =
        std::max<std::int64_t>(1, 64 * std::max(device_.info().multiprocessors, 1) / std::max<std::int64_t>(groups, 1));
    pieces_ = results_ == 1 ? wanted : std::min(wanted, enough);
    piece_ = (count_ + pieces_ - 1) / pieces_;
    piece_ = (piece_ + 63) / 64 * 64;  // so that each begins at a multiple of the vector's width
    pieces_ = std::max<std::int64_t>(1, (count_ + piece_ - 1) / std::max<std::int64_t>(piece_, 1));
    plan.several_blocks = pieces_ > 1;
  }

  void choose_reduction_vector(const Iteration& kept) {
    ReductionSpec& plan = spec_.reduction;
    spec_.vector = 1;
    plan.vector_results = !plan.lanes_adjacent && goes_along_results(kept);
    if (!plan.vector_results && (!plan.lanes_adjacent || plan.ndim > 1 || plan.lanes == 1)) return;
    for (unsigned width = widest_inner(); width > 1; width /= 2) {
      if (!inner_aligned(width, kept)) continue;
      spec_.vector = width;
      return;
    }
    plan.vector_results = false;
  }

  /// Whether each operand is next to, or the same as, that of the next result.
  bool goes_along_results(const Iteration& kept) {
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      if (is_whole(step_.operands[i]) || step_.operands[i].outer) continue;
      if (!step_.operands[i].node || step_.operands[i].indexed) return false;
      if (kept.strides[i].back() > 1 || kept.strides[i].back() < 0) return false;
      spec_.operands[i].along_results = kept.strides[i].back() == 1;
    }
    return true;
  }

  /// Whether a thread takes vectors of the operand.
  bool is_packed(const OperandSpec& operand) const {
    if (!operand.memory || operand.outer || operand.indexed > 0) return false;
    return spec_.reduction.vector_results ? operand.along_results : operand.access == Access::unit;
  }

  unsigned widest_inner() const {
    std::size_t itemsize = 16;
    for (const OperandSpec& operand : spec_.operands)
      if (is_packed(operand))
        itemsize = itemsize == 16 ? size_of(operand.dtype) : std::max(itemsize, size_of(operand.dtype));
    return widest(itemsize);
  }

  bool inner_aligned(unsigned width, const Iteration& kept) const {
    // The axis that vectors go along: its stride is 1, those of the others are multiples of the width.
    const std::size_t along = spec_.reduction.vector_results ? kept.shape.size() - 1 : iteration_.shape.size() - 1;
    if (spec_.reduction.vector_results && kept.shape.back() % width != 0) return false;
    for (std::size_t i = 0; i < step_.operands.size(); ++i) {
      if (!is_packed(spec_.operands[i]) && !are_positions_drawn_from(i)) continue;
      if (step_.operands[i].layout.offset % width != 0) return false;
      const Dims& strides = iteration_.strides[i];
      for (std::size_t axis = 0; axis < strides.size(); ++axis)
        if (axis != along && strides[axis] % width != 0) return false;
    }
    return true;
  }

  /// Gives the memory that the blocks share, which lives until the kernel is queued.
  BufferRef add_reduction(Arguments& arguments, LaunchConfig& config) const {
    const ReductionSpec& plan = spec_.reduction;
    const std::int64_t slots = plan.results * (plan.vector_results ? spec_.vector : 1);
    const std::int64_t groups = (results_ + slots - 1) / slots;
    config.block.x = plan.lanes * plan.results;
    config.grid.x = static_cast<unsigned>(groups * pieces_);
    add_index(arguments, results_);
    add_index(arguments, count_);
    add_index(arguments, piece_);
    add_index(arguments, pieces_);
    add_extents(arguments, kept_);
    add_extents(arguments, reduced_);
    if (!plan.several_blocks) return nullptr;

    const std::size_t accumulators = accumulator_bytes();
    const std::size_t counters = (static_cast<std::size_t>(groups) * 4 + 255) / 256 * 256;
    const std::size_t bytes = counters + accumulators * static_cast<std::size_t>(pieces_ * results_);
    const Array scratch = gpulua::empty(device_, {static_cast<std::int64_t>(bytes)}, DType::uint8);
    const StreamRef& stream = device_.stream();
    char* memory = scratch->write(stream);
    const char zero = 0;
    device_.device().fill(memory, &zero, 1, counters, *stream);
    arguments.add(memory + counters);
    arguments.add(memory);
    return scratch->buffer();
  }

  /// The size of the kernel's gpulua_accumulators: the sum of its members', each of which is made of numbers of 8 bytes
  /// or fewer.
  std::size_t accumulator_bytes() const {
    std::size_t bytes = 0;
    for (const ValueSpec& value : spec_.values)
      if (value.kind == ValueSpec::Kind::reduction) bytes += 32 + 2 * size_of(value.compute);
    return bytes;
  }

  // ---- arguments that both have
  // -----------------------------------------------------------------------------------------

  /// Each element that is read or written, once.
  double moved_bytes() const {
    const auto elements = [](const Layout& layout) {
      double count = 1;
      for (std::size_t axis = 0; axis < layout.ndim(); ++axis)
        if (layout.strides[axis] != 0) count *= static_cast<double>(layout.shape[axis]);
      return count;
    };
    double bytes = 0;
    for (const StepOperand& operand : step_.operands)
      if (operand.node)
        bytes += (operand.indexed ? static_cast<double>(operand.layout.size()) : elements(operand.layout)) *
                 static_cast<double>(size_of(operand.dtype));
    for (const StepOutput& output : step_.outputs)
      if (!output.mask)
        bytes += static_cast<double>(output.layout().size()) *
                 static_cast<double>((output.target ? output.target : output.node)->itemsize());
    return bytes;
  }

  bool is_wide(const Iteration& iteration) const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::int64_t size = 1;
    for (std::int64_t extent : iteration.shape) size *= std::max<std::int64_t>(extent, 1);
    // A thread past the end computes its position before it sees that.
    if (size > most - std::int64_t{block_size} * 8) return true;
    return std::any_of(iteration.strides.begin(), iteration.strides.end(), [&](const Dims& strides) {
      return strides.size() == iteration.shape.size() && reach(iteration.shape, strides) > most;
    });
  }

  /// True when index arrays say where an operand's or an output's elements are.
  bool is_indexed() const {
    const auto reads = [](const StepOperand& operand) { return operand.indexed != nullptr; };
    const auto writes = [](const StepOutput& output) { return output.places != nullptr; };
    return std::any_of(step_.operands.begin(), step_.operands.end(), reads) ||
           std::any_of(step_.outputs.begin(), step_.outputs.end(), writes);
  }

  /// True when index arrays may lead past 2^31 elements.
  bool reads_far() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto far = [&](const Indexed& at) {
      std::int64_t farthest = reach(at.layout.shape, at.layout.strides);
      for (const IndexedAxis& axis : at.axes) farthest += std::abs(axis.extent * axis.stride);
      return farthest > most;
    };
    return std::any_of(step_.operands.begin(), step_.operands.end(),
                       [&](const StepOperand& operand) { return operand.indexed && far(*operand.indexed); }) ||
           std::any_of(step_.outputs.begin(), step_.outputs.end(),
                       [&](const StepOutput& output) { return output.places && far(*output.places->at); });
  }

  /// A gpulua_indexed.
  void add_indexed(Arguments& arguments, const Indexed& at, const Origin& origin) const {
    std::vector<std::int64_t> words{std::bit_cast<std::int64_t>(device_.index_faults().word()),
                                    std::bit_cast<std::int64_t>(origin.chunk), origin.line};
    for (const IndexedAxis& axis : at.axes) words.insert(words.end(), {axis.extent, axis.stride, axis.number});
    arguments.add(words.data(), words.size() * sizeof words[0]);
  }

  void add_index(Arguments& arguments, std::int64_t number) const {
    if (spec_.wide)
      arguments.add(number);
    else
      arguments.add(static_cast<std::uint32_t>(number));
  }

  void add_extents(Arguments& arguments, const Dims& shape) const {
    if (spec_.wide) return arguments.add(shape.data(), shape.size() * sizeof(std::int64_t));
    std::vector<std::array<std::uint32_t, 3>> dividers;
    for (std::int64_t extent : shape) {
      const auto divisor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
      const auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
      const std::uint64_t multiplier = (((std::uint64_t{1} << shift) - divisor) << 32) / divisor + 1;
      dividers.push_back({static_cast<std::uint32_t>(divisor), static_cast<std::uint32_t>(multiplier), shift});
    }
    arguments.add(dividers.data(), dividers.size() * sizeof dividers[0]);
  }

  void add_strides(Arguments& arguments, Access access, std::size_t index) const {
    const Dims& strides = iteration_.strides[index];
    if (!has_strides(access, strides.size())) return;
    if (spec_.wide) return arguments.add(strides.data(), strides.size() * sizeof(std::int64_t));
    const std::vector<std::int32_t> narrow(strides.begin(), strides.end());
    arguments.add(narrow.data(), narrow.size() * sizeof(std::int32_t));
  }

  void add_operand(Arguments& arguments, std::size_t index, const StreamRef& stream) const {
    const StepOperand& operand = step_.operands[index];
    if (operand.value) {
      std::array<char, 16> bytes{};
      encode(operand.dtype, *operand.value, bytes.data());
      return arguments.add(bytes.data(), size_of(operand.dtype));
    }
    if (operand.raw) {
      struct {
        const char* at;
        std::int64_t count;
      } const elements{operand.node->read(stream), operand.layout.size()};
      return arguments.add(elements);
    }
    if (operand.node) {
      const std::int64_t moved = operand.layout.offset - operand.node->layout.offset;
      arguments.add(operand.node->read(stream) + moved * static_cast<std::int64_t>(operand.node->itemsize()));
    }
    add_strides(arguments, spec_.operands[index].access, index);
    if (operand.indexed) add_indexed(arguments, *operand.indexed, operand.origin);
  }

  const Step& step_;
  OpenDevice& device_;
  KernelSpec spec_;
  Iteration iteration_;  // elementwise: operands, then outputs; reduction: the results' axes, then the reduced ones
  Dims kept_, reduced_;
  std::int64_t results_ = 0, count_ = 0, piece_ = 0, pieces_ = 1;
};

}  // namespace

void run(const Step& step, OpenDevice& device) {
  std::vector<Array> made;
  std::vector<const Node*> outputs;
  for (const StepOutput& output : step.outputs) {
    if (!output.target) made.push_back(empty(device, output.node->layout.shape, output.node->dtype));
    outputs.push_back(output.target ? output.target : made.back().get());
  }
  Launch launch(step, device);
  if (!launch.empty()) launch.run(outputs);
  std::size_t next = 0;
  for (const StepOutput& output : step.outputs)
    if (!output.target) output.node->resolve(made[next++]->buffer());
}

std::int64_t compress(const Step& step, OpenDevice& device) {
  Launch launch(step, device);
  return launch.empty() ? 0 : launch.compress(*step.outputs.front().target);
}

std::string source(const Step& step, OpenDevice& device) {
  const Launch launch(step, device);
  return launch.empty() ? "" : emit_body(launch.spec());
}

}  // namespace gpulua
