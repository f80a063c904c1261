#pragma once

// libopenblas: its symbols, and batches of calls of it.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "src/base/dynamic_library.h"
#include "src/device/cpu/runtime/shared_loops.h"

namespace gpulua::cpu {

/// The open library. `op`, "blas" or "linalg", and `what`, which needs the library, are for messages.
class OpenBlasLibrary : public OptionalLibrary {
 public:
  OpenBlasLibrary(const char* op, const std::string& what);

  /// Calls run(i) for each i < batch. A few run one after the other, on all of OpenBLAS's threads each unless they are
  /// small; many run side by side, on one thread each. `work`: the multiplications of one.
  template <class Run>
  void each(std::int64_t batch, double work, const Run& run) const {
    // Within a small routine, waiting for other threads takes longer than their part of the work would.
    constexpr double small = 1 << 18, large = 1e8;
    const int threads = get_threads_();
    const bool few = batch == 1 || batch < (work < large ? threads : 4 * threads);
    std::optional<OneThread> one;
    if (!few || work <= small) one.emplace(*this);
    if (few) {
      for (std::int64_t i = 0; i < batch; ++i) run(i);
      return;
    }
    const double grain = std::max(65536 / work, 1.0);
    share_ranges(std::int64_t{0}, batch, static_cast<std::int64_t>(grain), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run(i);
    });
  }

 private:
  /// Meanwhile OpenBLAS, which has one number of threads in the process, has one thread.
  class OneThread {
   public:
    explicit OneThread(const OpenBlasLibrary& library);
    ~OneThread();
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

   private:
    const OpenBlasLibrary& library_;
    const std::lock_guard<std::mutex> lock_;
    const int threads_;
  };

  int (*get_threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
};

}  // namespace gpulua::cpu
