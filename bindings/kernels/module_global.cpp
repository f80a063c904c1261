#include "bindings/kernels/module_global.h"

#include <charconv>

namespace gpulua {

namespace {

struct GlobalType {
  DType dtype;
  Dims shape;
};

GlobalType raw_bytes(const GlobalEntry& entry) {
  return {DType::uint8, {static_cast<std::int64_t>(entry.bytes)}};
}

/// Removes the extents "[2][3]" from the end of a type and returns them.
Dims take_extents(std::string_view& type) {
  Dims extents;
  while (type.ends_with(']')) {
    const std::size_t open = type.rfind('[');
    std::int64_t extent = -1;
    const char* last = type.data() + type.size() - 1;
    if (open == type.npos || std::from_chars(type.data() + open + 1, last, extent).ptr != last || extent < 0) break;
    extents.insert(extents.begin(), extent);
    type = type.substr(0, open);
  }
  return extents;
}

/// The dtype and shape of a variable: "float [2][3]" is float32 (2,3), "float3 [4]" is float32 (4,3). A struct or an
/// unknown type is an array of bytes.
GlobalType global_type(const GlobalEntry& entry) {
  std::string_view type = entry.type;
  Dims shape = take_extents(type);
  const auto count = static_cast<std::size_t>(checked_size(shape));
  if (type.empty() || count == 0 || entry.bytes % count != 0) return raw_bytes(entry);

  const std::uint32_t sizes[] = {static_cast<std::uint32_t>(entry.bytes / count)};
  const Signature signature = parse_signature(type, sizes);
  if (signature.parameters.size() != 1) return raw_bytes(entry);
  const Parameter& element = signature.parameters.front();
  if (element.kind == ParameterKind::pointer) return {DType::uint64, std::move(shape)};
  if (!element.dtype) return raw_bytes(entry);
  if (element.kind == ParameterKind::vector) shape.push_back(element.lanes);
  return {*element.dtype, std::move(shape)};
}

}  // namespace

Array global_array(BoundModule& module, const GlobalEntry& entry) {
  GlobalType type = global_type(entry);
  BufferRef& buffer = module.globals[&entry];
  // All arrays of a variable share one buffer, which orders their reads and writes.
  if (!buffer || buffer->freed())
    buffer = make_buffer(*module.device, module.module->address(entry), entry.bytes, module.module);
  return make_node(*module.device, type.dtype, share(row_major(std::move(type.shape))), buffer);
}

}  // namespace gpulua
