#include "src/device/cuda/cuda_graph.h"

#include <cstring>

#include "src/base/error.h"
#include "src/device/cuda/context_guard.h"

namespace gpulua::cuda {

CudaGraph::~CudaGraph() {
  // Pinned memory that a launch in flight still reads is freed later.
  context_->retire([executable = executable_, kept = kept_](const Driver& driver) {
    if (executable != nullptr) driver.graph_destroy_executable(executable);
    for (void* memory : kept) driver.host_free(memory);
  });
}

const void* CudaGraph::keep(const void* host, std::size_t bytes) {
  const ContextGuard guard(*context_);
  void* memory = nullptr;
  if (context_->driver().host_allocate(&memory, bytes, 0) != CUDA_SUCCESS)
    throw Error(ErrorKind::memory, "[graph] out of host memory for a copy of the uploaded data");
  std::memcpy(memory, host, bytes);
  kept_.push_back(memory);
  return memory;
}

void CudaGraph::begin(CUstream stream) {
  const ContextGuard guard(*context_);
  // Relaxed: compilations, allocations and frees on other streams go on meanwhile.
  context_->check(context_->driver().stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "graph");
  context_->set_capturing(stream, true);
}

void CudaGraph::end(CUstream stream) {
  const ContextGuard guard(*context_);
  context_->set_capturing(stream, false);
  CUgraph graph = nullptr;
  context_->check(context_->driver().stream_end_capture(stream, &graph), "graph");
  const CUresult result = context_->driver().graph_instantiate(&executable_, graph, 0);
  context_->driver().graph_destroy(graph);
  context_->check(result, "graph");
}

void CudaGraph::launch(CUstream stream) {
  const ContextGuard guard(*context_);
  context_->check(context_->driver().graph_launch(executable_, stream), "graph");
}

}  // namespace gpulua::cuda
