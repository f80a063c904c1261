#pragma once

// The seam between gpulua and a device. A device is a plugin that implements `Device` and exports
// `gpulua_device_plugin` (plugin.h). The rest of the library uses devices through this header alone. It is the contract
// for the author of another device.
//
// Rules for every method, unless its comment says otherwise:
//  - Failures throw Error. Functions marked noexcept, and destructors, keep a failure for the next call that may throw.
//  - A method queues its work on the stream that it is given, and returns at once. A device may also finish the work
//    before it returns, as the CPU device does.
//  - Methods may be called from any thread, one at a time for one Device.
//  - The caller's own device state (CUDA: the current context) is the same before and after a call.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/device/collectives.h"
#include "src/device/kernel.h"
#include "src/device/libraries.h"
#include "src/device/overwrite.h"
#include "src/device/shared_memory.h"
#include "src/device/textures.h"

namespace gpulua {

class Device;
class Graphics;

/// An in-order queue of work. Device::create_stream makes it. Its destructor does not wait: the queue goes when its
/// work is done.
class Stream {
 public:
  virtual ~Stream() = default;
  /// The driver's handle (CUstream), for host programs that queue work of their own on it; null where there is none.
  virtual void* native_handle() const { return nullptr; }
};
using StreamRef = std::shared_ptr<Stream>;

/// A point in a stream's work, with the time at which the stream passed it. Other streams can wait for it.
class Event {
 public:
  virtual ~Event() = default;
};
using EventRef = std::shared_ptr<Event>;

/// Work that a stream has recorded, to be queued as a whole, any number of times. The memory, kernels and pinned memory
/// that the work uses outlive it.
class Graph {
 public:
  virtual ~Graph() = default;
};

/// A device's name, limits and preferences. Sizes in bytes.
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
  /// Bytes that a thread should load or store at once; 1 if the device coalesces accesses itself.
  std::size_t access_bytes = 16;
  /// Blocks of one warp are best: a barrier costs more than a larger block saves, and what a block reads again comes
  /// from a cache.
  bool block_is_warp = false;
  /// True when `elements` elements, in tiles of `tile`, would keep less than a quarter of the multiprocessors busy.
  bool has_few_tiles(std::int64_t elements, std::int64_t tile) const { return 4 * elements < tile * multiprocessors; }
  /// Threads of a block that merges partial results.
  unsigned merging_threads() const { return block_is_warp ? warp_size : 256; }
  /// Bytes of a row that a block reads once and then has at hand: in registers, or in a cache where a block is a warp.
  std::size_t row_bytes = 128 << 10;
  /// Floating-point division and sqrt branch on special cases; false: each is one instruction.
  bool division_branches = true;
  /// Bytes of the shortest rows that copy_rows() copies sooner than a kernel does; no row where there is no
  /// copy_rows().
  std::int64_t least_copied_row = std::numeric_limits<std::int64_t>::max();
  /// Static and dynamic shared memory of a block, with the driver's opt-in for large blocks.
  std::size_t max_shared_bytes = 0;
  /// The host program reads and writes the device's memory as its own, once the work on it is done.
  bool in_host_memory = false;
  /// Work is done when the call that queues it returns. A recording of such work costs little: an event is a look at
  /// the clock.
  bool works_at_once = false;
};

/// Rows of bytes, whose starts are some bytes apart.
struct RowsToCopy {
  char* to = nullptr;
  const char* from = nullptr;
  std::int64_t bytes = 0, rows = 0;  // > 0
  std::int64_t to_step = 0, from_step = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  // ---- memory -------------------------------------------------------------------------------------------------------
  /// Memory of `bytes` > 0, aligned to 256 bytes, for work that is queued on `stream` from now on. Null when there is
  /// no room.
  virtual void* allocate(std::size_t bytes, Stream& stream) = 0;
  /// Frees memory from allocate() once `stream` has passed this point. Precondition: `stream` waits for every other
  /// stream that uses the memory.
  virtual void free(void* memory, Stream& stream) noexcept = 0;
  /// Free bytes that the device's allocator keeps for reuse.
  virtual std::size_t pooled_bytes() const = 0;
  /// Gives pooled memory back to the system.
  virtual void trim() = 0;
  /// Host memory that the device can read and write directly. Null when there is no room.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* memory) noexcept = 0;

