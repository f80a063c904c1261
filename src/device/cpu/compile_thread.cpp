#include "src/device/cpu/compile_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>

#include "src/base/default_arithmetic.h"
#include "src/base/error.h"
#include "src/device/cpu/runtime/fault.h"

namespace gpulua::cpu {
namespace {

// clang and LLVM recurse as deeply as the source nests. Memory is taken as it is used. The smaller one is for processes
// whose address space is limited.
constexpr std::size_t stack_sizes[] = {std::size_t{256} << 20, std::size_t{32} << 20};
// No frame of theirs leaps over it.
constexpr std::size_t guard_bytes = 1 << 20;
constexpr std::ptrdiff_t frames_in_use = 64 << 10;
// How soon a Ctrl-C is seen. The end of a compilation is seen at once.
constexpr std::chrono::milliseconds patience{10};
// Between two of its stages a compilation does not see that it was given up.
constexpr std::chrono::seconds patience_at_end{1};

/// Signals of the process go to the host program's threads; a fault cannot be blocked.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

class CompileThreads::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(const CompilerEntry& compiler, const KernelSource& source, const CompileTarget& target, bool handles_faults)
      : compiler_(compiler), source_(source), target_(target) {
    if (handles_faults) fault_handlers_.emplace();
    state_.job = this;
    state_.fail = [](Compilation* self, const char* reason) {
      static_cast<State*>(self)->job->crash("LLVM cannot compile this source: %s", reason);
    };
  }

  void start() {
    auto* self = new std::shared_ptr<Job>(shared_from_this());
    int error = 0;
    for (const std::size_t bytes : stack_sizes) {
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, bytes);
      pthread_attr_setguardsize(&attributes, guard_bytes);
      error = pthread_create(&thread_, &attributes, &Job::enter, self);
      pthread_attr_destroy(&attributes);
      if (error == 0) return;
    }
    delete self;
    throw Error(ErrorKind::memory, "[compile] cannot create a thread: {}", std::strerror(error));
  }

  /// False: it goes on.
  bool wait_a_little() {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, patience, [this] { return done_; }) || crashed_.load(std::memory_order_acquire);
  }

  void abandon() { state_.abandoned.store(true, std::memory_order_relaxed); }

  /// The thread ends, unless it has crashed: then it is left where it is, with all that it holds.
  void end_thread() {
    if (crashed_.load(std::memory_order_acquire))
      pthread_detach(thread_);
    else
      pthread_join(thread_, nullptr);
  }

  /// A thread that takes longer goes on alone.
  void join_until(std::chrono::steady_clock::time_point end) {
    while (!wait_a_little())
      if (std::chrono::steady_clock::now() > end) {
        pthread_detach(thread_);
        return;
      }
    end_thread();
  }

  bool join_if_ended() {
    {
      std::lock_guard lock(mutex_);
      if (!done_ && !crashed_.load(std::memory_order_acquire)) return false;
    }
    end_thread();
    return true;
  }

  CompiledModule take() {
    if (crashed_.load(std::memory_order_acquire)) throw Error(ErrorKind::compile, "[compile] {}", reason_);
    if (failure_) std::rethrow_exception(failure_);
    return std::move(*result_);
  }

 private:
  struct State : Compilation {
    Job* job = nullptr;
  };

  static void* enter(void* argument) {
    const std::unique_ptr<std::shared_ptr<Job>> self(static_cast<std::shared_ptr<Job>*>(argument));
    (*self)->compile();
    return nullptr;
  }

  void compile() {
    block_signals();
    const DefaultArithmetic arithmetic;  // constants are folded with the processor's
    find_stack();
    const FaultReporter reporter(
        [](void* self, int signal, bool stack_overflow) { static_cast<Job*>(self)->fault(signal, stack_overflow); },
        this);
    try {
      result_ = compiler_.compile(source_, target_, &state_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    done_ = true;
    ended_.notify_all();
  }

  void find_stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* low = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    stack_low_ = static_cast<char*>(low);
    stack_top_ = static_cast<char*>(__builtin_frame_address(0)) - frames_in_use;
  }

  [[noreturn]] void fault(int signal, bool stack_overflow) {
    if (stack_overflow) crash("the source nests too deeply for the compiler%s", "");
    char number[16];
    std::snprintf(number, sizeof number, "%d", signal);
    crash("clang or LLVM crashed at this source, by signal %s: a mistake of theirs, or of gpulua's", number);
  }

  /// Called where nothing can be relied on, in a signal handler perhaps: the thread stops here for ever. Its stack, of
  /// which much may be in use, is given back but for the frames of this function and, at the top, of the thread's
  /// start.
  [[noreturn]] void crash(const char* format, const char* reason) {
    std::snprintf(reason_, sizeof reason_, format, reason);
#ifndef __SANITIZE_ADDRESS__  // its leak checker finds there what the compiler has allocated
    char* const here = static_cast<char*>(__builtin_frame_address(0));
    char* const end = here > stack_low_ && here < stack_top_ ? here - frames_in_use : stack_top_;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(stack_low_) + page - 1) / page * page;
    const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
#endif
    crashed_.store(true, std::memory_order_release);
    for (;;) pause();
  }

  std::optional<FaultHandlers> fault_handlers_;  // the thread may outlive its device
  const CompilerEntry& compiler_;
  const KernelSource source_;
  const CompileTarget target_;
  State state_;
  pthread_t thread_{};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::atomic<bool> crashed_{false};
  char reason_[512] = {};
  char *stack_low_ = nullptr, *stack_top_ = nullptr;
  std::optional<CompiledModule> result_;
  std::exception_ptr failure_;
};

CompileThreads::CompileThreads(bool handles_faults) : handles_faults_(handles_faults) {}

CompileThreads::~CompileThreads() {
  const auto end = std::chrono::steady_clock::now() + patience_at_end;
  for (const std::shared_ptr<Job>& job : abandoned_) job->join_until(end);
}

CompiledModule CompileThreads::run(const CompilerEntry& compiler, const KernelSource& source,
                                   const CompileTarget& target, std::atomic<bool>& interrupted) {
  const auto job = std::make_shared<Job>(compiler, source, target, handles_faults_);
  std::erase_if(abandoned_, [](const std::shared_ptr<Job>& earlier) { return earlier->join_if_ended(); });
  abandoned_.reserve(abandoned_.size() + 1);
  job->start();
  while (!job->wait_a_little()) {
    if (!interrupted.load(std::memory_order_relaxed) || !interrupted.exchange(false)) continue;
    job->abandon();
    abandoned_.push_back(job);
    throw Error(ErrorKind::interrupted, "[compile] interrupted");
  }
  job->end_thread();
  return job->take();
}

}  // namespace gpulua::cpu
