#include "src/exchange/shared_arrays.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/exchange/shared_handle.h"
#include "src/runtime/context.h"
#include "src/runtime/counted_memory.h"

namespace gpulua {
namespace {

std::string_view kind_of(std::string_view device) {
  return device.substr(0, device.find(':'));
}

/// Moves the buffer to memory that other processes can open, unless it is there.
void move_to_shared(Buffer& buffer) {
  if (buffer.is_shared_by_us()) return;
  OpenDevice& device = buffer.device();
  if (const char* holder = buffer.find_address_holder())
    throw Error(
        "[ipc_handle] expected an array whose memory can move to where other processes find it, got one whose address "
        "is with {}: x:copy() makes one that can",
        holder);
  // Who opens the memory may write it.
  if (buffer.pending_reads() > 0) device.evaluator().evaluate_readers(buffer);
  const CountedMemory both(device.shared_from_this(), buffer.bytes());
  buffer.move_to(device.allocate_shared(buffer.bytes()), device.stream());
}

/// Throws Error unless the process of the handle lives, on this machine.
void check_process(const SharedHandle& handle, const ProcessIdentity& self) {
  const ProcessIdentity& other = handle.process;
  if (other.machine != self.machine)
    throw Error(
        "[from_ipc] expected a handle of a process on this machine, got one of another machine, or from before this "
        "one was started again");
  if (other.space != self.space)
    throw Error(
        "[from_ipc] expected a handle of a process that this one sees, got one of another container: docker run "
        "--pid=host, or --pid=container:NAME, lets them see each other");
  if (start_of_process(other.number) != other.start)
    throw Error("[from_ipc] expected a handle of a process that runs, got one of process {}, which has ended",
                other.number);
}

/// The device of this process that has the handle's memory. It may have another name here.
std::shared_ptr<OpenDevice> device_of(Context& context, const SharedHandle& handle) {
  const auto is_same = [&](const OpenDevice& device) {
    return kind_of(device.name()) == kind_of(handle.device) && device.device().hardware_id() == handle.hardware;
  };
  for (const std::shared_ptr<OpenDevice>& device : context.open_devices())
    if (is_same(*device)) return device;
  std::vector<std::string> names;
  for (const DeviceListing& listing : context.list_devices())
    if (listing.kind == kind_of(handle.device)) names.push_back(listing.name);
  // To open a device takes some of its memory: the likeliest comes first.
  std::ranges::stable_partition(names, [&](const std::string& name) { return name == handle.device; });
  for (const std::string& name : names)
    if (std::shared_ptr<OpenDevice> device = context.device(name); is_same(*device)) return device;
  throw Error(ErrorKind::unavailable,
              "[from_ipc] expected a handle of memory on a device that this process has, got one of {}{}{}",
              handle.device, handle.hardware.empty() ? "" : " with the UUID ", handle.hardware);
}

/// The buffer over the block of the handle. Each script opens a block once, so that its work on it is in order.
BufferRef buffer_of(OpenDevice& device, const SharedHandle& handle, const ProcessIdentity& self, bool read_only) {
  if (BufferRef buffer = device.exposed().find(handle.place)) {
    if (buffer->read_only() != read_only)
      throw Error("[from_ipc] expected read_only = {}, as this script has the memory already, got {}",
                  buffer->read_only(), read_only);
    return buffer;
  }
  if (handle.process == self)
    throw Error(
        "[from_ipc] expected a handle of another process, or of an array that this script has, got one of another "
        "state of this process, or of an array that was freed");
  SharedMemory* const memory = device.device().shared_memory();
  std::shared_ptr<SharedBlock> block = memory->open(handle.place, handle.bytes, read_only);
  SharedBlock* const shared = block.get();
  return make_buffer(device, shared->address(), handle.bytes, Buffer::Lent{std::move(block), read_only, 0, shared});
}

}  // namespace

std::string ipc_handle(const Array& array) {
  OpenDevice& device = array->device();
  device.check_not_captured("shares memory with other processes");
  if (device.evaluator().trace() || device.evaluator().capture())
    throw Error(
        "[ipc_handle] expected a call outside of gpu.fuse, gpu.graph and gpu.loop, whose arrays have memory of their "
        "own");
  if (!device.device().shared_memory())
    throw Error(ErrorKind::unavailable, "[ipc_handle] expected a device that shares memory between processes, got {}",
                device.name());
  SharedHandle handle;
  handle.process = this_process();
  handle.device = device.name();
  handle.hardware = device.device().hardware_id();
  handle.dtype = array->dtype;
  handle.layout = array->layout;
  if (array->layout.size() == 0) {
    handle.layout = row_major(array->layout.shape);
    return to_text(handle);
  }
  const StreamRef& stream = device.stream();
  array->read(stream);
  move_to_shared(*array->buffer());
  // The wait also tells whether work has failed that its kernel checks, as of an index.
  device.synchronize(*stream);
  array->read(stream);
  handle.bytes = array->buffer()->bytes();
  handle.place = array->buffer()->shared()->place();
  return to_text(handle);
}

Array from_ipc(Context& context, std::string_view text, bool read_only) {
  SharedHandle handle = parse_shared_handle(text);
  const ProcessIdentity self = this_process();
  check_process(handle, self);
  const std::shared_ptr<OpenDevice> device = device_of(context, handle);
  device->check_not_captured("opens memory of another process");
  if (handle.layout.size() == 0) return empty(*device, std::move(handle.layout.shape), handle.dtype);
  BufferRef buffer = buffer_of(*device, handle, self, read_only);
  return make_node(*device, handle.dtype, share(std::move(handle.layout)), std::move(buffer));
}

void finish_shared_work(Context& context) {
  const auto shares = [](const std::shared_ptr<OpenDevice>& device) { return device->exposed().any_shared(); };
  if (std::ranges::none_of(context.open_devices(), shares)) return;
  evaluate_writes(context);
  evaluate_shared_reads(context);
  context.synchronize();
}

}  // namespace gpulua
