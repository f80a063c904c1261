#pragma once

// What CUDA C++ text defines, found by its brackets: source_functions.h asks about it.

#include <string_view>
#include <vector>

#include "src/device/shared/source_functions.h"

namespace gpulua {

using Tokens = std::vector<std::string_view>;

/// A function or type with the text between its braces.
struct Definition {
  SourceFunction function;
  bool is_type = false;
  Tokens body;
  bool is_whole = false;  // the body says all of a struct's layout: no base, no alignment of its own
};

/// The functions and types, in the text's order.
std::vector<Definition> source_definitions(std::string_view text);

bool is_name(std::string_view token);
/// The index after the bracket that closes the one at `open`.
std::size_t past_bracket(const Tokens& tokens, std::size_t open, std::string_view left, std::string_view right);
/// "ns::axpy<float>" -> "axpy".
std::string_view base_name(std::string_view name);

}  // namespace gpulua
