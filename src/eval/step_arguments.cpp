#include "src/eval/step_arguments.h"

#include <algorithm>
#include <array>
#include <bit>

#include "src/codegen/parameters.h"
#include "src/eval/divisor.h"

namespace gpulua {

namespace {

using Kind = Patch::Kind;
using Role = KernelParameter::Role;

class Layouter {
 public:
  Layouter(const Step& step, const Schedule& schedule, const NodeNumbers& nodes)
      : step_(step), schedule_(schedule), spec_(schedule.spec), nodes_(nodes) {}

  StepArguments lay_out() {
    std::visit([&](const auto& family) { launch(family); }, spec_.family);
    for (const KernelParameter& parameter : parameters_of(spec_)) add(parameter);
    return std::move(result_);
  }

 private:
  // ---- the launch
  // -------------------------------------------------------------------------------------------------------------------

  void launch(const ElementwiseSpec& family) {
    const std::int64_t inner = shape().back(), size = schedule_.iteration.size(), width = spec_.vector;
    LaunchConfig& config = result_.config;
    config.block.x = block_size;
    if (family.walks) {
      config.block.x = 32;
      const std::int64_t columns = std::int64_t{32} * walked_elements;
      row_blocks_ = (inner + columns - 1) / columns;
      config.grid = grid_of(row_blocks_ * (size / inner));
    } else if (family.rows) {
      const std::int64_t items = (inner + width - 1) / width;
      if (items < block_size) config.block.x = static_cast<unsigned>((items + 31) / 32 * 32);
      row_blocks_ = (items + config.block.x - 1) / config.block.x;
      config.grid = grid_of(row_blocks_ * (size / inner));
    } else {
      config.grid = grid_of((size / width + block_size - 1) / block_size);
    }
    outer_ = shape();
  }

  void launch(const TiledSpec& family) {
    outer_ = shape();
    for (std::size_t axis = outer_.size() - 2; axis < outer_.size(); ++axis)
      outer_[axis] = (outer_[axis] + family.edge - 1) / family.edge;
    row_blocks_ = outer_.back();
    result_.config.block.x = 32 * family.lines;
    result_.config.grid = grid_of(Iteration{outer_, {}}.size());
  }

  void launch(const ReductionSpec& plan) {
    const std::int64_t slots = plan.results * (plan.vector_results ? spec_.vector : 1);
    const std::int64_t groups = (schedule_.results + slots - 1) / slots;
    result_.config.block.x = plan.lanes * plan.results;
    result_.config.grid = grid_of(groups * schedule_.chunks);
    if (!plan.split) return;
    // A ticket for each row of blocks, then the accumulators.
    result_.zeroed_bytes = (static_cast<std::size_t>(groups) * 4 + 255) / 256 * 256;
    result_.scratch_bytes = result_.zeroed_bytes +
                            accumulator_bytes(spec_) * static_cast<std::size_t>(schedule_.chunks * schedule_.results);
  }

  void launch(const RowSpec& family) {
    result_.config.block.x = family.lanes * family.results;
    result_.config.grid = grid_of((schedule_.results + family.results - 1) / family.results);
  }

  void launch(const CompressSpec& family) {
    const std::int64_t tile = std::int64_t{family.threads} * family.items;
    result_.config.block.x = family.threads;
    result_.config.grid = grid_of((schedule_.iteration.size() + tile - 1) / tile);
    outer_ = shape();
    // A gpulua_compress_state: the ticket, the total, and a word for each tile.
    result_.scratch_bytes = result_.zeroed_bytes = 8 * (2 + std::size_t{result_.config.grid.x});
  }

  // ---- the parameters
  // -------------------------------------------------------------------------------------------------------------------

