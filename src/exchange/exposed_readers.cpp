#include "src/exchange/exposed_readers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"

namespace gpulua {
namespace {

/// A node over the buffer, and what stands for it over the copy.
using Replacement = std::pair<Array, Array>;

/// The nodes over the buffer that the pending ones read.
std::vector<Replacement> inputs_of(const PendingNodes::List& readers, const Buffer& buffer) {
  std::vector<Replacement> inputs;
  for (const Array& reader : readers)
    for (const Array& input : reader->pending()->inputs) {
      if (input->pending() || input->buffer().get() != &buffer) continue;
      if (std::ranges::find(inputs, input, &Replacement::first) == inputs.end()) inputs.emplace_back(input, nullptr);
    }
  return inputs;
}

void copy_inputs(std::vector<Replacement>& inputs, Buffer& buffer) {
  OpenDevice& device = buffer.device();
  const StreamRef& stream = device.stream();
  std::size_t first = buffer.bytes(), end = 0;
  for (const auto& [input, none] : inputs) {
    const Extent touched = extent(input->layout);
    first = std::min(first, static_cast<std::size_t>(touched.begin) * input->itemsize());
    end = std::max(end, static_cast<std::size_t>(touched.end) * input->itemsize());
  }
  // As long as the buffer and with the elements at their places: the layouts, and so the kernels, stay the same.
  const BufferRef copy = new_buffer(device, buffer.bytes());
  if (first < end) {
    const char* const from = static_cast<const char*>(buffer.read(stream)) + first;
    device.copy(static_cast<char*>(copy->write(stream)) + first, from, end - first, *stream);
  }
  copy->depend_on(buffer);
  for (auto& [input, instead] : inputs) instead = make_node(device, input->dtype, input->shared_layout, copy);
}

}  // namespace

void detach_readers(Buffer& buffer) {
  OpenDevice& device = buffer.device();
  if (buffer.pending_reads() == 0 || device.captures()) return;
  // A recording of gpu.fuse notes evaluations, and no copies.
  if (device.evaluator().trace()) return device.evaluator().evaluate_readers(buffer);
  std::vector<Replacement> inputs = inputs_of(device.evaluator().pending().readers(buffer), buffer);
  std::string why;
  try {
    copy_inputs(inputs, buffer);
  } catch (const Error& error) {
    why = error.what();
  }
  // Once more: for room the collector may have dropped some.
  for (const Array& reader : device.evaluator().pending().readers(buffer)) {
    if (!why.empty()) {
      reader->fail(why);
      continue;
    }
    for (const auto& [input, instead] : inputs) reader->replace(*input, instead);
  }
}

void detach_readers(OpenDevice& device) {
  if (!device.exposed().is_read()) return;
  for (const BufferRef& buffer : device.exposed().read()) detach_readers(*buffer);
}

std::size_t bytes_to_detach(const OpenDevice& device) {
  std::size_t bytes = 0;
  for (const BufferRef& buffer : device.exposed().read()) bytes += buffer->bytes();
  return bytes;
}

}  // namespace gpulua
