#include "src/algorithms/labels.h"

#include "src/array/uses.h"
#include "src/expressions/transfer.h"

namespace gpulua {

std::optional<Labels> label_parts(const Array& inside, std::vector<bool> structure) {
  OpenDevice& device = inside->device();
  Labeller* const library = device.device().labeller();
  if (library == nullptr || device.evaluator().trace() || device.evaluator().capture()) return std::nullopt;
  const Array from = contiguous(inside);
  if (from->buffer()->guarded()) return std::nullopt;  // only reading an element tells whether its check has failed
  const Array labels = empty(device, from->layout.shape, DType::int32);
  Uses uses(device);
  PartsToLabel parts;
  parts.inside = uses.in(from);
  parts.shape.assign(from->layout.shape.begin(), from->layout.shape.end());
  parts.structure = std::move(structure);
  parts.labels = reinterpret_cast<std::int32_t*>(uses.out(labels));
  Labels result{labels, 0};
  device.run_library("label", *device.stream(), [&] { result.count = library->label(parts, *device.stream()); });
  return result;
}

}  // namespace gpulua
