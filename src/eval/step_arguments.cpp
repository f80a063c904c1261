#include "src/eval/step_arguments.h"

#include <algorithm>
#include <array>
#include <bit>

#include "src/codegen/body.h"
#include "src/codegen/reduction.h"

namespace gpulua {

namespace {

using Kind = Patch::Kind;

class Layouter {
 public:
  Layouter(const Step& step, const Variant& variant) : step_(step), variant_(variant), spec_(variant.spec) {}

  StepArguments lay_out() {
    if (step_.reduces)
      reduction();
    else if (step_.compresses)
      compression();
    else if (spec_.tile != 0)
      tiles();
    else
      elementwise();
    for (std::size_t i = 0; i < step_.operands.size(); ++i) operand(i);
    for (std::size_t i = 0; i < step_.outputs.size(); ++i) output(i);
    return std::move(result_);
  }

 private:
  // ---- what the kinds of kernels have before the operands
  // -------------------------------------------------------------------------------------------------------------------

  void elementwise() {
    const Dims& shape = variant_.iteration.shape;
    const std::int64_t inner = shape.back(), size = variant_.iteration.size(), width = spec_.vector;
    LaunchConfig& config = result_.config;
    config.block.x = block_size;
    if (spec_.rows) {
      const std::int64_t items = (inner + width - 1) / width;
      if (items < block_size) config.block.x = static_cast<unsigned>((items + 31) / 32 * 32);
      const std::int64_t blocks = (items + config.block.x - 1) / config.block.x;
      config.grid = grid_of(blocks * (size / inner));
      index(inner);
      index(blocks);
    } else {
      config.grid = grid_of((size / width + block_size - 1) / block_size);
      index(size);
      extents({&inner, 1});
    }
    if (spec_.ndim > 1) extents({shape.data(), shape.size() - 1});
  }

  void tiles() {
    const Dims& shape = variant_.iteration.shape;
    Dims tiles = shape;
    for (std::size_t axis = tiles.size() - 2; axis < tiles.size(); ++axis)
      tiles[axis] = (tiles[axis] + spec_.tile - 1) / spec_.tile;
    result_.config.block.x = 32 * spec_.lines;
    result_.config.grid = grid_of(Iteration{tiles, {}}.size());
    index(shape.back());
    index(tiles.back());
    index(*(shape.end() - 2));
    extents({tiles.data(), tiles.size() - 1});
  }

  void reduction() {
    const ReductionSpec& plan = spec_.reduction;
    const std::int64_t slots = plan.results * (plan.vector_results ? spec_.vector : 1);
    const std::int64_t groups = (variant_.results + slots - 1) / slots;
    result_.config.block.x = plan.lanes * plan.results;
    result_.config.grid = grid_of(groups * variant_.pieces);
    index(variant_.results);
    index(variant_.count);
    index(variant_.piece);
    index(variant_.pieces);
    extents({variant_.kept.data(), variant_.kept.size()});
    extents({variant_.reduced.data(), variant_.reduced.size()});
    if (!plan.several_blocks) return;
    // A counter for each row of blocks, then what they accumulate.
    const std::size_t counters = (static_cast<std::size_t>(groups) * 4 + 255) / 256 * 256;
    result_.zeroed_bytes = counters;
    result_.scratch_bytes =
        counters + accumulator_bytes(spec_) * static_cast<std::size_t>(variant_.pieces * variant_.results);
    scratch(result_.arguments.add<void*>(nullptr), counters);
    scratch(result_.arguments.add<void*>(nullptr), 0);
  }

  void compression() {
    const Dims& shape = variant_.iteration.shape;
    const std::int64_t inner = shape.back(), size = variant_.iteration.size();
    const std::int64_t tile = std::int64_t{spec_.compress.threads} * spec_.compress.items;
    result_.config.block.x = spec_.compress.threads;
    result_.config.grid = grid_of((size + tile - 1) / tile);
    index(size);
    if (spec_.ndim > 1) {
      extents({&inner, 1});
      extents({shape.data(), shape.size() - 1});
    }
    // A gpulua_compress_state: the ticket, the total, and a word for each tile.
    result_.scratch_bytes = result_.zeroed_bytes = 8 * (2 + std::size_t{result_.config.grid.x});
    const std::array<char*, 3> none{};
    const std::size_t at = result_.arguments.add(none);
    for (std::size_t i = 0; i < none.size(); ++i) scratch(at + 8 * i, 8 * i);
  }