  // ---- copies -------------------------------------------------------------------------------------------------------
  /// Host to device. The caller may reuse pageable host memory when the call returns, and pinned memory when the stream
  /// has passed the copy.
  virtual void upload(void* device, const void* host, std::size_t bytes, Stream& stream) = 0;
  /// Device to host. Pageable host memory holds the bytes when the call returns, pinned memory when the stream has
  /// passed the copy.
  virtual void download(void* host, const void* device, std::size_t bytes, Stream& stream) = 0;
  /// Within the device. Precondition: the two ranges do not overlap.
  virtual void copy(void* to, const void* from, std::size_t bytes, Stream& stream) = 0;
  /// The same for rows of at least DeviceInfo::least_copied_row bytes.
  virtual void copy_rows(const RowsToCopy&, Stream&) {}
  /// Sets `count` items of `item_bytes` (1, 2 or 4) to the item at `value`, which is in host memory.
  virtual void fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) = 0;

  // ---- streams and events -------------------------------------------------------------------------------------------
  /// The caller keeps the first stream for as long as it allocates and frees memory.
  virtual StreamRef create_stream() = 0;
  virtual EventRef create_event() = 0;
  virtual void record(Event& event, Stream& stream) = 0;
  /// Work that is queued on `stream` from now on starts after the last record() of `event`; at once if there was none.
  virtual void wait(Stream& stream, Event& event) = 0;
  virtual bool done(Stream& stream) = 0;
  virtual bool done(Event& event) = 0;
  /// The calling thread waits. Throws the failure of the stream's work, and ErrorKind::interrupted when
  /// DeviceEnvironment::interrupted was raised.
  virtual void synchronize(Stream& stream) = 0;
  virtual void synchronize(Event& event) = 0;
  /// Milliseconds between two events. Precondition: both are done.
  virtual float elapsed(Event& from, Event& to) = 0;

  // ---- kernels ------------------------------------------------------------------------------------------------------
  /// Compiles CUDA C++, or takes the result from the kernel cache. Throws ErrorKind::compile with the compiler's text.
  virtual std::shared_ptr<Module> compile(const KernelSource& source) = 0;
  /// Loads a compiled image in one of the device's formats (CUDA: PTX, cubin, fatbin).
  virtual std::shared_ptr<Module> load_image(std::string_view image) = 0;
  /// Queues a launch. Preconditions: `kernel` belongs to this device, and `config` has passed check_launch().
  /// `arguments` holds a pointer to each parameter's value, in the signature's order. The values are read before the
  /// call returns.
  virtual void launch(Kernel& kernel, const LaunchConfig& config, void** arguments, Stream& stream) = 0;

  // ---- graphs -------------------------------------------------------------------------------------------------------
  /// From now on the stream records the work that it is given: launches, copies, fills, products and sorts. It does
  /// none of it. Precondition: the stream has no work left. While it records, it is not waited for, nor asked whether
  /// it is done; it neither records events nor waits for them; no memory is allocated on it. Pageable host memory is
  /// read once, pinned memory each time that the graph runs.
  virtual void begin_capture(Stream& stream) = 0;
  /// Ends the recording; the stream is as before.
  virtual std::shared_ptr<Graph> end_capture(Stream& stream) = 0;
  /// Queues the work of the graph. Launches of one graph run one after the other.
  virtual void launch(Graph& graph, Stream& stream) = 0;
  /// Queues the work of the graph again and again, as long as the bool at `go_on`, in device memory, is true before it.
  /// False, and nothing queued, where the device cannot look at it by itself.
  virtual bool launch_while(Graph& /*graph*/, const void* /*go_on*/, Stream& /*stream*/) { return false; }

  // ---- checking -----------------------------------------------------------------------------------------------------
  /// Switches the checker on or off. It searches launches for mistakes in the kernel, and the first mistake ends the
  /// launch with a Diagnostic (diagnostic.h). Throws ErrorKind::unavailable where a device has no checker.
  virtual void set_checking(bool on) = 0;
  virtual bool checking() const = 0;

  // ---- libraries ----------------------------------------------------------------------------------------------------
  // blas(), solver(), sparse_solver() and rng() throw ErrorKind::unavailable, with the package to install, where the
  // device lacks the library.
  virtual Blas& blas() = 0;
  virtual Solver& solver() = 0;
  virtual SparseSolver& sparse_solver() = 0;
  virtual Rng& rng() = 0;
  /// Null on a device that has no library for Fourier transforms, or where Config::fft_libraries is off: then they are
  /// our kernels'.
  virtual Fft* fft() { return nullptr; }
  /// Null on a device whose kernels read no textures.
  virtual Textures* textures() { return nullptr; }
  /// Null on a device that shares no memory with OpenGL (graphics.h). One in host memory needs nothing of the kind:
  /// OpenGL itself maps its buffers there.
  virtual Graphics* graphics() { return nullptr; }
  /// Null on a device that sorts by our kernels.
  virtual Sorter* sorter() { return nullptr; }
  /// Null on a device that adds by our kernels.
  virtual Adder* adder() { return nullptr; }
  /// Null on a device that labels by our kernels.
  virtual Labeller* labeller() { return nullptr; }
  /// Null on a device that multiplies sparse matrices by our kernels.
  virtual Sparse* sparse() { return nullptr; }

  // ---- other devices: optional --------------------------------------------------------------------------------------
  /// True when the device reads and writes the other one's memory by itself, over a link between the two.
  virtual bool can_access(const Device&) const { return false; }
  /// Copies `bytes` > 0 from memory of `source`. The copy starts after the work queued so far on both streams, and work
  /// that is queued on either stream from now on starts after the copy. Returns false, and does nothing, where the only
  /// way between the devices is through the host program's memory.
  virtual bool copy_from(void* /*to*/, Stream& /*stream*/, Device& /*source*/, const void* /*from*/,
                         Stream& /*source_stream*/, std::size_t /*bytes*/) {
    return false;
  }

  /// Tells the device from all others of a job's machines; empty where no library moves elements between such devices.
  virtual std::string hardware_id() const { return {}; }
  /// Moves elements between this device and those of other processes. Null where there is none: `why` says what is
  /// missing.
  virtual CollectiveLibrary* collectives(std::string& why) {
    why = info().name + " is no GPU";
    return nullptr;
  }

  // ---- other processes: optional ------------------------------------------------------------------------------------
  /// Null on a device that shares no memory with other processes.
  virtual SharedMemory* shared_memory() { return nullptr; }

  // ---- the host program's memory and streams: optional --------------------------------------------------------------
  /// Why work of the device would fail with these bytes, `bytes` > 0: "that ..." of their address. Empty where it can
  /// have them.
  virtual std::string why_unreachable(const void* /*first*/, std::size_t /*bytes*/) { return {}; }
  /// Arrays use these bytes of the host program's from now on, and no longer: for a checker. Ranges may overlap.
  virtual void note_lent(const void* /*first*/, std::size_t /*bytes*/) {}
  virtual void forget_lent(const void* /*first*/, std::size_t /*bytes*/) noexcept {}
  /// The host program's stream with that handle of the driver. The program keeps it while the Stream lives.
  virtual StreamRef adopt_stream(void* native) {
    refuse_native(native);
    return nullptr;
  }
  /// From now on the work of `stream` goes to the host program's stream, and starts there after its work so far. The
  /// program keeps its stream until it is redirected again or the device goes.
  virtual void redirect(Stream& /*stream*/, void* native) { refuse_native(native); }

  // ---- damage: optional ---------------------------------------------------------------------------------------------
  /// What has written beside `memory`, which is from allocate(bytes), since the last call. A device that cannot tell
  /// returns none.
  virtual Overwrite find_overwrite(void* /*memory*/, std::size_t /*bytes*/) noexcept { return Overwrite::none; }

  // ---- tools of the device's maker: optional ------------------------------------------------------------------------
  /// From now on a tool that follows this process, as NVIDIA's Nsight Systems does, collects what the device does, or
  /// collects no more. Nothing happens where no tool does, nor on a device without such tools.
  virtual void start_profiler() {}
  virtual void stop_profiler() {}

 private:
  void refuse_native(void* /*native*/) const {
    throw Error("[stream] expected a device with streams of a driver, got {}, which does all work at once",
                info().name);
  }
};

}  // namespace gpulua
