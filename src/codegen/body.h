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
/// True for an operand that a function gets as a whole: it has no place in the iteration.
inline bool is_whole(const OperandSpec& operand) {
  return operand.access == Access::value || operand.access == Access::raw;
}
/// The text of such an operand, as a function gets it.
std::string whole(const OperandSpec& operand, const std::string& name);
/// True for an output that a thread stores in vectors, after all of their elements are computed.
inline bool is_packed(const OutputSpec& output) {
  return output.access == Access::unit && output.indices.empty() && !output.mask;
}

/// True for rows that are one product, which the compiler may compute together with a sum around it.
bool is_product(const OpInfo& op, DType compute);

/// An operation or call: an expression of the operation's row with its operands put in.
std::string expression(const ValueSpec& value, const std::vector<ValueSpec>& values);
/// True for an operation that has a quick expression for the dtype that it computes in.
bool has_quick_expression(const ValueSpec& value);
/// That expression, which clears the bool `ordinary` where its number may be wrong.
std::string quick_expression(const ValueSpec& value, const std::vector<ValueSpec>& values);

/// True for a value of which a thread that takes several elements makes as many at once.
bool comes_in_several(const KernelSpec& spec, const ValueSpec& value);
/// Makes those values for the elements from `position` on.
std::string several(const KernelSpec& spec, const std::string& position, const std::string& indent);
/// The one of them that belongs to the k-th element.
std::string one_of_several(const ValueSpec& value, std::size_t index);

/// True for an operand or output that has strides among the parameters.
bool has_strides(Access access, std::size_t ndim);

/// The device code that the kernel's text needs before it: no more, because all of it takes time to compile.
std::string headers(std::string_view body);

}  // namespace gpulua
