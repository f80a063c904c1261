#pragma once

// The part of a kernel's text that both kinds of kernels share: parameters, loads, and the values computed from them.

#include <string>
#include <string_view>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// "in3", "out1", "v17": the names of things in the text.
std::string operand_name(std::size_t index);
std::string output_name(std::size_t index);
std::string value_name(std::size_t index);

/// The type of a number in a register: 16-bit floating types are float there.
std::string register_type(DType dtype);
/// The type of an element in memory.
std::string element_type(DType dtype);

/// `text`, a number of dtype `from` in a register, as one of dtype `to`.
std::string converted(const std::string& text, DType from, DType to);
/// The number in a register that the element `text` is.
std::string loaded(const std::string& text, DType dtype);
/// The element that the number `text` in a register is, once its dtype is the element's.
std::string stored(const std::string& text, DType dtype);

/// The element that a gather reads; `step` is its place before the index arrays are looked at.
std::string gathered(const ValueSpec& value, const std::string& step);
/// A statement that writes `element` to the output where its index arrays say.
std::string scattered(const OutputSpec& output, std::size_t index, const std::string& step, const std::string& element);

/// The type that `value` has in a register.
std::string value_type(const ValueSpec& value, const KernelSpec& spec);
/// The text of a whole operand (is_whole), as an operation gets it.
std::string whole(const OperandSpec& operand, const std::string& name);
/// An operation or call: an expression of the operation's row with its operands put in.
std::string expression(const ValueSpec& value, const std::vector<ValueSpec>& values);
/// The expression of the fast path (has_fast_path). It clears the bool `in_range` where its number may be wrong.
std::string fast_path_expression(const ValueSpec& value, const std::vector<ValueSpec>& values);

/// Statements that make the vectorised values (is_vectorised) for the elements from `position` on.
std::string vectorised(const KernelSpec& spec, const std::string& position, const std::string& indent);
/// The k-th element of a vectorised value.
std::string vectorised_element(const ValueSpec& value, std::size_t index);

/// The device code that the kernel's text needs before it: no more, because all of it takes time to compile.
std::string headers(std::string_view body);

}  // namespace gpulua
