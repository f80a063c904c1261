#include "src/device/cuda/cuda_graph.h"

#include <cstring>

#include "src/base/error.h"
#include "src/device/cuda/context_guard.h"

namespace gpulua::cuda {

CudaGraph::~CudaGraph() {
  // Pinned memory that a launch in flight still reads is freed later.
  context_->retire([graph = graph_, executable = executable_, loops = loops_, kept = kept_](const Driver& driver) {
    for (CUgraphExec loop : loops) driver.graph_destroy_executable(loop);
    if (executable != nullptr) driver.graph_destroy_executable(executable);
    if (graph != nullptr) driver.graph_destroy(graph);
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
  context_->check(context_->driver().stream_end_capture(stream, &graph_), "graph");
  context_->check(context_->driver().graph_instantiate(&executable_, graph_, 0), "graph");
}

void CudaGraph::launch(CUstream stream) {
  const ContextGuard guard(*context_);
  context_->check(context_->driver().graph_launch(executable_, stream), "graph");
}

CUresult CudaGraph::make_loop(const CudaKernel& set_condition, const void* go_on, CUgraphExec& loop) const {
  const Driver& driver = context_->driver();
  CUgraph whole = nullptr;
  if (const CUresult result = driver.graph_create(&whole, 0); result != CUDA_SUCCESS) return result;
  const std::unique_ptr<CUgraph_st, decltype(driver.graph_destroy)> owner(whole, driver.graph_destroy);

  CUgraphConditionalHandle handle = 0;
  CUresult result = driver.graph_conditional_handle_create(&handle, whole, context_->handle(), 0, 0);
  const auto add = [&](CUgraph graph, CUgraphNode after, CUgraphNodeParams& parameters) {
    CUgraphNode node = nullptr;
    if (result == CUDA_SUCCESS)
      result = driver.graph_add_node(&node, graph, &after, nullptr, after != nullptr ? 1 : 0, &parameters);
    return node;
  };

  void* arguments[] = {&handle, &go_on};
  CUgraphNodeParams set{};
  set.type = CU_GRAPH_NODE_TYPE_KERNEL;
  set.kernel.func = set_condition.function();
  set.kernel.gridDimX = set.kernel.gridDimY = set.kernel.gridDimZ = 1;
  set.kernel.blockDimX = set.kernel.blockDimY = set.kernel.blockDimZ = 1;
  set.kernel.kernelParams = arguments;
  const CUgraphNode first = add(whole, nullptr, set);

  CUgraphNodeParams repeat{};
  repeat.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  repeat.conditional.handle = handle;
  repeat.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  repeat.conditional.size = 1;
  repeat.conditional.ctx = context_->handle();
  add(whole, first, repeat);
  if (result != CUDA_SUCCESS) return result;
  CUgraph body = repeat.conditional.phGraph_out[0];

  CUgraphNodeParams work{};
  work.type = CU_GRAPH_NODE_TYPE_GRAPH;
  work.graph.graph = graph_;
  add(body, add(body, nullptr, work), set);
  return result == CUDA_SUCCESS ? driver.graph_instantiate(&loop, whole, 0) : result;
}

bool CudaGraph::launch_while(const CudaKernel& set_condition, const void* go_on, CUstream stream) {
  const ContextGuard guard(*context_);
  CUgraphExec loop = nullptr;
  // The driver takes no work of other kinds than kernels, copies and fills in the body.
  if (make_loop(set_condition, go_on, loop) != CUDA_SUCCESS) return false;
  loops_.push_back(loop);
  context_->check(context_->driver().graph_launch(loop, stream), "loop_while");
  return true;
}

}  // namespace gpulua::cuda
