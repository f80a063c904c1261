#pragma once

// Work of a stream that is recorded once and launched as a whole.

#include <memory>
#include <utility>
#include <vector>

#include "src/device/cuda/cuda_context.h"
#include "src/device/cuda/cuda_module.h"
#include "src/device/device.h"

namespace gpulua::cuda {

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