  // ---- operands and outputs
  // -------------------------------------------------------------------------------------------------------------------

  void operand(std::size_t place) {
    const StepOperand& operand = step_.operands[place];
    if (operand.number) {
      const std::array<char, 16> none{};
      return patch(Kind::number, operand.number->number, result_.arguments.add(none.data(), size_of(operand.dtype)));
    }
    if (operand.raw) {
      struct {
        const char* at;
        std::int64_t count;
      } const elements{nullptr, operand.layout.size()};
      return patch(Kind::address, operand.node->number, result_.arguments.add(elements));
    }
    if (operand.node) {
      const std::size_t at = result_.arguments.add<void*>(nullptr);
      if (operand.gather)
        patch(Kind::gather_address, operand.gather->number, at);
      else
        patch(Kind::address, operand.node->number, at);
    }
    strides(spec_.operands[place].access, place);
    if (operand.gather) indexed(*operand.indexed(), Kind::gather_watch, operand.gather->number);
  }

  void output(std::size_t place) {
    const StepOutput& output = step_.outputs[place];
    const auto which = static_cast<std::uint32_t>(place);
    patch(Kind::output, which, result_.arguments.add<void*>(nullptr));
    if (!step_.reduces && !step_.compresses) strides(spec_.outputs[place].access, step_.operands.size() + place);
    if (output.places) indexed(*output.places->at, Kind::scatter_watch, which);
  }

  // ---- parts
  // -------------------------------------------------------------------------------------------------------------------

  void patch(Kind kind, std::uint32_t which, std::size_t at) { result_.patches.push_back({kind, which, at}); }
  void scratch(std::size_t at, std::size_t moved) { result_.patches.push_back({Kind::scratch, 0, at, moved}); }

  /// A gpulua_indexed.
  void indexed(const Indexed& at, Kind watch, std::uint32_t which) {
    std::vector<std::int64_t> words{0, 0, 0};
    for (const IndexedAxis& axis : at.axes) words.insert(words.end(), {axis.extent, axis.stride, axis.number});
    patch(watch, which, result_.arguments.add(words.data(), words.size() * sizeof words[0]));
  }

  void index(std::int64_t number) {
    if (spec_.wide)
      result_.arguments.add(number);
    else
      result_.arguments.add(static_cast<std::uint32_t>(number));
  }

  void extents(std::span<const std::int64_t> shape) {
    if (spec_.wide) {
      result_.arguments.add(shape.data(), shape.size_bytes());
      return;
    }
    std::vector<std::array<std::uint32_t, 3>> dividers;
    for (std::int64_t extent : shape) {
      const auto divisor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
      const auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
      const std::uint64_t multiplier = (((std::uint64_t{1} << shift) - divisor) << 32) / divisor + 1;
      dividers.push_back({static_cast<std::uint32_t>(divisor), static_cast<std::uint32_t>(multiplier), shift});
    }
    result_.arguments.add(dividers.data(), dividers.size() * sizeof dividers[0]);
  }

  void strides(Access access, std::size_t place) {
    const Dims& strides = variant_.iteration.strides[place];
    if (!has_strides(access, strides.size())) return;
    if (spec_.wide) {
      result_.arguments.add(strides.data(), strides.size() * sizeof(std::int64_t));
      return;
    }
    const std::vector<std::int32_t> narrow(strides.begin(), strides.end());
    result_.arguments.add(narrow.data(), narrow.size() * sizeof(std::int32_t));
  }

  const Step& step_;
  const Variant& variant_;
  const KernelSpec& spec_;
  StepArguments result_;
};

}  // namespace

StepArguments lay_out(const Step& step, const Variant& variant) {
  return Layouter(step, variant).lay_out();
}

}  // namespace gpulua
