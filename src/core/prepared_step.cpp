#include "src/core/prepared_step.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/codegen/emit.h"
#include "src/core/array.h"

namespace gpulua {

namespace {

/// Each element that is read or written, once.
double moved_bytes(const Step& step) {
  const auto elements = [](const Layout& layout) {
    double count = 1;
    for (std::size_t axis = 0; axis < layout.ndim(); ++axis)
      if (layout.strides[axis] != 0) count *= static_cast<double>(layout.shape[axis]);
    return count;
  };
  double bytes = 0;
  for (const StepOperand& operand : step.operands)
    if (operand.node)
      bytes += (operand.gather ? static_cast<double>(operand.layout.size()) : elements(operand.layout)) *
               static_cast<double>(size_of(operand.dtype));
  for (const StepOutput& output : step.outputs)
    if (!output.mask)
      bytes += static_cast<double>(output.layout().size()) *
               static_cast<double>((output.target ? output.target : output.node)->itemsize());
  return bytes;
}

char* moved(void* memory, const Layout& layout, std::size_t itemsize) {
  return static_cast<char*>(memory) + layout.offset * static_cast<std::int64_t>(itemsize);
}

}  // namespace

PreparedStep::PreparedStep(const Step& step, std::span<const Root> roots, OpenDevice& device)
    : compresses_(step.compresses) {
  for (const StepOutput& output : step.outputs) {
    const auto root = std::find_if(roots.begin(), roots.end(), [&](const Root& one) {
      return output.target && one.target == output.target && one.node == output.node;
    });
    Output& made = outputs_.emplace_back();
    made.node = output.node->number;
    made.bytes = output.node->nbytes();
    if (root != roots.end()) made.root = static_cast<std::size_t>(root - roots.begin());
  }
  const Variant variant = choose_variant(step, device.info());
  if (variant.empty()) return;
  kernel_ = device.kernel(variant.spec.key(), [&] { return emit(variant.spec); });
  arguments_ = lay_out(step, variant, device);
  pointers_ = arguments_.arguments.pointers(*kernel_);
  moved_bytes_ = moved_bytes(step);
}

void PreparedStep::run(const Nodes& nodes, std::span<const Root> roots, OpenDevice& device) {
  // All memory is there before the arguments are filled in: to make it may run the collector, and that a script.
  boost::container::small_vector<BufferRef, 4> made;
  for (const Output& output : outputs_)
    if (!output.root) made.push_back(new_buffer(device, output.bytes));
  if (kernel_) launch(nodes, roots, {made.data(), made.size()}, make_scratch(device), device);
  auto next = made.begin();
  for (const Output& output : outputs_)
    if (!output.root) nodes[output.node]->resolve(std::move(*next++));
}

std::int64_t PreparedStep::compress(const Nodes& nodes, std::span<const Root> roots, OpenDevice& device) {
  if (!kernel_) return 0;
  const BufferRef scratch = make_scratch(device);
  launch(nodes, roots, {}, scratch, device);
  const StreamRef& stream = device.stream();
  const char* state = static_cast<const char*>(scratch->read(stream));
  std::int64_t total = 0;
  if (arguments_.config.block.x > 32) {
    device.download(&total, state + 8, sizeof total);
    return total;
  }
  // Blocks of a warp have only counted: they do not wait for each other.
  std::vector<std::int64_t> words(arguments_.scratch_bytes / 8);
  device.download(words.data(), state, arguments_.scratch_bytes);
  words[0] = 1;
  for (auto tile = words.begin() + 2; tile != words.end(); ++tile) total += std::exchange(*tile, total);
  device.device().upload(scratch->write(stream), words.data(), arguments_.scratch_bytes, *stream);
  launch(nodes, roots, {}, scratch, device);
  return total;
}

BufferRef PreparedStep::make_scratch(OpenDevice& device) const {
  if (arguments_.scratch_bytes == 0) return nullptr;
  BufferRef scratch = new_buffer(device, arguments_.scratch_bytes);
  const StreamRef& stream = device.stream();
  const char zero = 0;
  device.device().fill(scratch->write(stream), &zero, 1, arguments_.zeroed_bytes, *stream);
  return scratch;
}

void PreparedStep::launch(const Nodes& nodes, std::span<const Root> roots, std::span<const BufferRef> made,
                          const BufferRef& scratch, OpenDevice& device) {
  using Kind = Patch::Kind;
  const StreamRef& stream = device.stream();
  Arguments& arguments = arguments_.arguments;
  const auto put = [&](const Patch& patch, const void* address) { arguments.put(patch.at, &address, sizeof address); };
  const auto put_origin = [&](const Patch& patch, const Origin& origin) {
    const std::int64_t line = origin.line;
    put(patch, origin.chunk);
    arguments.put(patch.at + sizeof origin.chunk, &line, sizeof line);
  };
  std::size_t next = 0;
  for (const Patch& patch : arguments_.patches) {
    switch (patch.kind) {
      case Kind::number: {
        const Node& number = *nodes[patch.which];
        std::array<char, 16> bytes;
        encode(number.dtype, *number.pending()->value, bytes.data());
        arguments.put(patch.at, bytes.data(), number.itemsize());
        break;
      }
      case Kind::address:
        put(patch, nodes[patch.which]->read(stream));
        break;
      case Kind::gather_address: {
        const Pending& gather = *nodes[patch.which]->pending();
        const Node& source = *gather.inputs.front();
        put(patch, moved(source.buffer()->read(stream), gather.indexed->layout, source.itemsize()));
        break;
      }
      case Kind::gather_origin:
        put_origin(patch, nodes[patch.which]->pending()->origin);
        break;
      case Kind::output: {
        const Output& output = outputs_[patch.which];
        if (!output.root) {
          put(patch, made[next++]->write(stream));
          break;
        }
        const Root& root = roots[*output.root];
        const Layout& layout = root.places ? root.places->at->layout : root.target->layout;
        put(patch, moved(root.target->buffer()->write(stream), layout, root.target->itemsize()));
        break;
      }
      case Kind::scatter_origin:
        put_origin(patch, roots[*outputs_[patch.which].root].places->origin);
        break;
      case Kind::scratch:
        put(patch, static_cast<char*>(scratch->write(stream)) + patch.moved);
        break;
    }
  }
  device.launch(kernel_, arguments_.config, pointers_.data(), stream, moved_bytes_);
}

}  // namespace gpulua
