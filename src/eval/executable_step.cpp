#include "src/eval/executable_step.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/array/array.h"
#include "src/eval/divisor.h"

namespace gpulua {

namespace {

/// The bytes that the step must move: each element read or written, counted once.
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

/// For each value, the operands from which it is computed.
std::vector<std::vector<bool>> operands_of_values(const Step& step) {
  std::vector<std::vector<bool>> result;
  for (const ValueSpec& value : step.values) {
    std::vector<bool>& operands = result.emplace_back(step.operands.size());
    if (value.kind == ValueSpec::Kind::operand || value.kind == ValueSpec::Kind::gather) operands[value.operand] = true;
    for (const std::size_t input : value.inputs)
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (result[input][i]) operands[i] = true;
  }
  return result;
}

char* moved(void* memory, std::int64_t offset, std::size_t itemsize) {
  return static_cast<char*>(memory) + offset * static_cast<std::int64_t>(itemsize);
}

}  // namespace

ExecutableStep::ExecutableStep(const Step& step, std::span<const Root> roots, const NodeNumbers& nodes,
                               std::shared_ptr<Kernel> kernel, StepArguments arguments)
    : compresses_(step.kind == Step::Kind::compression), kernel_(std::move(kernel)), arguments_(std::move(arguments)) {
  const auto operands = operands_of_values(step);
  for (const StepOutput& output : step.outputs) {
    const auto root = std::find_if(roots.begin(), roots.end(), [&](const Root& one) {
      return output.target && one.target == output.target && one.node == output.node;
    });
    Output& made = outputs_.emplace_back();
    made.node = nodes.number(*output.node);
    made.bytes = output.node->nbytes();
    if (root != roots.end())
      made.root = static_cast<std::size_t>(root - roots.begin());
    else
      made_.push_back(made.node);
    std::vector<std::uint16_t> values = output.indices;
    values.push_back(output.value);
    if (output.mask) values.push_back(*output.mask);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      if (std::none_of(values.begin(), values.end(), [&](std::size_t value) { return operands[value][i]; })) continue;
      const StepOperand& operand = step.operands[i];
      if (operand.node) made.sources.push_back(nodes.number(*operand.node));
      if (operand.gather) made.gathers.push_back(nodes.number(*operand.gather));
    }
  }
  if (step.kind == Step::Kind::copy) {
    const StepOperand& from = step.operands.front();
    const Dims& shifts = from.roll.empty() ? Dims(step.domain.size(), 0) : from.roll;
    copies_ = parts_of(step.outputs.front().layout(), from.layout, shifts, size_of(from.dtype));
  }
  if (!kernel_) return;
  pointers_ = arguments_.arguments.pointers(*kernel_);
  moved_bytes_ = moved_bytes(step);
}

ExecutableStep::Memory ExecutableStep::allocate(OpenDevice& device) const {
  Memory memory;
  for (const Output& output : outputs_)
    if (!output.root) memory.made.push_back(new_buffer(device, output.bytes));
  if (arguments_.scratch_bytes > 0) memory.scratch = new_buffer(device, arguments_.scratch_bytes);
  return memory;
}

std::int64_t ExecutableStep::run(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory,
                                 OpenDevice& device) {
  if (memory.scratch) {
    const StreamRef& stream = device.stream();
    const char zero = 0;
    device.fill(memory.scratch->write(stream), &zero, 1, arguments_.zeroed_bytes, *stream);
  }
  if (!copies_.empty()) copy(nodes, *memory.made.front(), device);
  if (kernel_) launch(nodes, roots, memory, device);
  return compresses_ && kernel_ ? compress(nodes, roots, memory, device) : 0;
}

void ExecutableStep::copy(const StepNodes& nodes, Buffer& made, OpenDevice& device) const {
  const StreamRef& stream = device.stream();
  Node& source = nodes[outputs_.front().sources.front()];
  const char* from = source.read(stream);
  char* to = static_cast<char*>(made.write(stream));
  for (const RolledPart& part : copies_) {
    RowsToCopy rows = part.rows;
    rows.to = to + part.to;
    rows.from = from + part.from;
    if (rows.rows == 1)
      device.copy(rows.to, rows.from, static_cast<std::size_t>(rows.bytes), *stream);
    else
      device.copy_rows(rows, *stream);
  }
  made.depend_on(*source.buffer());
}

