#include "src/array/evaluator.h"

#include <algorithm>

#include "src/array/capture.h"
#include "src/array/node.h"
#include "src/runtime/context.h"

namespace gpulua {

void Evaluator::note_captured(const Scalar& value) {
  capture_->note_number(value);
}

void evaluate(std::span<Node* const> nodes) {
  while (!nodes.empty()) {
    OpenDevice& device = nodes.front()->device();
    const auto other = std::find_if(nodes.begin(), nodes.end(), [&](Node* node) { return &node->device() != &device; });
    const auto count = static_cast<std::size_t>(other - nodes.begin());
    device.evaluator().evaluate(nodes.first(count));
    nodes = nodes.subspan(count);
  }
}

void evaluate(std::span<const Array> arrays) {
  std::vector<Node*> nodes;
  for (const Array& array : arrays) nodes.push_back(array.get());
  evaluate(nodes);
}

void evaluate(Node& node) {
  Node* const nodes[] = {&node};
  node.device().evaluator().evaluate(nodes);
}

void evaluate_writes(Context& context) {
  for (const std::shared_ptr<OpenDevice>& device : context.open_devices()) device->evaluator().writes().evaluate();
}

void evaluate_shared_reads(Context& context) {
  // Most readers are operands of expressions that have been computed. Nobody wants them, and a collection tells so, for
  // some milliseconds.
  constexpr std::size_t worth_a_collection = std::size_t{16} << 20;  // bytes
  for (const std::shared_ptr<OpenDevice>& device : context.open_devices()) {
    if (device->captures() || !device->exposed().is_read()) continue;
    Evaluator& evaluator = device->evaluator();
    for (const BufferRef& buffer : device->exposed().read_and_shared()) {
      std::size_t bytes = 0;
      for (const Array& reader : evaluator.pending().readers(*buffer)) bytes += reader->nbytes();
      if (bytes >= worth_a_collection) device->collect();
      evaluator.evaluate_readers(*buffer);
    }
  }
}

}  // namespace gpulua
