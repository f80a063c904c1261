#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// Emits the loads, values and stores of the element `col` + k. `at` has the positions along the outer axes. A kernel
/// that compresses stores the element in `kept` and sets its bit in `keep`, both at `slot` + k.
class ElementText {
 public:
  explicit ElementText(const KernelSpec& spec);

  /// Statements ahead of the elements of a row.
  std::string before(const std::string& indent = "  ") const;
  /// The statements for one element, or for a vector of `width` elements. On the fast path they store the elements and
  /// return when all numbers were in range. `move0`, `move1`, ... are the moves of the operands with these seams.
  std::string element(bool vector, const std::string& indent) const;

 private:
  std::string pointer(std::size_t operand) const;
  std::string steps(const std::string& name, bool vector) const;
  std::string step_text(const std::string& name, Access access, bool vector) const;
  std::string place_of(std::size_t index, bool vector) const;
  std::string value_text(std::size_t index, bool vector) const;
  std::string operand_text(std::size_t index, bool vector) const;
  std::string store(std::size_t index, bool vector) const;
  std::string store_part_of_row(const std::string& indent) const;

  std::string column(bool vector) const;

  const KernelSpec& spec_;
  const bool spread_, fast_path_;  // as in ElementwiseSpec
};

}  // namespace gpulua
