#pragma once

// Random numbers as pending nodes. What a node gives is settled when it is made: it reserves a part of the stream, so
// its numbers do not depend on when, how often or in which kernel it is evaluated.

#include "src/expressions/expression.h"

namespace gpulua {

/// A stream of 32-bit random words (kernels/philox.cuh), the same for the same seed.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // of the next word; a multiple of four

  /// Takes `blocks` blocks of four words out of the stream. Gives the number of the first.
  std::uint64_t reserve(std::uint64_t blocks);
};

/// Numbers from the stream, by a row of the table of the rule `random`. `parameters` are the row's operands beside the
/// stream; they broadcast to `shape`, and are computed with as `compute`.
Array random(const std::shared_ptr<OpenDevice>& device, const OpInfo& op, Dims shape, DType dtype, RandomStream& stream,
             std::span<const Operand> parameters = {}, std::optional<DType> compute = std::nullopt);

}  // namespace gpulua
