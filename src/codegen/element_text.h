#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// Emits loads, values and stores for the element `col` + k, where `at` has the positions along the outer axes. Where a
/// kernel compresses, an element is kept in `kept` and its bit set in `keep`, at `slot` + k of both.
class ElementText {
 public:
  explicit ElementText(const KernelSpec& spec) : spec_(spec) {}

  /// What is the same for all elements of a row.
  std::string before(const std::string& indent = "  ") const;
  /// One element; `vector` at a time where that is more than 1. Quickly computed elements are stored only where the
  /// numbers were in_range, and the thread is done then.
  std::string element(bool vector, const std::string& indent) const;

 private:
  std::string steps(const std::string& name, bool vector) const;
  std::string step_text(const std::string& name, Access access, bool vector) const;
  std::string place_of(std::size_t index, bool vector) const;
  std::string value_text(std::size_t index, bool vector) const;
  std::string operand_text(std::size_t index, bool vector) const;
  std::string store(std::size_t index, bool vector) const;

  const KernelSpec& spec_;
};

}  // namespace gpulua
