// The text of an elementwise kernel whose blocks work on tiles. An operand that is consecutive along the axis before
// the innermost is read along that axis into shared memory. Then the block goes along the innermost axis.

#include "src/codegen/tiled.h"

#include "src/codegen/body.h"
#include "src/codegen/parameters.h"

namespace gpulua {

namespace {

class TiledText {
 public:
  TiledText(const KernelSpec& spec, const TiledSpec& tiles) : spec_(spec), tiles_(tiles) {}

  std::string emit() const {
    const std::string others = std::to_string(spec_.ndim - 1), first_row = "at[" + std::to_string(spec_.ndim - 2) + "]";
    std::string text = "__global__ void " + spec_.name() + parameter_list(spec_) + " {\n";
    text +=
        "  constexpr int edge = " + std::to_string(tiles_.edge) + ", lines = " + std::to_string(tiles_.lines) + ";\n";
    text += "  constexpr int count = edge * edge / (32 * lines), batch = 4;\n";
    text += "  const gpulua_index_t tile_row = blockIdx.x / row_blocks;\n";
    text += "  const gpulua_index_t first_col = (blockIdx.x - tile_row * row_blocks) * edge;\n";
    text += "  gpulua_offset_t at[" + others + "];\n";
    text += "  gpulua_unravel(tile_row, outer, at);\n";
    text += "  " + first_row + " *= edge;\n";
    text += "  const int rows = gpulua_tile_extent<edge>(along - " + first_row + ");\n";
    text += "  const int cols = gpulua_tile_extent<edge>(inner - first_col);\n";
    text += "  const bool full = rows == edge && cols == edge;\n";
    text += pointers() + tiles();
    return text + "  if (full) {\n" + elements(true) + "  } else {\n" + elements(false) + "  }\n}\n";
  }

 private:
  /// Pointers to the first elements of the operands' and outputs' tiles.
  std::string pointers() const {
    std::string text;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      const std::string name = operand_name(i);
      if (is_whole(operand)) continue;
      text += operand.memory ? "  const auto* const p_" + name + " = " + name + " + "
                             : "  const gpulua_offset_t p_" + name + " = ";
      text += offset(name, operand.access) + ";\n";
    }
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
      text += "  auto* const p_" + output_name(i) + " = " + output_name(i) + " + " +
              offset(output_name(i), spec_.outputs[i].access) + ";\n";
    return text;
  }

  std::string tiles() const {
    std::string memory, all, some;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      if (spec_.operands[i].access != Access::tiled) continue;
      const std::string name = operand_name(i);
      memory += "  __shared__ gpulua_tile<" + element_type(spec_.operands[i].dtype) + ", edge> t_" + name + ";\n";
      const std::string arguments = "(p_" + name + ", " + stride(name, spec_.ndim - 1) + ", rows, cols);\n";
      all += "    t_" + name + ".read<lines, true>" + arguments;
      some += "    t_" + name + ".read<lines, false>" + arguments;
    }
    return memory + "  if (full) {\n" + all + "  } else {\n" + some + "  }\n  __syncthreads();\n";
  }

  /// Goes through the elements of a thread in batches.
  std::string elements(bool full) const {
    return "    for (int first = 0; first < count; first += batch) {\n" + loads(full) + values(full) + "    }\n";
  }

  /// Loads the elements of the other operands ahead of the first store: the compiler cannot move loads over stores.
  std::string loads(bool full) const {
    std::string arrays, reads;
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const OperandSpec& operand = spec_.operands[i];
      if (!operand.memory || is_whole(operand) || operand.access == Access::tiled) continue;
      const std::string name = operand_name(i);
      arrays += "      " + element_type(operand.dtype) + " x_" + name + "[batch];\n";
      reads += "        x_" + name + "[k] = p_" + name + "[" + place(name, operand.access) + "];\n";
    }
    return reads.empty() ? "" : arrays + loop(full) + reads + "      }\n";
  }

  std::string values(bool full) const {
    std::string text = loop(full);
    for (std::size_t i = 0; i < spec_.values.size(); ++i) {
      const ValueSpec& value = spec_.values[i];
      const std::string right =
          value.kind == ValueSpec::Kind::operand ? operand_text(value.operand) : expression(value, spec_);
      text += "        const " + value_type(value, spec_) + " " + value_name(i) + " = " + right + ";\n";
    }
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
      const OutputSpec& output = spec_.outputs[i];
      const std::string number = converted(value_name(output.value), spec_.values[output.value].dtype, output.dtype);
      text += "        p_" + output_name(i) + "[" + place(output_name(i), output.access) +
              "] = " + stored(number, output.dtype) + ";\n";
    }
    return text + "      }\n";
  }

  static std::string loop(bool full) {
    std::string text = "#pragma unroll\n      for (int k = 0; k < batch; ++k) {\n";
    text += "        const int col = gpulua_tile_lane<edge>(first + k);\n";
    text += "        const int row = gpulua_tile_line<edge, lines>(first + k);\n";
    return full ? text : text + "        if (row >= rows || col >= cols) continue;\n";
  }

  std::string operand_text(std::size_t index) const {
    const OperandSpec& operand = spec_.operands[index];
    const std::string name = operand_name(index);
    if (is_whole(operand)) return whole(operand, name);
    if (!operand.memory) return "(long long)p_" + name + " + (long long)(" + place(name, operand.access) + ")";
    if (operand.access == Access::tiled) return loaded("t_" + name + ".at[col][row]", operand.dtype);
    return loaded("x_" + name + "[k]", operand.dtype);
  }

  static std::string stride(const std::string& name, std::size_t axis) {
    return name + "_strides.at[" + std::to_string(axis) + "]";
  }

  /// The offset of the first position of the tile.
  std::string offset(const std::string& name, Access access) const {
    if (access == Access::fixed) return "0";
    return "(gpulua_offset(at, " + name + "_strides)" + along_inner(name, access, "first_col") + ")";
  }

  /// The offset of `row` and `col` within the tile.
  std::string place(const std::string& name, Access access) const {
    if (access == Access::fixed) return "0";
    return "row * " + stride(name, spec_.ndim - 2) + along_inner(name, access, "col");
  }

  std::string along_inner(const std::string& name, Access access, const std::string& position) const {
    if (access == Access::splat) return "";
    const std::string step = access == Access::unit ? "" : " * " + stride(name, spec_.ndim - 1);
    return " + (gpulua_offset_t)" + position + step;
  }

  const KernelSpec& spec_;
  const TiledSpec& tiles_;
};

}  // namespace

std::string emit_family(const KernelSpec& spec, const TiledSpec& family) {
  return TiledText(spec, family).emit();
}

}  // namespace gpulua
