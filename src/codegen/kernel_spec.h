#pragma once

// The description of a kernel: everything that its text depends on, and nothing else. Shapes, strides, scalars and
// addresses are arguments of the kernel.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/base/dtype.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

/// How an operand moves along the innermost axis of the iteration.
enum class Access : std::uint8_t {
  value,    // a number by value
  fixed,    // one element for all positions of the iteration
  unit,     // consecutive elements
  splat,    // one element
  strided,  // any stride
  tiled,    // consecutive elements along the axis before the innermost; in tiled kernels
  raw,      // a script's function gets the whole array
};

struct OperandSpec {
  DType dtype = DType::float32;
  Access access = Access::value;
  bool memory = true;          // false: the position itself, as an int64
  bool outer = false;          // in a reduction: read once for each result, not for each element reduced
  bool along_results = false;  // in a reduction: neighbouring results have neighbouring elements
  bool nested = false;         // in a reduction: read for each element of the nested reductions
  bool common = false;         // nested: the same for all results
  bool held = false;           // nested: a thread has its elements for a result in registers
  bool staged = false;         // in a short reduction: a block copies its elements to shared memory first
  std::uint16_t indexed = 0;   // axes along which index arrays give the position
  std::uint16_t roll = 0;      // elementwise: shifted along the outer axes, by the shifts with this number, from 1
  std::uint16_t seam = 0;      // elementwise: shifted along the innermost axis, by the shift with this number, from 1

  bool operator==(const OperandSpec&) const = default;
};

/// A number that a thread computes, a raw operand, or the results of one call of a script's function.
struct ValueSpec {
  enum class Kind : std::uint8_t { operand, operation, reduction, gather, call } kind = Kind::operand;
  DType dtype = DType::float32;    // of the value
  DType compute = DType::float32;  // the inputs are converted to it
  bool outer = false;              // computed once for each result
  bool nested = false;             // computed for each element of the nested reductions
  bool rounded = false;            // a product with several uses, which all get the same number
  std::uint16_t operand = 0;       // index of an operand; the inputs of a gather are its index arrays
  const OpInfo* op = nullptr;
  const Reducer* reducer = nullptr;
  boost::container::small_vector<std::uint16_t, 4> inputs;  // earlier values

  bool operator==(const ValueSpec&) const = default;
};

struct OutputSpec {
  DType dtype = DType::float32;
  Access access = Access::unit;
  std::uint16_t value = 0;
  std::vector<std::uint16_t> indices = {};  // the values that give the position along indexed axes
  bool adds = false;                        // with `indices`: adds to the elements
  std::optional<std::uint16_t> mask =
      std::nullopt;  // set: elements are written, one after the other, where this value is true

  bool operator==(const OutputSpec&) const = default;
};

// The families of kernels: what they have besides operands, values and outputs.

/// Each thread computes elements of the iteration.
struct ElementwiseSpec {
  bool rows = true;         // a block stays in one row of the innermost axis
  bool spread = false;      // the elements of a vector are not neighbours, but as far apart as a block has threads
  bool walks = false;       // a thread takes many elements, one by one, as far apart
  bool ragged = false;      // the last vector of a row is computed as the others are, and stored in part
  bool fast_path = false;   // in vectors: rows with a fast path compute by it where numbers are in range
  std::uint16_t rolls = 0;  // the number of different shifts along the outer axes
  std::uint16_t seams = 0;  // the number of different shifts along the innermost axis

  bool operator==(const ElementwiseSpec&) const = default;
};

/// A block computes a tile of elements, because operands lie along the axis before the innermost.
struct TiledSpec {
  unsigned edge = 32;  // the tile's extent along each of the last two axes
  unsigned lines = 8;  // a block has 32 * lines threads

  bool operator==(const TiledSpec&) const = default;
};