std::int64_t ExecutableStep::compress(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory,
                                      OpenDevice& device) {
  const StreamRef& stream = device.stream();
  const char* state = static_cast<const char*>(memory.scratch->read(stream));
  std::int64_t total = 0;
  if (arguments_.config.block.x > 32) {
    device.download(&total, state + 8, sizeof total);
    return total;
  }
  // Blocks of one warp do not wait for each other. The first launch has counted; the second one writes.
  std::vector<std::int64_t> words(arguments_.scratch_bytes / 8);
  device.download(words.data(), state, arguments_.scratch_bytes);
  words[0] = 1;
  for (auto tile = words.begin() + 2; tile != words.end(); ++tile) total += std::exchange(*tile, total);
  device.upload(memory.scratch->write(stream), words.data(), arguments_.scratch_bytes, *stream);
  launch(nodes, roots, memory, device);
  return total;
}

void ExecutableStep::launch(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory,
                            OpenDevice& device) {
  using Kind = Patch::Kind;
  const StreamRef& stream = device.stream();
  Arguments& arguments = arguments_.arguments;
  const auto put = [&](const Patch& patch, const void* address) { arguments.put(patch.at, &address, sizeof address); };
  const auto put_watch = [&](const Patch& patch, IndexFault* word, const Origin& origin) {
    const struct {
      IndexFault* word;
      const char* chunk;
      std::int64_t line;
    } watch{word, origin.chunk, origin.line};
    arguments.put(patch.at, &watch, sizeof watch);
  };
  GatherChecks checks;
  bool guarded = false;
  std::size_t next = 0;
  for (const Patch& patch : arguments_.patches) {
    switch (patch.kind) {
      case Kind::number: {
        const Pending& number = nodes.pending(patch.which);
        std::array<char, 16> bytes;
        encode(number.compute, *number.value, bytes.data());
        arguments.put(patch.at, bytes.data(), size_of(number.compute));
        break;
      }
      case Kind::divisor: {
        const Pending& number = nodes.pending(patch.which);
        const Divisor divisor = make_divisor(number.compute, *number.value);
        arguments.put(patch.at, &divisor, sizeof divisor);
        break;
      }
      case Kind::address:
        put(patch, nodes[patch.which].read(stream));
        guarded |= nodes[patch.which].buffer()->guarded();
        break;
      case Kind::gather_address: {
        Node& source = nodes[patch.source];
        const Layout& layout = nodes.pending(patch.which).indexed->layout;
        put(patch, moved(source.read(stream), layout.offset, source.itemsize()));
        guarded |= source.buffer()->guarded();
        break;
      }
      case Kind::gather_watch: {
        IndexFaults::Watch watch = device.index_faults().watch(stream);
        put_watch(patch, watch.word, nodes.pending(patch.which).origin);
        checks.push_back({patch.which, std::move(watch.check)});
        break;
      }
      case Kind::output: {
        const Output& output = outputs_[patch.which];
        if (!output.root) {
          put(patch, memory.made[next++]->write(stream));
          break;
        }
        const Root& root = roots[*output.root];
        const std::int64_t offset = root.target->layout.offset + (root.scatter ? root.scatter->at->layout.offset : 0);
        Buffer& target = *root.target->buffer();
        if (target.guarded() && overwrites(root, nodes)) target.forget_checks();
        put(patch, moved(target.write(stream), offset, root.target->itemsize()));
        break;
      }
      case Kind::scatter_watch: {
        // At an index out of range nothing is written, so the target does not depend on the check.
        const Scatter& scatter = *roots[*outputs_[patch.which].root].scatter;
        put_watch(patch, device.index_faults().watch(stream).word, scatter.origin);
        break;
      }
      case Kind::scratch:
        put(patch, static_cast<char*>(memory.scratch->write(stream)) + patch.moved);
        break;
    }
  }
  if (guarded || !checks.empty()) guard(nodes, roots, memory, checks);
  device.launch(kernel_, arguments_.config, pointers_.data(), stream, moved_bytes_);
}

void ExecutableStep::guard(const StepNodes& nodes, std::span<const Root> roots, const Memory& memory,
                           const GatherChecks& checks) const {
  auto next = memory.made.begin();
  for (const Output& output : outputs_) {
    Buffer& written = output.root ? *roots[*output.root].target->buffer() : **next++;
    for (const std::uint32_t source : output.sources) written.depend_on(*nodes[source].buffer());
    for (const GatherCheck& gather : checks)
      if (std::find(output.gathers.begin(), output.gathers.end(), gather.node) != output.gathers.end())
        written.depend_on(gather.check);
  }
}

bool ExecutableStep::overwrites(const Root& root, const StepNodes& nodes) const {
  Node& target = *root.target;
  if (root.scatter || root.mask || !target.covers_buffer()) return false;
  for (const Output& output : outputs_)
    for (const std::uint32_t source : output.sources)
      if (nodes[source].buffer() == target.buffer()) return false;
  return true;
}

}  // namespace gpulua
