#pragma once

// The text of elementwise operations in CUDA C++.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/ops/op_table.h"

namespace gpulua {

/// True for the 16-bit floating types.
bool is_small_float(DType dtype);
/// The type of a number in a register: 16-bit floating types are float there.
std::string register_type(DType dtype);
/// The type of an element in memory.
std::string element_type(DType dtype);

/// Converts `text`, a number of dtype `from` in a register, to dtype `to`.
std::string converted(const std::string& text, DType from, DType to);
/// Converts `text`, an element in memory, to a number in a register.
std::string loaded(const std::string& text, DType dtype);
/// Converts `text`, a number in a register, to an element of the same dtype in memory.
std::string stored(const std::string& text, DType dtype);

/// Names in a row's text and what they stand for.
using TextNames = std::vector<std::pair<std::string_view, std::string>>;
/// `text` with the identifiers of `names` replaced.
std::string substitute(std::string_view text, const TextNames& names);

/// The row's expression for numbers of dtype `compute`.
std::string_view row_text(const OpInfo& op, DType compute);
/// `text`, the value of the row, as a number of dtype `result`: C++ may have promoted it to int, or hold it as a float.
std::string rounded(const std::string& text, const OpInfo& op, DType compute, DType result);

/// The name of operand `index` in a row's text.
std::string_view operand_letter(std::size_t index);

}  // namespace gpulua
