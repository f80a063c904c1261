#pragma once

// CUDA streams and events, and waiting for them in a way that Ctrl-C can stop.

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "src/device/cuda/cuda_context.h"
#include "src/device/device.h"
#include "src/device/plugin.h"

namespace gpulua::cuda {

class CudaGraph;

class CudaStream final : public Stream {
 public:
  explicit CudaStream(std::shared_ptr<Context> context)
      : context_(std::move(context)), handle_(context_->create_stream()), home_(Home::ours) {}
  /// A stream of the host program's, which is only waited for and made to wait.
  CudaStream(std::shared_ptr<Context> context, CUstream programs)
      : context_(std::move(context)), handle_(programs), home_(Home::borrowed) {}
  ~CudaStream() override {
    blas_.reset();
    solver_.reset();
    parked_.clear();
    leave();
  }
  /// The work goes to a stream of the host program's from now on. What libraries keep for a stream stays for the case
  /// that a program takes turns with a few.
  void redirect(CUstream programs) {
    constexpr std::size_t most_parked = 8;
    if (parked_.size() >= most_parked) parked_.clear();
    if (blas_ || solver_) parked_[handle_] = {std::move(blas_), std::move(solver_)};
    context_->adopt_stream(programs);
    leave();
    handle_ = programs;
    home_ = Home::programs;
    const auto found = parked_.find(programs);
    if (found == parked_.end()) return;
    std::tie(blas_, solver_) = std::move(found->second);
    parked_.erase(found);
  }
  void* native_handle() const override { return handle_; }
  CUstream handle() const { return handle_; }
  /// What cuBLAS keeps for the stream (cublas.cpp); null before the first call. It goes before the stream.
  std::shared_ptr<void>& blas() { return blas_; }
  /// The same for cuSOLVER (cusolver.cpp).
  std::shared_ptr<void>& solver() { return solver_; }

  std::shared_ptr<CudaGraph> captured;  // what the stream records; null: nothing

 private:
  enum class Home { ours, programs, borrowed };

  void leave() {
    if (home_ == Home::ours) context_->retire_stream(handle_);
    if (home_ == Home::programs) context_->leave_stream(handle_);
  }

  std::shared_ptr<Context> context_;
  CUstream handle_;
  Home home_;
  std::shared_ptr<void> blas_;
  std::shared_ptr<void> solver_;
  std::map<CUstream, std::pair<std::shared_ptr<void>, std::shared_ptr<void>>> parked_;
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(std::shared_ptr<Context> context);
  ~CudaEvent() override;
  CUevent handle() const { return handle_; }

 private:
  std::shared_ptr<Context> context_;
  CUevent handle_ = nullptr;
};

inline CUstream handle_of(Stream& stream) {
  return static_cast<CudaStream&>(stream).handle();
}
inline CUevent handle_of(Event& event) {
  return static_cast<CudaEvent&>(event).handle();
}

bool is_done(Context& context, CUstream stream, const char* op);
bool is_done(Context& context, CUevent event, const char* op);

/// Returns when the stream or event is done. Throws the failure of its work, ErrorKind::interrupted, or what
/// DeviceEnvironment::while_waiting throws.
void wait_until_done(Context& context, CUstream stream, const DeviceEnvironment& environment, const char* op);
void wait_until_done(Context& context, CUevent event, const DeviceEnvironment& environment, const char* op);

}  // namespace gpulua::cuda
