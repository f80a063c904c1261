#pragma once

// The functions that CUDA C++ text defines, found by its brackets: for messages, which name what a compiler's result no
// longer knows.

#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

struct SourceFunction {
  std::string name;  // without its namespaces
  bool is_kernel = false;
  bool is_template = false;
  std::vector<std::string> parameters;  // their names; empty for one without a name
  bool dynamic_shared = false;          // it, or what it names, uses an `extern __shared__` array
};

/// In order. Text that does not compile, what macros make and what stands between `#if` and `#endif` may be missed.
std::vector<SourceFunction> source_functions(std::string_view text);

/// The name of a parameter of the kernel `name` ("ns::axpy<float>"), which has `count` of them; empty when the text
/// does not tell, or has several such kernels that differ in it.
std::string parameter_name(std::string_view text, std::string_view name, std::size_t count, std::size_t index);

/// True when all kernels of that name, of which there is one, use an `extern __shared__` array.
bool uses_dynamic_shared(std::string_view text, std::string_view name);

/// The members of the struct `name` as they stand in C: "float low, high;". Empty when the text has no such struct, or
/// one with more than plain numbers and pointers.
std::string struct_members(std::string_view text, std::string_view name);

/// What the text has in place of a kernel `name` that is not there: "; ..." for the end of a message, or nothing.
std::string missing_kernel_hint(std::string_view text, std::string_view name);

}  // namespace gpulua
