#pragma once

// The seam between gpulua and a device. A device is a plugin that implements `Device` and exports
// `gpulua_device_plugin` (plugin.h); nothing else in the library knows what stands behind it. Whoever writes a third
// device reads this header.
//
// Rules for every method, unless it says otherwise:
//  - Failures throw Error. Functions marked noexcept, and destructors, swallow failures: the next throwing call reports
//  them.
//  - Work is queued on the stream it names and the call returns at once. A device may also do it at once (the CPU
//  device does).
//  - Methods may be called from any thread, one at a time for one Device.
//  - The caller's own device state (CUDA: the current context) is as before when a call returns.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/device/kernel.h"
#include "src/device/libraries.h"

namespace gpulua {

class Device;

/// An in-order queue of work. Made by Device::create_stream; destroyed when its work is done, without waiting for it.
class Stream {
 public:
  virtual ~Stream() = default;
  /// The driver's own handle (CUstream), for host programs that share it; null where a device has none.
  virtual void* native_handle() const { return nullptr; }
};
using StreamRef = std::shared_ptr<Stream>;

/// A point in a stream's work that others can wait for, with the time it was reached.
class Event {
 public:
  virtual ~Event() = default;
};
using EventRef = std::shared_ptr<Event>;

/// What a device is and how much it takes. Sizes in bytes.
struct DeviceInfo {
  std::string name;          // "cuda:0", "cpu"
  std::string description;   // the product's name
  std::string architecture;  // "sm_90", "x86-64-v4"
  std::size_t total_memory = 0;
  int multiprocessors = 0;  // CPU: cores
  unsigned warp_size = 32;
  unsigned max_threads_per_block = 1024;
  Dim3 max_block{1024, 1024, 64};
  Dim3 max_grid{2147483647, 65535, 65535};
  std::size_t access_bytes =
      16;  // that a thread should move at once; 1 where the device joins threads' accesses itself
  unsigned merging_threads = 256;  // of a block that merges results; 32 where barriers cost more than they are worth
  bool division_branches = true;  // floating-point / and sqrt look for special cases first; false: one instruction each
  std::size_t max_shared_bytes = 0;  // a block's static and dynamic shared memory, after opting in to the most
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  // ---- memory -------------------------------------------------------------------------------------------------------
  /// `bytes` > 0, aligned to 256 bytes, usable by work queued on `stream` from now on. Null when there is no room.
  virtual void* allocate(std::size_t bytes, Stream& stream) = 0;
  /// `stream` has been made to wait for every other stream that uses the memory.
  virtual void free(void* memory, Stream& stream) noexcept = 0;
  /// Bytes that the device's allocator holds for reuse, beyond those handed out.
  virtual std::size_t pooled_bytes() const = 0;
  /// Gives pooled memory back to the system.
  virtual void trim() = 0;
  /// Host memory that copies to and from the device without staging. Null when there is no room.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* memory) noexcept = 0;

  // ---- copies
  // ---------------------------------------------------------------------------------------------------------
  /// Host to device. Pageable host memory may be reused when the call returns; pinned, once the stream has passed the
  /// copy.
  virtual void upload(void* device, const void* host, std::size_t bytes, Stream& stream) = 0;
  /// Device to host. Pageable host memory is filled when the call returns; pinned, once the stream has passed the copy.
  virtual void download(void* host, const void* device, std::size_t bytes, Stream& stream) = 0;
  /// Within the device; the two ranges do not overlap.
  virtual void copy(void* to, const void* from, std::size_t bytes, Stream& stream) = 0;
  /// Sets `count` items of `item_bytes` (1, 2 or 4) to the item at `value`.
  virtual void fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) = 0;

  // ---- streams and events
  // -----------------------------------------------------------------------------------------------
  /// The first one made is alive while memory is allocated and freed.
  virtual StreamRef create_stream() = 0;
  virtual EventRef create_event() = 0;
  virtual void record(Event& event, Stream& stream) = 0;
  /// Work queued on `stream` from now on starts after `event`, as last recorded. An event never recorded is past.
  virtual void wait(Stream& stream, Event& event) = 0;
  virtual bool done(Stream& stream) = 0;
  virtual bool done(Event& event) = 0;
  /// Wait on the host; throws what the stream's work failed with, or ErrorKind::interrupted when `interrupted` was
  /// raised.
  virtual void synchronize(Stream& stream) = 0;
  virtual void synchronize(Event& event) = 0;
  /// Milliseconds between two events that were recorded and are past.
  virtual float elapsed(Event& from, Event& to) = 0;

  // ---- kernels
  // ----------------------------------------------------------------------------------------------------------
  /// Compiles CUDA C++, or takes the result from the kernel cache. Throws ErrorKind::compile with the compiler's text.
  virtual std::shared_ptr<Module> compile(const KernelSource& source) = 0;
  /// A module from a compiled image in a format of the device's own (CUDA: PTX, cubin, fatbin).
  virtual std::shared_ptr<Module> load_image(std::string_view image) = 0;
  /// `kernel` is of this device, `config` has passed check_launch, `arguments` holds one pointer to each parameter's
  /// value, in the signature's order; the values are read before the call returns.
  virtual void launch(Kernel& kernel, const LaunchConfig& config, void** arguments, Stream& stream) = 0;

  // ---- checking
  // -----------------------------------------------------------------------------------------------------------
  /// While it is on, launches are searched for mistakes in the kernel, and end in a Finding (finding.h) at the first.
  /// Throws ErrorKind::unavailable where a device has no checker.
  virtual void set_checking(bool on) = 0;
  virtual bool checking() const = 0;

  // ---- libraries: throw ErrorKind::unavailable with what to install where a device lacks one
  // --------------------------------
  virtual Blas& blas() = 0;
  virtual Rng& rng() = 0;

  // ---- damage
  // -----------------------------------------------------------------------------------------------------------------
  /// False when something has written past the end of `memory`, which allocate() gave for `bytes`, since this was asked
  /// last. A device that cannot tell says true.
  virtual bool check_end(void*, std::size_t) noexcept { return true; }
};

}  // namespace gpulua
