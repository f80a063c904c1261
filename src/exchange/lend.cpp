#include "src/exchange/lend.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/base/error.h"
#include "src/exchange/exposed_readers.h"
#include "src/runtime/lent_memory.h"

namespace gpulua {
namespace {

/// The evaluator takes buffers to begin at addresses of this alignment: then a layout's offset tells that of its first
/// element. So the buffer of an array that lies otherwise begins some elements earlier; nobody touches these.
constexpr std::uintptr_t alignment = 256;

/// The first byte of the elements, and the one after the last. Throws Error where they have no addresses.
struct Bytes {
  std::uintptr_t begin, end;
};
Bytes bytes_of(const Layout& layout, std::uintptr_t address, std::size_t size, const std::string& head) {
  std::int64_t begin = 0, end = 1;
  bool good = true;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    std::int64_t reach = 0;
    std::int64_t& side = layout.strides[axis] < 0 ? begin : end;
    good = good && !__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis], &reach) &&
           !__builtin_add_overflow(side, reach, &side);
  }
  const auto bytes = static_cast<std::int64_t>(size);
  Bytes result{};
  if (!good || __builtin_mul_overflow(begin, bytes, &begin) || __builtin_mul_overflow(end, bytes, &end) ||
      __builtin_add_overflow(address, begin, &result.begin) || __builtin_add_overflow(address, end, &result.end))
    throw Error("{}expected elements at addresses of 64 bits, got shape {} with strides of {} elements", head,
                to_string(layout.shape), to_string(layout.strides));
  return result;
}

}  // namespace

Dims strides_of_bytes(const Dims& bytes, DType dtype, const char* op) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  Dims strides;
  for (const std::int64_t step : bytes) {
    if (step % size == 0) {
      strides.push_back(step / size);
      continue;
    }
    // No two elements are so close: these count elements.
    const bool counts_elements = std::abs(step) < size;
    Dims in_bytes = bytes;
    for (std::int64_t& stride : in_bytes)
      if (__builtin_mul_overflow(stride, size, &stride)) stride = 0;
    throw Error("[{}] expected strides in multiples of {} bytes, the size of a {}, got {}; {}", op, size, name(dtype),
                to_string(bytes),
                counts_elements ? "strides are bytes: those of as many elements are " + to_string(in_bytes)
                                : "in structs that are packed, or whose size is no such multiple, copy the member to "
                                  "an array of its own, or give it a size that is one");
  }
  return strides;
}

Array lend(OpenDevice& device, MemoryToLend memory, const char* op) {
  const std::string head = "[" + std::string(op) + "] ";
  device.check_not_captured("takes memory of the host program's");
  if (memory.strides && memory.strides->size() != memory.shape.size())
    throw Error("{}expected a stride for each of {} axes, got {}", head, memory.shape.size(), memory.strides->size());
  if (checked_size(memory.shape, op) == 0) return empty(device, std::move(memory.shape), memory.dtype);
  if (memory.first == nullptr)
    throw Error("{}expected an address of elements, got NULL for shape {}", head, to_string(memory.shape));
  const auto address = reinterpret_cast<std::uintptr_t>(memory.first);
  if (address % size_of(memory.dtype) != 0)
    throw Error(
        "{}expected an address that is a multiple of {}, the size of a {}, got one that leaves {}; where it is a "
        "member "
        "of a packed struct, copy the member to an array of its own",
        head, size_of(memory.dtype), name(memory.dtype), address % size_of(memory.dtype));

  Layout layout = row_major(std::move(memory.shape));
  // The stride of an axis of one element means nothing, and may be any number.
  for (std::size_t axis = 0; memory.strides && axis < layout.ndim(); ++axis)
    if (layout.shape[axis] > 1) layout.strides[axis] = (*memory.strides)[axis];
  const Bytes touched = bytes_of(layout, address, size_of(memory.dtype), head);
  const std::string why =
      memory.is_mapped
          ? std::string()
          : device.device().why_unreachable(reinterpret_cast<const void*>(touched.begin), touched.end - touched.begin);
  if (!why.empty()) throw Error("{}expected memory that {} can reach, got an address {}", head, device.name(), why);
  const std::uintptr_t before = touched.begin % alignment;
  auto* const start = reinterpret_cast<char*>(touched.begin - before);
  layout.offset = static_cast<std::int64_t>((address - touched.begin + before) / size_of(memory.dtype));
  const std::size_t bytes = before + (touched.end - touched.begin);

  // The program has perhaps written the memory since it lent it before: what still waits to read it gets it now.
  if (device.exposed().is_read())
    for (const BufferRef& older : device.exposed().find(start)) detach_readers(*older);
  auto buffer = make_buffer(device, start, bytes, Buffer::Lent{std::move(memory.owner), memory.read_only, before});
  return make_node(device, memory.dtype, share(std::move(layout)), std::move(buffer));
}

}  // namespace gpulua
