#pragma once

// The functions that CUDA C++ text defines, found by its brackets. Messages use them: a compiled module has no names of
// parameters.

#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

struct SourceFunction {
  std::string name;  // without its namespaces
  bool is_kernel = false;
  bool is_template = false;
  std::vector<std::string> parameters;  // their names; empty for one without a name
  bool dynamic_shared = false;          // it, or a function that it names, uses an `extern __shared__` array
};

/// In the text's order. Functions in text that does not compile, from macros, and between `#if` and `#endif` may be
/// missing.
std::vector<SourceFunction> source_functions(std::string_view text);

/// The name of the parameter `index` of the kernel `name` ("ns::axpy<float>"), which has `count` parameters; empty when
/// the text does not tell, or has several such kernels with different names.
std::string parameter_name(std::string_view text, std::string_view name, std::size_t count, std::size_t index);

/// True for each of the `count` parameters that the text of the kernel `name` assigns elements of: out[i] = 1, *out +=
/// 1, atomicAdd(&out[i], 1). All false when the text has no such kernel, or several, or `#if`. What other functions
/// assign is not followed.
std::vector<bool> written_parameters(std::string_view text, std::string_view name, std::size_t count);

/// True when there is a kernel of that name and all such kernels use an `extern __shared__` array.
bool uses_dynamic_shared(std::string_view text, std::string_view name);

/// The members of the struct `name` in C: "float low, high;". Empty when the text has no such struct, or one with other
/// members than numbers, CUDA's vectors, such structs, and pointers, or with a layout of its own: bases, an alignment.
std::string struct_members(std::string_view text, std::string_view name);

/// The end of a message about a kernel `name` that is missing: "; ..." with the function that the text has instead, or
/// nothing.
std::string missing_kernel_hint(std::string_view text, std::string_view name);

}  // namespace gpulua
