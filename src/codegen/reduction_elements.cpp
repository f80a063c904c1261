#include "src/codegen/reduction_elements.h"

#include <algorithm>

#include "src/codegen/accumulators.h"
#include "src/codegen/body.h"
#include "src/codegen/parameters.h"

namespace gpulua {

ReductionElements::ReductionElements(const KernelSpec& spec, const ReductionSpec& plan)
    : spec_(spec), plan_(plan), common_(spec.values.size(), false) {
  if (!has_columns()) return;
  std::vector<bool> varies(spec.values.size());
  for (std::size_t i = 0; i < spec.values.size(); ++i) {
    const ValueSpec& value = spec.values[i];
    if (value.nested || is_nested_reduction(spec, value)) continue;
    varies[i] = value.kind == ValueSpec::Kind::operand
                    ? spec.operands[value.operand].along_results
                    : std::ranges::any_of(value.inputs, [&](std::size_t input) { return varies[input]; });
    common_[i] = !varies[i] && !value.outer && value.kind != ValueSpec::Kind::reduction;
  }
}

std::string ReductionElements::pointers(bool outer, const std::string& indent) const {
  const bool is_single = plan_.rolled && spec_.ndim == 1;
  std::string text;
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    const OperandSpec& operand = spec_.operands[i];
    if (operand.outer != outer || is_whole(operand) || operand.staged) continue;
    const std::string name = operand_name(i);
    const std::string offset =
        operand.common ? "0"
        : has_strides(operand.access, spec_.ndim + inner_axes(operand))
            ? is_single && !operand.along_results
                  ? "at[0] * " + name + "_strides.at[0]"
                  : (operand.along_results ? "gpulua_unit_offset(at, " : "gpulua_offset(at, ") + name + "_strides)"
        : outer && operand.access == Access::unit ? "at[0]"
                                                  : "0";
    text += indent + (operand.memory ? "const auto* const p_" + name + " = " + name + " + " + offset + ";\n"
                                     : "const gpulua_offset_t p_" + name + " = " + offset + ";\n");
  }
  return text;
}

std::string ReductionElements::stage() const {
  std::string text;
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    if (!spec_.operands[i].staged) continue;
    const std::string name = operand_name(i);
    text += "  __shared__ gpulua_staged_rows<" + element_type(spec_.operands[i].dtype) + ", " +
            std::to_string(plan_.count) + ", slots> s_" + name + ";\n  s_" + name + ".copy(" + name +
            ", group * slots, results, " + name + "_strides.at[" + std::to_string(spec_.ndim - 1) + "]);\n";
  }
  return text.empty() ? text : text + "  __syncthreads();\n";
}

bool ReductionElements::is_nested_pack(const OperandSpec& operand) const {
  return operand.nested && operand.memory && operand.indexed == 0 && operand.access == Access::unit &&
         plan_.nested.size() == 1;
}

std::string ReductionElements::nested_pack(const OperandSpec& operand) const {
  return "gpulua_pack<" + element_type(operand.dtype) + ", " + std::to_string(plan_.nested_vector) + ">";
}

std::string ReductionElements::nested_loop(const std::string& indent) const {
  return indent + "#pragma unroll\n" + indent + "for (int i = 0; i < " +
         std::to_string(plan_.nested_count() / plan_.nested_vector) + "; ++i) {\n";
}

std::string ReductionElements::nested_place() const {
  return "(i * " + std::to_string(plan_.nested_vector) + " + k)";
}

std::string ReductionElements::each_of_vector(const std::string& indent) const {
  return indent + "#pragma unroll\n" + indent + "for (int k = 0; k < " + std::to_string(plan_.nested_vector) +
         "; ++k) {\n";
}

std::string ReductionElements::nested_step(std::size_t index, const std::string& place) const {
  const OperandSpec& operand = spec_.operands[index];
  if (is_nested_pack(operand)) return place;
  std::string text;
  unsigned before = 1;
  for (std::size_t axis = plan_.nested.size(); axis-- > 0; before *= plan_.nested[axis]) {
    const std::string at = place + " / " + std::to_string(before) + " % " + std::to_string(plan_.nested[axis]);
    text += (text.empty() ? "" : " + ") + at + " * " + operand_name(index) + "_strides.at[" +
            std::to_string(spec_.ndim + plan_.ndim + axis) + "]";
  }
  return "(" + text + ")";
}

std::string ReductionElements::hold() const {
  std::string text;
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    const OperandSpec& operand = spec_.operands[i];
    if (!operand.held) continue;
    const std::string name = operand_name(i);
    text += "  " + nested_pack(operand) + " h_" + name + "[" +
            std::to_string(plan_.nested_count() / plan_.nested_vector) + "];\n" + nested_loop("  ");
    if (is_nested_pack(operand))
      text += "    h_" + name + "[i] = " + nested_pack(operand) + "(p_" + name + " + i * " +
              std::to_string(plan_.nested_vector) + ");\n  }\n";
    else
      text += each_of_vector("    ") + "      h_" + name + "[i].at[k] = p_" + name + "[" +
              nested_step(i, nested_place()) + "];\n    }\n  }\n";
  }
  return text;
}

