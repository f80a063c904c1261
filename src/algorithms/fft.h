#pragma once

// Discrete Fourier transforms by our own kernels (kernels/fft.cuh), from which library/signal/fft_kernels.lua puts
// transforms together, and by a device's library.

#include <array>
#include <cstdint>

#include "src/array/array.h"

namespace gpulua {

/// What a block of a device works on.
struct FftBlock {
  std::int64_t bytes;  // of the rows of a block
  std::int64_t width;  // the rows that a block always has; 0: any power of 2 up to 32
};
FftBlock fft_block(const OpenDevice& device);

/// An axis along which rows lie, and the distances, in complex numbers, from one to the next.
struct FftAxis {
  std::int64_t extent = 1, in = 0, out = 0;
};

/// Rows of a launch, and how each is transformed. `in` and `out` are arrays of complex numbers, or of real ones that
/// are taken in pairs; they share no memory.
struct FftRows {
  Array in, out;
  Array roots;                     // exp(-2 pi i k / n), k < n, of the precision of `out`
  std::int64_t factors = 0;        // of n, in the order of the passes, four bits each: 2, 3, 4, 5, 7, 8, 11 or 13
  std::int32_t n = 0, width = 32;  // rows of a block; as fft_block() says
  bool inverse = false;            // without a division by n
  std::int64_t in_step = 1, out_step = 1;
  std::array<FftAxis, 4> axes;  // a block takes neighbours along the first
};

/// Roots of unity exp(-2 pi i e / N): the product of coarse[e >> bits] and fine[e % 2^bits].
struct FftRoots {
  Array coarse, fine;  // null: none
  std::int32_t bits = 0;
};

/// What is done beside the passes of a transform. twiddle: element i of row j along the first axis is multiplied by the
/// root to the power i j. real: rows are those of 2 n real numbers, of whose transforms elements 0 to n are the
/// results. to_real: the inverse of that, doubled.
enum class FftMode : std::uint8_t { plain, twiddle, real, to_real };

/// `places`: int32, where element i goes before the first pass; its last element, the (n + 1)-th, is n.
void transform_rows(const FftRows& rows, const Array& places, FftMode mode, const FftRoots& roots);

/// Transforms of `count` elements by a convolution of rows.n. chirp[k] = exp(-pi i k^2 / count); `spectrum`: the
/// transform of its conjugate, divided by n, element i at places[i].
void transform_rows_by_chirp(const FftRows& rows, const Array& chirp, const Array& spectrum, std::int32_t count);

/// Rows of the transforms of 2 h real numbers, h + 1 elements each, from those of their h pairs, h elements each; with
/// `join`, the reverse, for the inverse. Both arrays are row-major.
void join_halves(const Array& in, const Array& out, const FftRoots& roots, std::int64_t h, std::int64_t rows,
                 bool join);

/// Queues the transforms of a library's plan, from `in` to `out`, two arrays that share no memory.
void transform_by_library(FftPlan& plan, const Array& in, const Array& out);

}  // namespace gpulua
