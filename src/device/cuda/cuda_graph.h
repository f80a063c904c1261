#pragma once

// Work of a stream that is recorded once and launched as a whole.

#include <memory>
#include <utility>
#include <vector>

#include "src/device/cuda/cuda_context.h"
#include "src/device/cuda/cuda_module.h"
#include "src/device/device.h"

namespace gpulua::cuda {

/// PTX with a kernel, set_condition(handle, go_on), which gives a conditional node the bool at `go_on`. It is no CUDA
/// C++ because the driver alone knows the function that it calls.
inline constexpr const char* condition_module = R"(
.version 6.0
.target sm_50
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry set_condition(.param .u64 handle, .param .u64 go_on)
{
  .reg .b64 %handle, %address;
  .reg .b32 %value;
  ld.param.u64 %handle, [handle];
  ld.param.u64 %address, [go_on];
  cvta.to.global.u64 %address, %address;
  ld.global.u8 %value, [%address];
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %handle;
    st.param.b32 [second], %value;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
)";

/// Recorded work, and the host memory that it reads.
class CudaGraph final : public Graph {
 public:
  explicit CudaGraph(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~CudaGraph() override;

  /// A copy of the bytes that lives as long as the graph.
  const void* keep(const void* host, std::size_t bytes);
  /// Keeps what the recorded work uses.
  void hold(std::shared_ptr<const void> used) { held_.push_back(std::move(used)); }
  /// Begins and ends the recording of a stream's work.
  void begin(CUstream stream);
  void end(CUstream stream);
  void launch(CUstream stream);
  /// As Device::launch_while, in one launch. `set_condition`: the kernel of condition_module.
  bool launch_while(const CudaKernel& set_condition, const void* go_on, CUstream stream);

 private:
  /// The work as the body of a conditional node, which repeats it.
  CUresult make_loop(const CudaKernel& set_condition, const void* go_on, CUgraphExec& loop) const;

  std::shared_ptr<Context> context_;
  std::vector<void*> kept_;  // pinned
  std::vector<std::shared_ptr<const void>> held_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<CUgraphExec> loops_;
};

}  // namespace gpulua::cuda
