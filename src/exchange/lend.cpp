#include "src/exchange/lend.h"

#include <cstdint>
#include <string>

#include "src/base/error.h"
#include "src/runtime/lent_memory.h"

namespace gpulua {
namespace {

/// The evaluator takes buffers to begin at addresses of this alignment: then a layout's offset tells that of its first
/// element. So the buffer of an array that lies otherwise begins some elements earlier; nobody touches these.
constexpr std::uintptr_t alignment = 256;

}  // namespace

Dims strides_of_bytes(const Dims& bytes, DType dtype, const char* op) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  Dims strides;
  for (const std::int64_t step : bytes) {
    if (step % size != 0)
      throw Error("[" + std::string(op) + "] expected strides in multiples of " + std::to_string(size) +
                  " bytes, the size of a " + std::string(name(dtype)) + ", got " + to_string(bytes));
    strides.push_back(step / size);
  }
  return strides;
}

Array lend(OpenDevice& device, MemoryToLend memory, const char* op) {
  const std::string head = "[" + std::string(op) + "] ";
  device.check_not_captured("takes memory of the host program's");
  if (memory.strides && memory.strides->size() != memory.shape.size())
    throw Error(head + "expected a stride for each of " + std::to_string(memory.shape.size()) + " axes, got " +
                std::to_string(memory.strides->size()));
  if (checked_size(memory.shape, op) == 0) return empty(device, std::move(memory.shape), memory.dtype);
  if (memory.first == nullptr)
    throw Error(head + "expected an address of elements, got NULL for shape " + to_string(memory.shape));
  const auto address = reinterpret_cast<std::uintptr_t>(memory.first);
  if (address % size_of(memory.dtype) != 0)
    throw Error(head + "expected an address that is a multiple of " + std::to_string(size_of(memory.dtype)) +
                ", the size of a " + std::string(name(memory.dtype)) + ", got one that leaves " +
                std::to_string(address % size_of(memory.dtype)));
  if (!device.device().reaches(memory.first))
    throw Error(
        head + "expected memory that " + device.name() +
        " can reach, got an address that its driver does not know: host memory is for the cpu device, or copied");

  Layout layout = row_major(std::move(memory.shape));
  if (memory.strides) layout.strides = std::move(*memory.strides);
  const Extent touched = extent(layout);
  const auto size = static_cast<std::int64_t>(size_of(memory.dtype));
  const std::uintptr_t lowest = address + static_cast<std::uintptr_t>(touched.begin * size);
  const std::uintptr_t before = lowest % alignment;
  layout.offset = static_cast<std::int64_t>(before) / size - touched.begin;
  auto* const start = reinterpret_cast<char*>(lowest - before);
  const std::size_t bytes = before + static_cast<std::size_t>((touched.end - touched.begin) * size);

  // The program has perhaps written the memory since it lent it before: what still waits to read it gets it now.
  for (const BufferRef& older : device.lent().find(start)) device.evaluator().evaluate_readers(*older);
  auto buffer = std::make_shared<Buffer>(device.shared_from_this(), start, bytes,
                                         Buffer::Lent{std::move(memory.owner), memory.read_only});
  return make_node(device, memory.dtype, share(std::move(layout)), std::move(buffer));
}

}  // namespace gpulua