/// A block computes `results` results of a reduction, each by `lanes` threads.
struct ReductionSpec {
  unsigned results = 1;
  unsigned lanes = 256;
  bool lanes_adjacent =
      true;  // neighbouring threads take neighbouring elements of one result; else neighbouring results
  bool vector_results = false;  // vectors go along the results; else along the elements of one result
  bool split = false;           // several blocks share the elements of one result
  bool in_runs = false;         // a thread sums runs of its elements, and then the sums of the runs
  bool rolled = false;          // the processor's compiler unrolls nothing: code in loops, as short as it can be
  std::size_t ndim = 1;         // number of axes reduced
  unsigned count = 0;           // of a short reduction, with a thread for each result: the elements of a result; else 0
  // Of nested reductions, whose results are the elements that the reduction accumulates: the extents of their axes;
  // empty: there are none. A thread takes `nested_vector` of their elements at once.
  boost::container::small_vector<unsigned, 2> nested;
  unsigned nested_vector = 1;

  unsigned nested_count() const { return std::accumulate(nested.begin(), nested.end(), 1u, std::multiplies<>()); }
  bool operator==(const ReductionSpec&) const = default;
};

/// A block computes `results` rows, each by `lanes` threads: the elements of a reduction's result, among whose outputs
/// some have a value for each element.
struct RowSpec {
  unsigned results = 1;
  unsigned lanes = 32;
  std::size_t ndim = 1;  // number of axes reduced
  unsigned items = 0;    // vectors of a row that a thread keeps in registers; 0: it reads them again

  bool operator==(const RowSpec&) const = default;
};

/// A block writes the elements of a tile for which a mask is true, one after the other.
struct CompressSpec {
  unsigned threads = 512;
  unsigned items = 16;  // elements of a thread: a multiple of the vector width, 32 at most

  bool operator==(const CompressSpec&) const = default;
};

struct KernelSpec {
  std::vector<OperandSpec> operands;
  std::vector<ValueSpec> values;
  std::vector<OutputSpec> outputs;
  std::size_t ndim = 1;  // number of axes of the iteration, in a reduction of the results; 1 or more
  bool wide = false;     // positions or offsets exceed 2^31
  unsigned vector = 1;   // elements that a thread takes at once along the innermost axis
  std::variant<ElementwiseSpec, TiledSpec, ReductionSpec, RowSpec, CompressSpec> family;

  /// The spec of that family; null for another.
  template <class Family>
  const Family* as() const {
    return std::get_if<Family>(&family);
  }
  /// The number of axes reduced; 0 for kernels that reduce none.
  std::size_t reduced_ndim() const;
  bool operator==(const KernelSpec&) const = default;
  /// The name of the kernel in its text, for profilers and messages: "gpulua_multiply_add_sum_kernel".
  std::string name() const;
};

/// The most elements that a thread takes in a kernel that walks.
inline constexpr unsigned walked_elements = 64;

// The most threads in a block of an elementwise kernel. One whose elements are spread has them all.
inline constexpr unsigned block_size = 256;

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

/// True when the operation divides whole numbers by a number, which the kernel gets as a gpulua_divisor.
bool divides_by_number(const KernelSpec& spec, const ValueSpec& value);

/// True when the operand is the number of such an operation.
bool is_divisor(const KernelSpec& spec, std::size_t operand);

/// True for a value that a thread makes for several elements in one call: random numbers.
bool is_vectorised(const KernelSpec& spec, const ValueSpec& value);
/// How many copies of the code for an element a kernel may have, in vectors and unrolled loops, so that a GPU's compiler
/// takes no more than some tenths of a second for it: a power of 2.
unsigned most_copies(const KernelSpec& spec);

/// True for a reduction whose results are elements of the kernel's domain.
bool is_nested_reduction(const KernelSpec& spec, const ValueSpec& value);

/// The bytes of one thread's accumulators. The kernel's text asserts that they suffice.
std::size_t accumulator_bytes(const KernelSpec& spec);

}  // namespace gpulua