  void add(const KernelParameter& parameter) {
    const std::size_t i = parameter.index;
    switch (parameter.role) {
      case Role::inner:
        return index(shape().back());
      case Role::row_blocks:
        return index(row_blocks_);
      case Role::along:
        return index(*(shape().end() - 2));
      case Role::size:
        return index(schedule_.iteration.size());
      case Role::rolls:
        return indices({schedule_.rolls[i].data(), schedule_.rolls[i].size()});
      case Role::seams:
        return indices({schedule_.seams.data(), schedule_.seams.size()});
      case Role::results:
        return index(schedule_.results);
      case Role::count:
        return index(schedule_.count);
      case Role::chunk:
        return index(schedule_.chunk);
      case Role::chunks:
        return index(schedule_.chunks);
      case Role::inner_extent:
        return extents({&shape().back(), 1});
      case Role::outer_extents:
        return extents({outer_.data(), outer_.size() - 1});
      case Role::kept_extents:
        return extents({schedule_.kept.data(), schedule_.kept.size()});
      case Role::reduced_extents:
        return extents({schedule_.reduced.data(), schedule_.reduced.size()});
      case Role::scratch:
        return scratch(result_.arguments.add<void*>(nullptr), result_.zeroed_bytes);
      case Role::tickets:
        return scratch(result_.arguments.add<void*>(nullptr), 0);
      case Role::compress_state: {
        const std::array<char*, 3> none{};
        const std::size_t at = result_.arguments.add(none);
        for (std::size_t word = 0; word < none.size(); ++word) scratch(at + 8 * word, 8 * word);
        return;
      }
      case Role::operand:
        return operand(step_.operands[i], is_divisor(spec_, i));
      case Role::operand_strides:
        return strides(schedule_.iteration.strides[i]);
      case Role::operand_indexed: {
        const StepOperand& operand = step_.operands[i];
        return indexed(*operand.indexed(), Kind::gather_watch, nodes_.number(*operand.gather));
      }
      case Role::output:
        return patch(Kind::output, static_cast<std::uint32_t>(i), result_.arguments.add<void*>(nullptr));
      case Role::output_strides:
        return strides(schedule_.iteration.strides[step_.operands.size() + i]);
      case Role::output_indexed:
        return indexed(*step_.outputs[i].scatter->at, Kind::scatter_watch, static_cast<std::uint32_t>(i));
    }
  }

  void operand(const StepOperand& operand, bool is_divisor) {
    if (is_divisor) return patch(Kind::divisor, nodes_.number(*operand.number), result_.arguments.add(Divisor{}));
    if (operand.number) {
      const std::array<char, 16> none{};
      return patch(Kind::number, nodes_.number(*operand.number),
                   result_.arguments.add(none.data(), size_of(operand.dtype)));
    }
    if (operand.raw) {
      struct {
        const char* at;
        std::int64_t count;
      } const elements{nullptr, operand.layout.size()};
      return patch(Kind::address, nodes_.number(*operand.node), result_.arguments.add(elements));
    }
    const std::size_t at = result_.arguments.add<void*>(nullptr);
    if (operand.gather)
      result_.patches.push_back(
          {Kind::gather_address, nodes_.number(*operand.gather), at, 0, nodes_.number(*operand.node)});
    else
      patch(Kind::address, nodes_.number(*operand.node), at);
  }

  // ---- parts
  // -------------------------------------------------------------------------------------------------------------------

  const Dims& shape() const { return schedule_.iteration.shape; }
  void patch(Kind kind, std::uint32_t which, std::size_t at) { result_.patches.push_back({kind, which, at}); }
  void scratch(std::size_t at, std::size_t moved) { result_.patches.push_back({Kind::scratch, 0, at, moved}); }

  /// Adds a gpulua_indexed.
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

  void indices(std::span<const std::int64_t> numbers) {
    if (spec_.wide) {
      result_.arguments.add(numbers.data(), numbers.size_bytes());
      return;
    }
    const std::vector<std::uint32_t> narrow(numbers.begin(), numbers.end());
    result_.arguments.add(narrow.data(), narrow.size() * sizeof(std::uint32_t));
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

  void strides(const Dims& strides) {
    if (spec_.wide) {
      result_.arguments.add(strides.data(), strides.size() * sizeof(std::int64_t));
      return;
    }
    const std::vector<std::int32_t> narrow(strides.begin(), strides.end());
    result_.arguments.add(narrow.data(), narrow.size() * sizeof(std::int32_t));
  }

  const Step& step_;
  const Schedule& schedule_;
  const KernelSpec& spec_;
  const NodeNumbers& nodes_;
  std::int64_t row_blocks_ = 0;
  Dims outer_;  // the shape of the iteration, with tiles counted in tiles
  StepArguments result_;
};

}  // namespace

StepArguments lay_out(const Step& step, const Schedule& schedule, const NodeNumbers& nodes) {
  return Layouter(step, schedule, nodes).lay_out();
}

}  // namespace gpulua
