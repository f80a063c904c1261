#include "src/device/cpu/runtime/worker_threads.h"

#include <tbb/global_control.h>
#include <unistd.h>

#include <mutex>
#include <new>

namespace gpulua::cpu {
namespace {

std::mutex uses_lock;
int uses = 0;
pid_t process = 0;  // that has the threads; 0: there are none of ours

bool process_ends = false;

/// oneTBB's own static objects end after this one, as it was loaded before.
struct ProcessEnd {
  ~ProcessEnd() { process_ends = true; }
} process_end;

}  // namespace

WorkerThreads::WorkerThreads() {
  const std::lock_guard lock(uses_lock);
  ++uses;
  if (process == 0) process = getpid();
}

WorkerThreads::~WorkerThreads() {
  const std::lock_guard lock(uses_lock);
  if (--uses > 0 || process != getpid() || process_ends) return;
  tbb::task_scheduler_handle handle{tbb::attach{}};
  if (tbb::finalize(handle, std::nothrow)) process = 0;
}

}  // namespace gpulua::cpu
