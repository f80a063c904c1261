#include "src/embed/deadline.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "src/embed/interruption.h"

namespace gpulua::embed {

using Clock = std::chrono::steady_clock;

class Timer {
 public:
  /// A child of fork() has this object but not its thread.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child() {
    new (&thread_) std::thread;  // there is none to join, nor one that waits
    new (&changed_) std::condition_variable;
    ++thread_number_;
    try {
      if (!deadlines_.empty()) start();
    } catch (...) {  // the next deadline tries again
    }
    mutex_.unlock();
  }

  void begin_use() {
    const std::lock_guard lock(mutex_);
    ++uses_;
  }

  void end_use() {
    std::thread ended;
    {
      const std::lock_guard lock(mutex_);
      if (--uses_ > 0) return;
      ++thread_number_;
      std::swap(ended, thread_);
    }
    changed_.notify_one();
    if (ended.joinable()) ended.join();
  }

  void add(Deadline& deadline) {
    const std::lock_guard lock(mutex_);
    deadlines_.push_back(&deadline);
    if (!thread_.joinable()) {
      try {
        start();
      } catch (...) {
        deadlines_.pop_back();
        throw;
      }
    } else if (deadline.next_ < wakes_) {
      changed_.notify_one();
    }
  }

  /// The thread uses the deadline no more when this returns.
  void remove(Deadline& deadline) {
    const std::lock_guard lock(mutex_);
    std::erase(deadlines_, &deadline);
  }

 private:
  static constexpr auto repetition = std::chrono::milliseconds(5);
  // A call that was forced gets a second to unwind its stack, as its hook runs at each instruction meanwhile.
  static constexpr int first_force = 10, raises_between_forces = 200;

  /// The program's signals are for its own threads.
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this, number = thread_number_] { run(number); });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Until the last use ends, which changes the number.
  void run(int number) {
    std::unique_lock lock(mutex_);
    while (number == thread_number_) {
      // The time of a call that has ended stays set: one needless look is cheaper than waking this thread for each
      // call.
      wakes_ = Clock::time_point::max();
      const Clock::time_point now = Clock::now();
      for (Deadline* deadline : deadlines_) {
        if (deadline->next_ <= now) {
          const bool force = ++deadline->raises_ % raises_between_forces == first_force;
          deadline->interruption_.raise(deadline->generation_, Interruption::Reason::deadline, force);
          deadline->next_ = now + repetition;
        }
        wakes_ = std::min(wakes_, deadline->next_);
      }
      if (wakes_ == Clock::time_point::max())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, wakes_);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Deadline*> deadlines_;  // of the calls that run, and of their parts
  std::thread thread_;
  int uses_ = 0, thread_number_ = 0;
  Clock::time_point wakes_;  // when the thread looks at the deadlines next
};

namespace {

/// Never destroyed: a program may end its process with states open.
Timer& timer() {
  static Timer* const only = [] {
    pthread_atfork([] { timer().before_fork(); }, [] { timer().after_fork_in_parent(); },
                   [] { timer().after_fork_in_child(); });
    return new Timer;
  }();
  return *only;
}

}  // namespace

TimerUse::TimerUse() {
  timer().begin_use();
}
TimerUse::~TimerUse() {
  timer().end_use();
}

Deadline::Deadline(Interruption& interruption, std::uint64_t generation, double milliseconds)
    : interruption_(interruption), generation_(generation) {
  // A thousand years would overflow the clock.
  const std::chrono::duration<double, std::milli> time(std::min(milliseconds, 1e12));
  next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  timer().add(*this);
}

bool Deadline::end() noexcept {
  timer().remove(*this);
  return raises_ > 0;
}

Deadline::~Deadline() {
  end();
}

}  // namespace gpulua::embed
