// The text of an elementwise kernel.

#include "src/codegen/elementwise.h"

#include "src/codegen/body.h"
#include "src/codegen/parameters.h"

namespace gpulua {

namespace {

/// Emits loads, values and stores for the element `col` + k.
class ElementText {
 public:
  explicit ElementText(const KernelSpec& spec) : spec_(spec) {}

  /// What is the same for all elements of a thread.
  std::string before() const {
    std::string text;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      const std::string name = operand_name(i);
      const bool moves = has_strides(operand.access, spec_.ndim) && spec_.ndim > 1;
      const std::string offset = moves ? "gpulua_offset(at, " + name + "_strides)" : "0";
      if (operand.access == Access::value) continue;
      if (!operand.memory) {
        text += "  const gpulua_offset_t p_" + name + " = " + offset + ";\n";
      } else if (operand.access == Access::fixed || operand.access == Access::splat) {
        text += "  const auto x_" + name + " = " + name + "[" + offset + "];\n";
      } else {
        text += "  const auto* const p_" + name + " = " + name + " + " + offset + ";\n";
      }
    }
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      const std::string name = output_name(i);
      const bool moves = has_strides(spec_.outputs[i].access, spec_.ndim) && spec_.ndim > 1;
      text += "  auto* const p_" + name + " = " + name + (moves ? " + gpulua_offset(at, " + name + "_strides)" : "") +
              ";\n";
    }
    return text;
  }

  /// One element; `vector` at a time where that is more than 1.
  std::string element(bool vector, const std::string& indent) const {
    std::string text;
    if (vector) {
      for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
        const OperandSpec& operand = spec_.operands[i];
        if (!operand.memory || operand.access != Access::unit) continue;
        const std::string name = operand_name(i);
        text += indent + "const gpulua_pack<" + element_type(operand.dtype) + ", width> x_" + name + "(p_" + name +
                " + col);\n";
      }
      for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
        text += indent + "gpulua_pack<" + element_type(spec_.outputs[i].dtype) + ", width> y_" + output_name(i) + ";\n";
      text += several(spec_, "col", indent);
      text += indent + "#pragma unroll\n" + indent + "for (int k = 0; k < width; ++k) {\n";
    }
    const std::string inner = vector ? indent + "  " : indent;
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      const std::string right = value.kind == ValueSpec::Kind::operand     ? operand_text(value.operand, vector)
                                : vector && comes_in_several(spec_, value) ? one_of_several(value, i)
                                                                           : expression(value, spec_.values);
      text += inner + "const " + register_type(value.dtype) + " " + value_name(i) + " = " + right + ";\n";
    }
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      const OutputSpec& output = spec_.outputs[i];
      const std::string name = output_name(i);
      const std::string number = converted(value_name(output.value), spec_.values[output.value].dtype, output.dtype);
      const std::string place = vector && output.access == Access::unit ? "y_" + name + ".at[k]" : place_of(i, vector);
      text += inner + place + " = " + stored(number, output.dtype) + ";\n";
    }
    if (!vector) return text;
    text += indent + "}\n";
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
      if (spec_.outputs[i].access == Access::unit)
        text += indent + "y_" + output_name(i) + ".store(p_" + output_name(i) + " + col);\n";
    return text;
  }

 private:
  static std::string column(bool vector) { return vector ? "(col + k)" : "col"; }

  /// The offset of the column where it takes a stride, which may be negative.
  std::string steps(const std::string& name, bool vector) const {
    return "(gpulua_offset_t)" + column(vector) + " * " + name + "_strides.at[" + std::to_string(spec_.ndim - 1) + "]";
  }

  std::string place_of(std::size_t index, bool vector) const {
    const std::string name = output_name(index);
    switch (spec_.outputs[index].access) {
      case Access::unit:
        return "p_" + name + "[" + column(vector) + "]";
      case Access::strided:
        return "p_" + name + "[" + steps(name, vector) + "]";
      default:
        return "p_" + name + "[0]";
    }
  }

  std::string operand_text(std::size_t index, bool vector) const {
    const OperandSpec& operand = spec_.operands[index];
    const std::string name = operand_name(index);
    std::string step = "0";
    if (operand.access == Access::unit) step = column(vector);
    if (operand.access == Access::strided) step = steps(name, vector);
    if (operand.access == Access::value) return loaded(name, operand.dtype);
    if (!operand.memory) return "(long long)p_" + name + " + (long long)" + step;
    if (operand.access == Access::fixed || operand.access == Access::splat) return loaded("x_" + name, operand.dtype);
    if (operand.access == Access::unit && vector) return loaded("x_" + name + ".at[k]", operand.dtype);
    return loaded("p_" + name + "[" + step + "]", operand.dtype);
  }

  const KernelSpec& spec_;
};

}  // namespace

std::string emit_elementwise(const KernelSpec& spec) {
  const std::string others = std::to_string(spec.ndim - 1);
  const std::string width = std::to_string(spec.vector);
  const ElementText element(spec);

  std::string parameters =
      spec.rows ? "gpulua_index_t inner, gpulua_index_t row_blocks" : "gpulua_index_t size, gpulua_extent inner_extent";
  if (spec.ndim > 1) parameters += ", gpulua_extents<" + others + "> outer";
  std::string text = "extern \"C\" __global__ void gpulua_kernel(" + parameters + operand_parameters(spec) + ") {\n";
  if (spec.rows) {
    if (spec.ndim > 1) {
      text += "  const gpulua_index_t row = blockIdx.x / row_blocks;\n";
      text += "  const gpulua_index_t block = blockIdx.x - row * row_blocks;\n";
    } else {
      text += "  const gpulua_index_t block = blockIdx.x;\n";
    }
    text += "  gpulua_index_t col = (block * blockDim.x + threadIdx.x) * " + width + ";\n";
    text += "  if (col >= inner) return;\n";
  } else {
    text += "  const gpulua_index_t item = ((gpulua_index_t)blockIdx.x * blockDim.x + threadIdx.x) * " + width + ";\n";
    text += "  if (item >= size) return;\n";
    text += "  const gpulua_index_t row = inner_extent.divide(item);\n";
    text += "  const gpulua_index_t col = item - row * inner_extent.extent;\n";
  }
  if (spec.ndim > 1) text += "  gpulua_offset_t at[" + others + "];\n  gpulua_unravel(row, outer, at);\n";
  text += element.before();
  if (spec.vector == 1) return text + element.element(false, "  ") + "}\n";
  text += "  constexpr int width = " + width + ";\n";
  if (!spec.rows) return text + element.element(true, "  ") + "}\n";
  text += "  if (col + width <= inner) {\n" + element.element(true, "    ");
  text += "  } else {\n    for (; col < inner; ++col) {\n" + element.element(false, "      ") + "    }\n  }\n}\n";
  return text;
}

}  // namespace gpulua
