#include "bindings/kernels/argument_rule.h"

#include <string_view>

#include "src/device/shared/source_functions.h"

namespace gpulua {

namespace {

constexpr std::uint32_t bit(DType dtype) {
  return std::uint32_t{1} << static_cast<unsigned>(dtype);
}
constexpr std::uint32_t any_dtype = ~std::uint32_t{0};

/// The pointee of "const float*", without its const.
std::string_view pointee(const Parameter& parameter) {
  std::string_view type = parameter.type;
  if (type.ends_with('*')) type.remove_suffix(1);
  if (type.starts_with("const ")) type.remove_prefix(6);
  return type;
}

std::uint32_t dtypes_for(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::unknown) return any_dtype;
  if (parameter.kind != ParameterKind::pointer) return 0;
  const std::string_view type = pointee(parameter);
  if (!parameter.dtype) {
    if (type == "void") return any_dtype;
    // An array of structs is an array of bytes; addresses are integers.
    return bit(type.ends_with('*') ? DType::uint64 : DType::uint8);
  }
  // The sign of char is the platform's choice, and char is also C's byte.
  if (type == "char") return bit(DType::int8) | bit(DType::uint8);
  if (parameter.lanes == 2 && *parameter.dtype == DType::float32) return bit(DType::float32) | bit(DType::complex64);
  if (parameter.lanes == 2 && *parameter.dtype == DType::float64) return bit(DType::float64) | bit(DType::complex128);
  return bit(*parameter.dtype);
}

}  // namespace

ArgumentRule make_rule(const Parameter& parameter, const std::string* source) {
  ArgumentRule rule{parameter, dtypes_for(parameter), {}};
  const bool is_struct = parameter.kind == ParameterKind::record ||
                         (parameter.kind == ParameterKind::pointer && rule.dtypes == bit(DType::uint8));
  if (is_struct && source != nullptr && !parameter.dtype) rule.members = struct_members(*source, pointee(parameter));
  return rule;
}

std::string expected_array(const ArgumentRule& rule) {
  if (rule.takes_any()) return "an array";
  std::string names;
  for (const DTypeInfo& row : dtype_table())
    if (rule.takes(row.dtype)) names += (names.empty() ? "" : " or ") + std::string(row.name);
  return (names[0] == 'i' ? "an " : "a ") + names + " array";
}

}  // namespace gpulua