std::string ReductionElements::nested(const std::string& position, const std::string& indent) const {
  std::string text = indent + "gpulua_nested inside = gpulua_nested::identity();\n" + nested_loop(indent);
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    const OperandSpec& operand = spec_.operands[i];
    if (operand.held || !is_nested_pack(operand)) continue;
    text += indent + "  const " + nested_pack(operand) + " x_" + operand_name(i) + "(p_" + operand_name(i) + " + " +
            step(i, position, "i * " + std::to_string(plan_.nested_vector)) + ");\n";
  }
  text += each_of_vector(indent + "  ");
  std::string results;
  for (std::size_t i = 0; i < spec_.values.size(); ++i) {
    const ValueSpec& value = spec_.values[i];
    const std::string member = "inside.a" + std::to_string(i);
    if (value.nested) {
      text += indent + "    " + definition(i, position, false);
    } else if (is_nested_reduction(spec_, value)) {
      const std::size_t input = value.inputs.front();
      text += indent + "    " + member + ".add(" +
              converted(value_name(input), spec_.values[input].dtype, value.compute) + ", " + nested_place() + ");\n";
      results += indent + "const " + register_type(value.dtype) + " " + value_name(i) + " = " +
                 reduced(value, member + ".result()") + ";\n";
    }
  }
  return text + indent + "  }\n" + indent + "}\n" + results;
}

bool ReductionElements::is_packed(const OperandSpec& operand) const {
  if (operand.outer || !operand.memory || operand.staged || operand.indexed > 0 || nests()) return false;
  return plan_.vector_results ? operand.along_results : operand.access == Access::unit;
}

std::string ReductionElements::element(const std::string& width, const std::string& position,
                                       const std::string& indent) const {
  const bool vector = width != "1";
  std::string text;
  if (has_columns()) {
    text += nested(position, indent);
    for (std::size_t i = 0; i < spec_.values.size(); ++i)
      if (common_[i]) text += indent + definition(i, position, false);
  }
  if (vector) {
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      if (!is_packed(operand)) continue;
      text += indent + "const gpulua_pack<" + element_type(operand.dtype) + ", " + width + "> x_" + operand_name(i) +
              "(p_" + operand_name(i) + " + " + step(i, "r") + ");\n";
    }
    text += vectorised(spec_, "r", indent);
    text += indent + "#pragma unroll\n" + indent + "for (int k = 0; k < " + width + "; ++k) {\n";
  }
  const std::string inner = vector ? indent + "  " : indent;
  const std::string sum = vector && plan_.vector_results ? "sums[k].a" : "sums[0].a";
  if (nests() && !has_columns()) text += nested(position, inner);
  for (std::size_t i = 0; i < spec_.values.size(); ++i) {
    const ValueSpec& value = spec_.values[i];
    if (is_nested_reduction(spec_, value) || value.nested || common_[i]) continue;
    if (value.kind == ValueSpec::Kind::reduction) {
      const std::size_t input = value.inputs.front();
      text += inner + sum + std::to_string(i) + ".add(" +
              converted(value_name(input), spec_.values[input].dtype, value.compute) + ", " + position + ");\n";
    } else if (!value.outer) {
      text += inner + definition(i, position, vector);
    }
  }
  return vector ? text + indent + "}\n" : text;
}

std::string ReductionElements::definition(std::size_t index, const std::string& position, bool vector) const {
  const ValueSpec& value = spec_.values[index];
  const std::string right = value.kind == ValueSpec::Kind::operand  ? operand_text(value.operand, position, vector)
                            : value.kind == ValueSpec::Kind::gather ? gathered(value, step(value.operand, position))
                            : vector && is_vectorised(spec_, value) ? vectorised_element(value, index)
                                                                    : expression(value, spec_);
  return "const " + value_type(value, spec_) + " " + value_name(index) + " = " + right + ";\n";
}

std::string ReductionElements::step(std::size_t index, const std::string& position, const std::string& place) const {
  const OperandSpec& operand = spec_.operands[index];
  if (operand.outer || operand.access == Access::fixed) return "0";
  const std::string strides = operand_name(index) + "_strides", first = std::to_string(spec_.ndim);
  const std::string inside = operand.nested ? " + " + nested_step(index, place) : "";
  if (plan_.ndim > 1) return "gpulua_offset(place, " + strides + ", " + first + ")" + inside;
  if (operand.access == Access::unit && !operand.nested) return position;
  if (operand.access == Access::strided || operand.nested)
    return "(gpulua_offset_t)" + position + " * " + strides + ".at[" + first + "]" + inside;
  return "0";
}

std::string ReductionElements::step(std::size_t index, const std::string& position) const {
  return step(index, position, nested_place());
}

std::size_t ReductionElements::inner_axes(const OperandSpec& operand) const {
  return (operand.outer ? 0 : plan_.ndim) + (operand.nested ? plan_.nested.size() : 0);
}

std::string ReductionElements::operand_text(std::size_t index, const std::string& position, bool vector) const {
  const OperandSpec& operand = spec_.operands[index];
  const std::string name = operand_name(index);
  if (is_whole(operand)) return whole(operand, name);
  if (!operand.memory) return "(long long)p_" + name + " + (long long)" + step(index, position);
  if (operand.staged) return loaded("s_" + name + ".at(slot, " + position + ")", operand.dtype);
  if (operand.held) return loaded("h_" + name + "[i].at[k]", operand.dtype);
  if (operand.nested ? is_nested_pack(operand) : vector && is_packed(operand))
    return loaded("x_" + name + ".at[k]", operand.dtype);
  const std::string column = has_columns() && operand.along_results ? " + k" : "";
  return loaded("p_" + name + "[" + step(index, position) + column + "]", operand.dtype);
}

}  // namespace gpulua
