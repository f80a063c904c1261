#pragma once

// The text that all kinds of kernels share: loads, values, stores.

#include <string>
#include <string_view>

#include "src/codegen/kernel_spec.h"
#include "src/ops/op_text.h"

namespace gpulua {

/// "in3", "out1", "v17": names in the text.
std::string operand_name(std::size_t index);
std::string output_name(std::size_t index);
std::string value_name(std::size_t index);

/// The element that a gather reads. `step` is its offset without the index arrays.
std::string gathered(const ValueSpec& value, const std::string& step);
/// A statement that writes `element` to the output at the position that its index arrays give.
std::string scattered(const OutputSpec& output, std::size_t index, const std::string& step, const std::string& element);

/// The type that `value` has in a register.
std::string value_type(const ValueSpec& value, const KernelSpec& spec);
/// The text of a whole operand (is_whole), as an operation gets it.
std::string whole(const OperandSpec& operand, const std::string& name);
/// The expression of an operation or call: the text of its row with the operands substituted.
std::string expression(const ValueSpec& value, const KernelSpec& spec);
/// The expression of the fast path (has_fast_path). It clears the bool `in_range` where its number may be wrong.
std::string fast_path_expression(const ValueSpec& value, const std::vector<ValueSpec>& values);

/// A statement that makes the vectorised value (is_vectorised) for the elements from `position` on.
std::string vectorised(const KernelSpec& spec, std::size_t index, const std::string& position);
/// Such statements for all vectorised values.
std::string vectorised(const KernelSpec& spec, const std::string& position, const std::string& indent);
/// The k-th element of a vectorised value.
std::string vectorised_element(const ValueSpec& value, std::size_t index);

/// The device code that the kernel's text uses. It leaves out the rest, which would take time to compile.
std::string headers(std::string_view body);

}  // namespace gpulua
