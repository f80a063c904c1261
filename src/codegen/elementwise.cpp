// The text of an elementwise kernel.

#include "src/codegen/elementwise.h"

#include "src/codegen/element_text.h"
#include "src/codegen/parameters.h"

namespace gpulua {

std::string emit_elementwise(const KernelSpec& spec) {
  const std::string others = std::to_string(spec.ndim - 1);
  const std::string width = std::to_string(spec.vector);
  const ElementText element(spec);

  std::string text = "extern \"C\" __global__ void " + spec.name() + parameter_list(spec) + " {\n";
  if (spec.rows) {
    if (spec.ndim > 1) {
      text += "  const gpulua_index_t row = blockIdx.x / row_blocks;\n";
      text += "  const gpulua_index_t block = blockIdx.x - row * row_blocks;\n";
    } else {
      text += "  const gpulua_index_t block = blockIdx.x;\n";
    }
    if (spec.spread)
      text += "  const gpulua_index_t step = blockDim.x;\n  gpulua_index_t col = block * step * " + width +
              " + threadIdx.x;\n";
    else
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
  if (spec.fast_path) {
    text += "  gpulua_index_t end = inner;\n  if (col + width <= inner) {\n    end = col + width;\n";
    text += element.element(true, "    ") + "  }\n";
    return text + "  for (; col < end; ++col) {\n" + element.element(false, "    ") + "  }\n}\n";
  }
  text += spec.spread ? "  if (col + (width - 1) * step < inner) {\n" : "  if (col + width <= inner) {\n";
  text += element.element(true, "    ");
  text += spec.spread ? "  } else {\n    for (; col < inner; col += step) {\n"
                      : "  } else {\n    for (; col < inner; ++col) {\n";
  text += element.element(false, "      ") + "    }\n  }\n}\n";
  return text;
}

}  // namespace gpulua
