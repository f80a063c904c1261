#pragma once

// Random numbers as pending nodes. A node reserves its part of the stream when it is made, so its numbers do not depend
// on when, how often or in which kernel it is evaluated.

#include "src/expressions/expression.h"

namespace gpulua {

/// A stream of 32-bit random words (kernels/philox.cuh). Equal seeds give equal streams.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // position of the next word; a multiple of four

  /// Reserves `blocks` blocks of four words. Returns the number of the first block.
  std::uint64_t reserve(std::uint64_t blocks);
};

/// Some of the numbers of a larger draw.
struct RandomPart {
  std::int64_t skipped = 0;  // numbers before the first one
  std::int64_t total = 0;    // numbers of the draw
};

/// Uniform or normal numbers: the part of a draw of `part.total` numbers that begins after `part.skipped`. The stream
/// advances by the whole draw. Where the part begins within a block of the stream, it is a view of evaluated
/// numbers.
Array random_part(const std::shared_ptr<OpenDevice>& device, const OpInfo& op, Dims shape, DType dtype,
                  const std::shared_ptr<RandomStream>& stream, const RandomPart& part);

/// Random numbers of a distribution. `op`: a row of the op table with the rule `random`. `parameters`: the row's
/// operands after the stream; they broadcast to `shape` and are converted to `compute`.
Array random(const std::shared_ptr<OpenDevice>& device, const OpInfo& op, Dims shape, DType dtype,
             const std::shared_ptr<RandomStream>& stream, std::span<const Operand> parameters = {},
             std::optional<DType> compute = std::nullopt);

}  // namespace gpulua
