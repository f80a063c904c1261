#pragma once

#include <string>
#include <vector>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The statements of a reduction that compute its elements and what follows from its results. They name the variables
/// of reduction.cpp.
class ReductionElements {
 public:
  ReductionElements(const KernelSpec& spec, const ReductionSpec& plan);

  bool nests() const { return !plan_.nested.empty(); }
  /// The part of the operands' addresses that is constant for a result.
  std::string pointers(bool outer, const std::string& indent) const;
  /// Copies the rows of a short reduction to shared memory.
  std::string stage() const;
  /// Loads what a thread holds for its result.
  std::string hold() const;
  /// Accumulates the element at `position` (of r), or `width` of them.
  std::string element(const std::string& width, const std::string& position, const std::string& indent) const;
  /// Computes a value at `position`, as one of a vector's or by itself.
  std::string definition(std::size_t index, const std::string& position, bool vector) const;

 private:
  // Nested reductions.
  bool is_nested_pack(const OperandSpec& operand) const;
  std::string nested_pack(const OperandSpec& operand) const;
  std::string nested_loop(const std::string& indent) const;
  std::string nested_place() const;
  std::string each_of_vector(const std::string& indent) const;
  /// The offset of an element along the nested axes.
  std::string nested_step(std::size_t index, const std::string& place) const;
  /// Computes the results of the nested reductions for the element at `position`.
  std::string nested(const std::string& position, const std::string& indent) const;

  bool is_packed(const OperandSpec& operand) const;
  /// The offset of the element at `position` from the first element of the result, of a nested one at `place` inside.
  std::string step(std::size_t index, const std::string& position, const std::string& place) const;
  std::string step(std::size_t index, const std::string& position) const;
  /// The axes of the operand beyond those of the results.
  std::size_t inner_axes(const OperandSpec& operand) const;
  std::string operand_text(std::size_t index, const std::string& position, bool vector) const;

  /// True where a thread has columns: results that the same results of nested reductions lead to.
  bool has_columns() const { return nests() && plan_.vector_results; }

  const KernelSpec& spec_;
  const ReductionSpec& plan_;
  std::vector<bool> common_;  // of each value: computed once for all columns of a thread
};

}  // namespace gpulua
