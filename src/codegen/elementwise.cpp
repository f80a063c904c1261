// The text of an elementwise kernel.

#include "src/codegen/elementwise.h"

#include "src/codegen/element_text.h"
#include "src/codegen/parameters.h"

namespace gpulua {

namespace {

/// One statement for each seam: its move, which is the expression `of` the seam's number.
std::string moves(const ElementwiseSpec& family, const std::string& indent, const std::string& name, const auto& of) {
  std::string text;
  for (std::size_t i = 0; i < family.seams; ++i) {
    const std::string number = std::to_string(i);
    text += indent + "const gpulua_offset_t " + name + number + " = " + of(number) + ";\n";
  }
  return text;
}

/// The moves of column `at`.
std::string moves_at(const ElementwiseSpec& family, const std::string& indent, const std::string& at) {
  const std::string extent = family.rows ? "inner" : "inner_extent.extent";
  return moves(family, indent, "move", [&](const std::string& seam) {
    return "gpulua_move(" + at + ", seams.at[" + seam + "], " + extent + ")";
  });
}

/// The threads of a block walk along its columns from seam to seam, where an operand that is rolled along the innermost
/// axis goes on at its front. Up to there its elements are neighbours.
std::string walk(const ElementwiseSpec& family, const ElementText& element) {
  std::string text = "  const gpulua_index_t first = block * span;\n";
  text += "  const gpulua_index_t last = inner - first < span ? inner : first + span;\n";
  text += "  for (gpulua_index_t begin = first, end = last; begin < last; begin = end) {\n    end = last;\n";
  for (std::size_t i = 0; i < family.seams; ++i)
    text += "    end = gpulua_next_seam(begin, end, seams.at[" + std::to_string(i) + "]);\n";
  text += moves_at(family, "    ", "begin");
  text += "    for (gpulua_index_t col = begin + threadIdx.x; col < end; col += blockDim.x) {\n";
  return text + element.element(false, "      ") + "    }\n  }\n";
}

/// The columns of a block in which an operand that is rolled along the innermost axis has one move are its window:
/// there its elements are read as neighbours. The few columns outside of it have moves of their own.
std::string window(const KernelSpec& spec, const ElementwiseSpec& family, const ElementText& element) {
  std::string text = "  constexpr int width = " + std::to_string(spec.vector) + ";\n";
  text += "  gpulua_window window(block * blockDim.x * width, blockDim.x * width, inner);\n";
  text +=
      moves(family, "  ", "side", [](const std::string& seam) { return "window.cut(seams.at[" + seam + "], inner)"; });
  text += std::string("  if (col >= window.begin && col + (width - 1)") + (family.spread ? " * step" : "") +
          " < window.end) {\n";
  text += moves(family, "    ", "move", [](const std::string& seam) { return "side" + seam; });
  text += element.element(spec.vector > 1, "    ");
  // Few threads come here. Unrolled, the loop would take registers from all.
  text += "  } else {\n#pragma unroll 1\n    for (int k = 0; k < width && col < inner; ++k) {\n";
  text += moves_at(family, "      ", "col") + element.element(false, "      ");
  return text + (family.spread ? "      col += step;\n" : "      ++col;\n") + "    }\n  }\n";
}

}  // namespace

std::string emit_family(const KernelSpec& spec, const ElementwiseSpec& family) {
  const std::string others = std::to_string(spec.ndim - 1);
  const std::string width = std::to_string(spec.vector);
  const ElementText element(spec);

  std::string text = "__global__ void " + spec.name() + parameter_list(spec) + " {\n";
  if (family.rows) {
    if (spec.ndim > 1) {
      text += "  const gpulua_index_t row = blockIdx.x / row_blocks;\n";
      text += "  const gpulua_index_t block = blockIdx.x - row * row_blocks;\n";
    } else {
      text += "  const gpulua_index_t block = blockIdx.x;\n";
    }
    if (family.walks)
      text += "  const gpulua_index_t span = blockDim.x * " + std::to_string(walked_elements) + ";\n";
    else if (family.spread)
      // Known to the compiler, it is part of the loads' addresses.
      text += "  constexpr gpulua_index_t step = " + std::to_string(block_size) +
              ";\n  gpulua_index_t col = block * step * " + width + " + threadIdx.x;\n";
    else
      text += "  gpulua_index_t col = (block * blockDim.x + threadIdx.x) * " + width + ";\n";
    if (!family.walks && !family.ragged) text += "  if (col >= inner) return;\n";
  } else {
    text += "  const gpulua_index_t item = ((gpulua_index_t)blockIdx.x * blockDim.x + threadIdx.x) * " + width + ";\n";
    text += "  if (item >= size) return;\n";
    text += "  const gpulua_index_t row = inner_extent.divide(item);\n";
    text += "  const gpulua_index_t col = item - row * inner_extent.extent;\n";
  }
  if (spec.ndim > 1) text += "  gpulua_offset_t at[" + others + "];\n  gpulua_unravel(row, outer, at);\n";
  for (std::size_t i = 0; i < family.rolls; ++i) {
    const std::string number = std::to_string(i);
    text += "  gpulua_offset_t from" + number + "[" + others + "];\n  gpulua_roll(at, roll" + number + ", outer, from" +
            number + ");\n";
  }
  text += element.before();
  if (family.walks) return text + walk(family, element) + "}\n";
  if (family.seams > 0 && family.rows) return text + window(spec, family, element) + "}\n";
  text += moves_at(family, "  ", "col");
  if (spec.vector == 1) return text + element.element(false, "  ") + "}\n";
  text += "  constexpr int width = " + width + ";\n";
  if (!family.rows) return text + element.element(true, "  ") + "}\n";
  if (family.ragged) return text + element.element(true, "  ") + "}\n";
  if (family.fast_path) {
    text += "  gpulua_index_t end = inner;\n  if (col + width <= inner) {\n    end = col + width;\n";
    text += element.element(true, "    ") + "  }\n";
    return text + "  for (; col < end; ++col) {\n" + element.element(false, "    ") + "  }\n}\n";
  }
  text += family.spread ? "  if (col + (width - 1) * step < inner) {\n" : "  if (col + width <= inner) {\n";
  text += element.element(true, "    ");
  text += family.spread ? "  } else {\n    for (; col < inner; col += step) {\n"
                        : "  } else {\n    for (; col < inner; ++col) {\n";
  text += element.element(false, "      ") + "    }\n  }\n}\n";
  return text;
}

}  // namespace gpulua
