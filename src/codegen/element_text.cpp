#include "src/codegen/element_text.h"

#include "src/codegen/body.h"

namespace gpulua {

ElementText::ElementText(const KernelSpec& spec)
    : spec_(spec),
      spread_(spec.as<ElementwiseSpec>() && spec.as<ElementwiseSpec>()->spread),
      fast_path_(spec.as<ElementwiseSpec>() && spec.as<ElementwiseSpec>()->fast_path) {}

std::string ElementText::column(bool vector) const {
  return !vector ? "col" : spread_ ? "(col + k * step)" : "(col + k)";
}

std::string ElementText::before(const std::string& indent) const {
  std::string text;
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    const OperandSpec& operand = spec_.operands[i];
    const std::string name = operand_name(i);
    const bool moves = has_strides(operand.access, spec_.ndim) && spec_.ndim > 1;
    const std::string at = operand.roll > 0 ? "from" + std::to_string(operand.roll - 1) : "at";
    const std::string offset = moves ? "gpulua_offset(" + at + ", " + name + "_strides)" : "0";
    if (is_whole(operand)) continue;
    if (!operand.memory) {
      text += indent + "const gpulua_offset_t p_" + name + " = " + offset + ";\n";
    } else if (operand.indexed == 0 && (operand.access == Access::fixed || operand.access == Access::splat)) {
      text += indent + "const auto x_" + name + " = " + name + "[" + offset + "];\n";
    } else {
      text += indent + "const auto* const p_" + name + " = " + name + " + " + offset + ";\n";
    }
  }
  for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
    if (spec_.outputs[i].mask) continue;
    const std::string name = output_name(i);
    const bool moves = has_strides(spec_.outputs[i].access, spec_.ndim) && spec_.ndim > 1;
    text += indent + "auto* const p_" + name + " = " + name +
            (moves ? " + gpulua_offset(at, " + name + "_strides)" : "") + ";\n";
  }
  return text;
}

/// The pointer to the operand's element of column 0. That of a rolled operand is right for some columns.
std::string ElementText::pointer(std::size_t operand) const {
  return (spec_.operands[operand].seam > 0 ? "q_" : "p_") + operand_name(operand);
}

std::string ElementText::element(bool vector, const std::string& indent) const {
  const std::string step = spread_ ? ", step" : "";
  std::string text;
  for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
    const OperandSpec& operand = spec_.operands[i];
    if (operand.seam == 0) continue;
    text += indent + "const auto* const " + pointer(i) + " = p_" + operand_name(i) + " + move" +
            std::to_string(operand.seam - 1);
    if (operand.access == Access::strided)
      text += " * " + operand_name(i) + "_strides.at[" + std::to_string(spec_.ndim - 1) + "]";
    text += ";\n";
  }
  if (vector) {
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      if (!operand.memory || operand.access != Access::unit || operand.indexed > 0) continue;
      const std::string name = operand_name(i);
      text += indent + "const gpulua_pack<" + element_type(operand.dtype) + ", width> x_" + name + "(" + pointer(i) +
              " + col" + step + ");\n";
    }
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
      if (is_packed(spec_.outputs[i]))
        text += indent + "gpulua_pack<" + element_type(spec_.outputs[i].dtype) + ", width> y_" + output_name(i) + ";\n";
    text += vectorised(spec_, "col", indent);
    if (fast_path_) text += indent + "bool in_range = true;\n";
    text += indent + "#pragma unroll\n" + indent + "for (int k = 0; k < width; ++k) {\n";
  }
  const std::string inner = vector ? indent + "  " : indent;
  for (std::size_t i = 0; i < spec_.values.size(); ++i) {
    const ValueSpec& value = spec_.values[i];
    text += inner + "const " + value_type(value, spec_) + " " + value_name(i) + " = " + value_text(i, vector) + ";\n";
  }
  for (std::size_t i = 0; i < spec_.outputs.size(); ++i) text += inner + store(i, vector);
  if (!vector) return text;
  text += indent + "}\n";
  if (fast_path_) text += indent + "if (in_range) {\n";
  if (spec_.as<ElementwiseSpec>() && spec_.as<ElementwiseSpec>()->ragged) return text + store_part_of_row(indent);
  for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
    if (is_packed(spec_.outputs[i]))
      text += (fast_path_ ? inner : indent) + "y_" + output_name(i) + ".store(p_" + output_name(i) + " + col" + step +
              ");\n";
  if (fast_path_) text += inner + "return;\n" + indent + "}\n";
  return text;
}

