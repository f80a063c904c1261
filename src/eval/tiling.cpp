#include "src/eval/tiling.h"

#include <algorithm>

namespace gpulua {

namespace {

constexpr std::int64_t least_extent = 32, least_size = 64 * 64;
// A long edge gives long runs of memory. It is used where the tiles leave shared memory for many blocks at a time.
constexpr unsigned long_edge = 64, short_edge = 32;
constexpr std::size_t short_runs = 8;  // bytes of an element for which the short edge gives long runs too
constexpr std::int64_t long_extent = 128;
constexpr std::size_t comfortable_bytes = 36 * 1024, most_bytes = 48 * 1024;

std::size_t tile_bytes(std::size_t itemsize, unsigned edge) {
  return edge * (edge * itemsize + std::max<std::size_t>(itemsize, 4));
}

/// Bytes per element of the operands that are consecutive along `axis`.
std::size_t bytes_along(const KernelSpec& spec, const Iteration& iteration, std::size_t axis) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const OperandSpec& operand = spec.operands[i];
    if (operand.memory && operand.access == Access::strided && iteration.strides[i][axis] == 1)
      bytes += size_of(operand.dtype);
  }
  return bytes;
}

void move_before_innermost(Dims& dims, std::size_t axis) {
  std::rotate(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              dims.end() - 1);
}

}  // namespace

void choose_tiles(KernelSpec& spec, Iteration& iteration, unsigned threads) {
  const Dims& shape = iteration.shape;
  const std::int64_t inner = shape.back();
  std::size_t best = shape.size(), most = 0;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    const std::size_t bytes = bytes_along(spec, iteration, axis);
    if (bytes <= most || std::min(shape[axis], inner) < least_extent || shape[axis] * inner < least_size) continue;
    most = bytes;
    best = axis;
  }
  if (most == 0) return;

  const bool is_long = std::min(shape[best], inner) >= long_extent;
  move_before_innermost(iteration.shape, best);
  for (Dims& strides : iteration.strides) move_before_innermost(strides, best);
  std::size_t long_bytes = 0, itemsize = 0;
  const std::size_t along = shape.size() - 2;
  const auto follows = [&](std::size_t i) {
    const OperandSpec& operand = spec.operands[i];
    return operand.memory && operand.access == Access::strided && iteration.strides[i][along] == 1;
  };
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (!follows(i)) continue;
    const std::size_t size = size_of(spec.operands[i].dtype);
    itemsize = std::max(itemsize, size);
    long_bytes += tile_bytes(size, long_edge);
  }
  const bool is_small = itemsize < short_runs && long_bytes <= comfortable_bytes;
  const TiledSpec tiles{is_long && is_small ? long_edge : short_edge, threads / 32};
  spec.family = tiles;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (!follows(i)) continue;
    bytes += tile_bytes(size_of(spec.operands[i].dtype), tiles.edge);
    if (bytes > most_bytes) break;  // the other operands are read with a stride
    spec.operands[i].access = Access::tiled;
  }
}

}  // namespace gpulua
