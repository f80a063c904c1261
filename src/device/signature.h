#pragma once

// The parameter types of a kernel, read from its C++ signature.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"

namespace gpulua {

enum class ParameterKind : std::uint8_t {
  scalar,   // a number or bool of `dtype`
  pointer,  // to `dtype`, or to vectors of `lanes` of it (float2*); no dtype: to void, a struct or a pointer
  vector,   // float3, dim3 and the like: `lanes` of `dtype`
  record,   // a struct or union by value, of `size` bytes
  unknown,  // any value of `size` bytes: the module has no C++ types
};

struct Parameter {
  ParameterKind kind = ParameterKind::unknown;
  std::optional<DType> dtype;
  std::uint8_t lanes = 1;  // 1 to 4
  bool writable = false;   // a pointer to non-const: the kernel may write through it
  std::uint32_t size = 0;  // bytes of the argument
  std::string type;        // as C++ writes it: "const float*"
};

struct Signature {
  std::vector<Parameter> parameters;
};

/// Reads a demangled parameter list, "float, float const*, P, unsigned long" (without the parentheses; "" and "void"
/// are empty). `sizes` has the bytes of each parameter as the compiler laid them out; it may be empty where no
/// parameter is a record. Throws Error when the two do not agree, and for a parameter passed by reference.
Signature parse_signature(std::string_view parameters, std::span<const std::uint32_t> sizes = {});

/// "saxpy(float, const float*, unsigned long)", for messages.
std::string to_string(std::string_view name, const Signature& signature);

}  // namespace gpulua
