#include "src/codegen/accumulators.h"

#include "src/codegen/body.h"

namespace gpulua {

std::string accumulator_struct(std::string_view name, std::span<const Accumulator> members) {
  const std::string type_name(name);
  std::string text, identity, merge, alignment = "8";
  for (const Accumulator& one : members) {
    const std::string type = one.type + "<" + register_type(one.compute) + ">";
    const std::string member = "a" + std::to_string(one.value);
    text += "  " + type + " " + member + ";\n";
    identity += (identity.empty() ? "" : ", ") + type + "::identity()";
    merge += "    " + member + ".merge(other." + member + ");\n";
    if (one.compute == DType::complex128) alignment = "16";
  }
  return "struct alignas(" + alignment + ") " + type_name + " {\n" + text + "  __device__ static " + type_name +
         " identity() { return {" + identity + "}; }\n" + "  __device__ void merge(const " + type_name +
         "& other) {\n" + merge + "  }\n};\n";
}

std::string reduced(const ValueSpec& value, const std::string& total) {
  const bool is_number = value.dtype == value.compute || value.reducer->rule == ReductionRule::position;
  return is_number ? total : converted(total, value.compute, value.dtype);
}

}  // namespace gpulua
