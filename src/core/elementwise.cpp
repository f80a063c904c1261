#include "src/core/elementwise.h"

#include <algorithm>
#include <array>
#include <limits>

#include "src/codegen/elementwise.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
constexpr unsigned blocks_a_multiprocessor = 32;

/// Axes of extent 1 dropped, and adjacent axes joined where every operand allows it.
std::vector<Layout> collapse_all(std::vector<Layout> layouts) {
  const Dims shape = layouts.front().shape;
  std::vector<std::size_t> kept;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    const bool joins = !kept.empty() && std::all_of(layouts.begin(), layouts.end(), [&](const Layout& layout) {
      return layout.strides[kept.back()] == shape[axis] * layout.strides[axis];
    });
    const std::int64_t before = joins ? layouts.front().shape[kept.back()] : 1;
    if (joins) kept.back() = axis;
    if (!joins) kept.push_back(axis);
    for (Layout& layout : layouts) layout.shape[axis] = before * shape[axis];
  }
  for (Layout& layout : layouts) {
    Layout joined;
    joined.offset = layout.offset;
    for (std::size_t axis : kept) {
      joined.shape.push_back(layout.shape[axis]);
      joined.strides.push_back(layout.strides[axis]);
    }
    if (kept.empty()) {  // one element
      joined.shape.push_back(1);
      joined.strides.push_back(0);
    }
    layout = std::move(joined);
  }
  return layouts;
}

/// The text that identifies a kernel among those that a device has loaded.
std::string key(const ElementwiseSpec& spec) {
  std::string text = std::string(name(spec.out)) + "/" + std::to_string(spec.ndim) + (spec.wide ? "w" : "");
  for (DType dtype : spec.inputs) text += "," + std::string(name(dtype));
  for (DType dtype : spec.scalars) text += ";" + std::string(name(dtype));
  return text + "=" + spec.expression;
}

}  // namespace

void run_elementwise(const Node& out, std::span<const Node* const> inputs, std::span<const ScalarArgument> scalars,
                     const std::string& expression) {
  std::int64_t size = out.layout.size();
  if (size == 0) return;
  std::vector<Layout> layouts{out.layout};
  for (const Node* input : inputs) layouts.push_back(input->layout);
  layouts = collapse_all(std::move(layouts));

  ElementwiseSpec spec;
  spec.out = out.dtype;
  for (const Node* input : inputs) spec.inputs.push_back(input->dtype);
  for (const ScalarArgument& scalar : scalars) spec.scalars.push_back(scalar.dtype);
  spec.expression = expression;
  spec.ndim = layouts.front().ndim();
  spec.wide = size > std::numeric_limits<std::int32_t>::max();

  OpenDevice& device = out.device();
  const std::shared_ptr<Kernel>& kernel = device.kernel(key(spec), elementwise_kernel_name, [&] { return emit(spec); });

  const StreamRef& stream = device.stream();
  std::vector<void*> pointers{out.write(stream)};
  for (const Node* input : inputs) pointers.push_back(input->read(stream));
  std::vector<std::array<char, 16>> values(scalars.size());
  std::vector<void*> arguments{&size, layouts.front().shape.data()};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    arguments.push_back(&pointers[i]);
    arguments.push_back(layouts[i].strides.data());
  }
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    encode(scalars[i].dtype, scalars[i].value, values[i].data());
    arguments.push_back(values[i].data());
  }

  const std::int64_t blocks = (size + block_size - 1) / block_size;
  const std::int64_t most = std::int64_t{blocks_a_multiprocessor} * std::max(device.info().multiprocessors, 1);
  LaunchConfig config;
  config.grid.x = static_cast<unsigned>(std::min(blocks, most));
  config.block.x = block_size;
  device.launch(kernel, config, arguments.data(), stream);
}

}  // namespace gpulua