std::string ElementText::store_part_of_row(const std::string& indent) const {
  std::string whole, part;
  for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
    const std::string name = output_name(i);
    whole += indent + "  y_" + name + ".store(p_" + name + " + col);\n";
    part += indent + "      p_" + name + "[col + k] = y_" + name + ".at[k];\n";
  }
  // The same for all threads of a block: only the last one of a row stores under masks.
  return indent + "if (inner - block * blockDim.x * width >= blockDim.x * width) {\n" + whole + indent +
         "} else {\n#pragma unroll\n" + indent + "  for (int k = 0; k < width; ++k)\n" + indent +
         "    if (col + k < inner) {\n" + part + indent + "    }\n" + indent + "}\n";
}

/// The offset of a column with a stride, which may be negative.
std::string ElementText::store(std::size_t index, bool vector) const {
  const OutputSpec& output = spec_.outputs[index];
  const std::string name = output_name(index);
  const std::string number = converted(value_name(output.value), spec_.values[output.value].dtype, output.dtype);
  if (output.mask) {
    const std::string wanted = converted(value_name(*output.mask), spec_.values[*output.mask].dtype, DType::boolean);
    const std::string slot = vector ? "slot + k" : "slot";
    return "keep |= (unsigned int)(" + wanted + ") << (" + slot + "), kept[" + slot +
           "] = " + stored(number, output.dtype) + ";\n";
  }
  if (!output.indices.empty())
    return scattered(output, index, step_text(name, output.access, vector), stored(number, output.dtype));
  const std::string place = vector && output.access == Access::unit ? "y_" + name + ".at[k]" : place_of(index, vector);
  return place + " = " + stored(number, output.dtype) + ";\n";
}

std::string ElementText::steps(const std::string& name, bool vector) const {
  return "(gpulua_offset_t)" + column(vector) + " * " + name + "_strides.at[" + std::to_string(spec_.ndim - 1) + "]";
}

/// The offset of the column.
std::string ElementText::step_text(const std::string& name, Access access, bool vector) const {
  return access == Access::unit ? column(vector) : access == Access::strided ? steps(name, vector) : "0";
}

std::string ElementText::place_of(std::size_t index, bool vector) const {
  const std::string name = output_name(index);
  return "p_" + name + "[" + step_text(name, spec_.outputs[index].access, vector) + "]";
}

std::string ElementText::value_text(std::size_t index, bool vector) const {
  const ValueSpec& value = spec_.values[index];
  if (value.kind == ValueSpec::Kind::operand) return operand_text(value.operand, vector);
  if (value.kind == ValueSpec::Kind::operation && vector && is_vectorised(spec_, value))
    return vectorised_element(value, index);
  if (vector && fast_path_ && has_fast_path(value)) return fast_path_expression(value, spec_.values);
  if (value.kind != ValueSpec::Kind::gather) return expression(value, spec_);
  return gathered(value, step_text(operand_name(value.operand), spec_.operands[value.operand].access, vector));
}

std::string ElementText::operand_text(std::size_t index, bool vector) const {
  const OperandSpec& operand = spec_.operands[index];
  const std::string name = operand_name(index);
  const std::string step = step_text(name, operand.access, vector);
  if (is_whole(operand)) return whole(operand, name);
  if (!operand.memory) return "(long long)p_" + name + " + (long long)" + step;
  if (operand.access == Access::fixed || operand.access == Access::splat) return loaded("x_" + name, operand.dtype);
  if (operand.access == Access::unit && vector) return loaded("x_" + name + ".at[k]", operand.dtype);
  return loaded(pointer(index) + "[" + step + "]", operand.dtype);
}

}  // namespace gpulua
