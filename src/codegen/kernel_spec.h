#pragma once

// What the emitter is told of a kernel: everything that its text depends on, and nothing else. Shapes, strides, scalars
// and addresses are arguments of the kernel.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

/// Where an operand's element is for a position in the iteration: an outer part that a thread computes once, and the
/// place along the innermost axis.
enum class Access : std::uint8_t {
  value,    // a number by value
  fixed,    // one element for all positions
  unit,     // one after the other along the innermost axis
  splat,    // the same along the innermost axis
  strided,  // any stride along the innermost axis
  tiled,    // one after the other along the axis before the innermost; of a kernel with tiles
  raw,      // all elements, for a function that takes those it wants
};

struct OperandSpec {
  DType dtype = DType::float32;
  Access access = Access::value;
  bool memory = true;          // false: the position itself, as an int64
  bool outer = false;          // of a reduction: one for each result, not for each element reduced
  bool along_results = false;  // of a reduction: neighbouring results have neighbouring elements
  std::uint16_t indexed = 0;   // axes along which index arrays give the position
};

/// A number that a thread computes; or a raw operand, or what a call of a script's function gives: its results
/// together.
struct ValueSpec {
  enum class Kind : std::uint8_t { operand, operation, reduction, gather, call } kind = Kind::operand;
  DType dtype = DType::float32;    // its own
  DType compute = DType::float32;  // what its inputs are converted to
  bool outer = false;              // computed once for each result
  bool rounded = false;            // a product that is used more than once: the same number for all its uses
  std::uint16_t operand = 0;       // of an operand or a gather, whose inputs are the index arrays
  const OpInfo* op = nullptr;
  const Reducer* reducer = nullptr;
  boost::container::small_vector<std::uint16_t, 4> inputs;  // earlier values
};

struct OutputSpec {
  DType dtype = DType::float32;
  Access access = Access::unit;
  std::uint16_t value = 0;
  std::vector<std::uint16_t> indices = {};  // the values that give the position along indexed axes
  bool adds = false;                        // where there are any
  std::optional<std::uint16_t> mask =
      std::nullopt;  // the value that tells which elements are written, one after the other
};

/// How a reduction's block of threads is laid out: `results` results, by `lanes` threads each.
struct ReductionSpec {
  unsigned results = 1;
  unsigned lanes = 256;
  bool lanes_adjacent =
      true;  // neighbouring threads take neighbouring elements of one result, not neighbouring results
  bool vector_results = false;  // a thread's vector goes along the results, not along the elements of one
  bool split = false;           // a result's elements are spread over blocks
  bool in_runs = false;         // a thread has so many elements that it adds up runs of them, and then their sums
  std::size_t ndim = 1;         // of the axes reduced
};

/// A kernel that compresses: what its blocks of threads take at once.
struct CompressSpec {
  unsigned threads = 512;
  unsigned items = 16;  // a thread, a multiple of the vector's width; 32 at most
};

struct KernelSpec {
  std::vector<OperandSpec> operands;
  std::vector<ValueSpec> values;
  std::vector<OutputSpec> outputs;
  std::size_t ndim = 1;    // of the iteration, a reduction's: of its results; 1 or more
  bool wide = false;       // positions or offsets past 2^31
  bool rows = true;        // elementwise: a block stays in one row of the innermost axis
  unsigned vector = 1;     // elements a thread takes at once along the innermost axis
  bool fast_path = false;  // elementwise in vectors: computed by the rows' quick expressions where numbers are in_range
  unsigned tile = 0;   // elementwise: a block works on so many positions along each of the last two axes; 0: no tiles
  unsigned lines = 8;  // with tiles: a block is of 32 times as many threads
  bool reduces = false;
  ReductionSpec reduction;
  bool compresses = false;
  CompressSpec compress;

  /// Equal for specs of the same text.
  std::string key() const;
  /// The kernel's name in the text, for profilers and messages: "gpulua_multiply_add_sum_kernel".
  std::string name() const;
};

/// True for an operand that an operation gets as a whole: it has no position in the iteration.
inline bool is_whole(const OperandSpec& operand) {
  return operand.access == Access::value || operand.access == Access::raw;
}

/// True for an output that a thread stores in vectors, after all of their elements are computed.
inline bool is_packed(const OutputSpec& output) {
  return output.access == Access::unit && output.indices.empty() && !output.mask;
}

/// True when an operand or output of this access, in an iteration of `ndim` axes, has strides among the parameters.
bool has_strides(Access access, std::size_t ndim);

/// True when the operation is a single product, which the compiler may contract with an addition around it.
bool is_product(const OpInfo& op, DType compute);

/// True when the operation has a fast path for the dtype in which it computes.
bool has_fast_path(const ValueSpec& value);

/// True for a value that a thread makes for several elements in one call: random numbers.
bool is_vectorised(const KernelSpec& spec, const ValueSpec& value);

/// The bytes of one thread's accumulators. The kernel's text asserts that they suffice.
std::size_t accumulator_bytes(const KernelSpec& spec);

}  // namespace gpulua
