#pragma once

// The primary context of one CUDA device. Every object of the device shares it.

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "src/device/cuda/cuda_driver.h"

namespace gpulua::cuda {

/// The retained primary context, which libraries of the runtime API share. It also decides when objects may be
/// destroyed. Unloading a module or releasing the context waits for the device, so neither happens while work is in
/// flight (a kernel may run for ever), nor after the device is lost. The end of the process frees the rest.
class Context {
 public:
  /// `programs`: a context of the host program's, which is used as it is; null: the device's primary context.
  Context(const Driver& driver, CUdevice device, CUcontext programs);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  CUcontext handle() const { return handle_; }
  bool is_programs() const { return is_programs_; }
  CUdevice device() const { return device_; }
  int attribute(CUdevice_attribute attribute) const;
  /// True when this device reaches the other one's memory over a link.
  bool can_access(const Context& other) const;

  /// Throws the Error that `result` means, unless it is success. `op` names the operation in the message.
  void check(CUresult result, const char* op) {
    if (result != CUDA_SUCCESS) [[unlikely]]
      fail(result, op, {});
  }
  /// Throws. The message contains `detail`, the request to the driver, unless the error comes from work queued earlier.
  [[noreturn]] void fail(CUresult result, const char* op, std::string_view detail);
  bool lost() const { return lost_; }

  /// Calls the driver's `command`, which starts or stops what a tool collects. A tool may refuse to be told.
  void control_profiler(CUresult (*command)());

  CUstream create_stream();
  /// Destroys the stream once its work is done, without waiting for it.
  void retire_stream(CUstream stream) noexcept;
  /// Work of ours goes to this stream of the host program's; and no more of it.
  void adopt_stream(CUstream stream);
  void leave_stream(CUstream stream) noexcept;
  /// While a stream records a graph, asking whether it is done would end the recording.
  void set_capturing(CUstream stream, bool on);
  /// Runs `destroy`, which may wait for the device, when no work is in flight: now or at a later call.
  void retire(std::function<void(const Driver&)> destroy) noexcept;

 private:
  struct OwnedStream {
    CUstream handle;
    bool retired;
    bool capturing = false;
    bool programs = false;
  };

  bool idle();
  /// For our streams, and for our work on the host program's.
  void wait() noexcept;
  void destroy_retired() noexcept;

  const Driver& driver_;
  CUdevice device_;
  CUcontext handle_ = nullptr;
  bool is_programs_;
  bool lost_ = false;
  std::vector<OwnedStream> streams_;
  std::vector<CUevent> left_;  // the ends of our work on streams of the host program's
  std::vector<std::function<void(const Driver&)>> retired_;
};

}  // namespace gpulua::cuda
