// The text of a kernel that writes the elements for which a mask is true, one after the other, in one pass. A block
// takes a tile of elements. The tiles before it tell where the block writes (decoupled look-back,
// kernels/compress.cuh).

#include "src/codegen/compress.h"

#include "src/codegen/element_text.h"
#include "src/codegen/parameters.h"

namespace gpulua {

namespace {

/// Short expressions leave registers for 2048 threads of a multiprocessor, which hide the waits of blocks for each
/// other.
constexpr std::size_t short_expression = 16;  // values

/// Statements that compute an item's offsets from its row-major position.
std::string place_text(const KernelSpec& spec, const std::string& indent) {
  if (spec.ndim == 1) return indent + "const gpulua_index_t col = item;\n";
  const std::string others = std::to_string(spec.ndim - 1);
  return indent + "const gpulua_index_t row = inner_extent.divide(item);\n" + indent +
         "const gpulua_index_t col = item - row * inner_extent.extent;\n" + indent + "gpulua_offset_t at[" + others +
         "];\n" + indent + "gpulua_unravel(row, outer, at);\n";
}

/// The text for a block that is one warp.
std::string emit_in_turn(const KernelSpec& spec, const CompressSpec& family, const ElementText& element) {
  const bool flat = spec.ndim == 1;
  const std::string tile = std::to_string(32 * family.items);
  return "__global__ void __launch_bounds__(32) " + spec.name() + parameter_list(spec) +
         " {\n"
         "  using Element = gpulua_element<decltype(out0)>;\n"
         "  gpulua_compress_warp<Element> warp(state, out0);\n"
         "  const gpulua_offset_t begin = (gpulua_offset_t)blockIdx.x * " +
         tile + ", all = size;\n  const gpulua_offset_t end = all - begin < " + tile + " ? all : begin + " + tile +
         ";\n" + (flat ? element.before() : "") +
         "#pragma unroll 1\n"
         "  for (gpulua_offset_t first = begin; first < end; first += 32) {\n"
         "    constexpr int slot = 0;\n"
         "    unsigned int keep = 0;\n"
         "    Element kept[1] = {};\n"
         "    if ((gpulua_offset_t)threadIdx.x < end - first) {\n"
         "      const gpulua_offset_t item = first + (gpulua_offset_t)threadIdx.x;\n" +
         place_text(spec, "      ") + (flat ? "" : element.before("      ")) + element.element(false, "      ") +
         "    }\n    warp.take(keep != 0, kept[0]);\n  }\n  warp.finish();\n}\n";
}

}  // namespace

std::string emit_family(const KernelSpec& spec, const CompressSpec& family) {
  const ElementText element(spec);
  if (family.threads == 32) return emit_in_turn(spec, family, element);
  const bool flat = spec.ndim == 1;
  const std::string threads = std::to_string(family.threads), items = std::to_string(family.items);
  const unsigned resident = (spec.values.size() <= short_expression ? 2048 : 1024) / family.threads;
  std::string text = "__global__ void __launch_bounds__(" + threads + ", " + std::to_string(resident) +
                     ") " + spec.name() + parameter_list(spec) + " {\n";
  text += "  constexpr int threads = " + threads + ", items = " + items + ", width = " + std::to_string(spec.vector) +
          ";\n";
  text +=
      "  using Block = gpulua_compress_block<gpulua_element<decltype(out0)>, threads, items, width>;\n"
      "  __shared__ typename Block::Shared shared;\n"
      "  Block block(shared, state);\n"
      "  const gpulua_index_t first = (gpulua_index_t)block.tile * (threads * items) + block.first_item();\n"
      "  unsigned int keep = 0;\n"
      "  typename Block::Element kept[items];\n";
  if (flat) text += element.before();
  if (flat) {
    text +=
        "  if ((gpulua_index_t)block.tile * (threads * items) + threads * items <= size) {\n"
        "#pragma unroll\n"
        "    for (int slot = 0; slot < items; slot += width) {\n"
        "      const gpulua_index_t col = first + slot * 32;\n" +
        element.element(spec.vector > 1, "      ") + "    }\n  } else {\n";
  } else {
    text += "  {\n";
  }
  text +=
      "#pragma unroll\n"
      "    for (int slot = 0; slot < items; ++slot) {\n"
      "      const gpulua_index_t item = first + slot / width * width * 32 + slot % width;\n"
      "      if (item >= size) continue;\n" +
      place_text(spec, "      ");
  if (!flat) text += element.before("      ");
  return text + element.element(false, "      ") + "    }\n  }\n  block.write(keep, kept, out0);\n}\n";
}

}  // namespace gpulua
