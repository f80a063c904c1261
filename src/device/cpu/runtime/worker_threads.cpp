#include "src/device/cpu/runtime/worker_threads.h"

#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <mutex>
#include <new>

namespace gpulua::cpu {
namespace {

std::mutex uses_lock;
int uses = 0;
pid_t process = 0;  // that has the threads; 0: there are none of ours

bool lost_threads = false;  // a child of fork() without the worker threads that its parent had
thread_local bool in_turn = false;

bool process_ends = false;

/// oneTBB's own static objects end after this one, as it was loaded before.
struct ProcessEnd {
  ~ProcessEnd() { process_ends = true; }
} process_end;

void watch_forks() {
  [[maybe_unused]] static const int once = pthread_atfork([] { uses_lock.lock(); }, [] { uses_lock.unlock(); },
                                                          [] {
                                                            lost_threads = lost_threads || process != 0;
                                                            uses_lock.unlock();
                                                          });
}

}  // namespace

WorkerThreads::WorkerThreads() {
  watch_forks();
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

int sharing_threads() {
  return lost_threads || in_turn ? 1 : tbb::this_task_arena::max_concurrency();
}

LoopsInTurn::LoopsInTurn() : before_(in_turn) {
  in_turn = true;
}

LoopsInTurn::~LoopsInTurn() {
  in_turn = before_;
}

}  // namespace gpulua::cpu
