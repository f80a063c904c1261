#pragma once

// The CPU device's streams. Work is done where it is queued, unless the stream records it for a graph.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/device/device.h"

namespace gpulua::cpu {

/// Work that was recorded, in order.
class CpuGraph final : public Graph {
 public:
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }
  void run() const {
    for (const std::function<void()>& work : work_) work();
  }

 private:
  std::vector<std::function<void()>> work_;
};

class CpuStream final : public Stream {
 public:
  std::shared_ptr<CpuGraph> recorded;  // null: the stream records nothing
};

/// The graph that the stream records, or null.
inline CpuGraph* recorded_by(Stream& stream) {
  return static_cast<CpuStream&>(stream).recorded.get();
}

/// Does the work, or records it. Then it runs later and again, so it owns its data but for device memory.
template <class Work>
void queue(Stream& stream, Work work) {
  if (CpuGraph* graph = recorded_by(stream)) [[unlikely]]
    graph->add(std::move(work));
  else
    work();
}

}  // namespace gpulua::cpu
