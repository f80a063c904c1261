#include "src/cli/compile_notice.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>

namespace gpulua {
namespace {

constexpr std::chrono::seconds patience(1);

class Notice {
 public:
  explicit Notice(const std::string& where) : text_("\33[K" + where + "compiling a kernel ...\r") {
    // The new thread blocks all signals: they go to the threads that handle them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread(&Notice::wait, this);
    } catch (const std::system_error&) {  // no thread can be started: the compilation matters more
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Notice() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

 private:
  /// Leaves the cursor at the line's start: whatever comes next begins there.
  void wait() {
    std::unique_lock lock(mutex_);
    const auto is_done = [this] { return done_; };
    if (ended_.wait_for(lock, patience, is_done)) return;
    std::fputs(text_.c_str(), stderr);
    ended_.wait(lock, is_done);
    std::fputs("\33[K", stderr);
  }

  const std::string text_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<void> notice_compilation(const std::string& where) {
  if (isatty(STDERR_FILENO) == 0) return nullptr;
  return std::make_shared<Notice>(where);
}

}  // namespace gpulua
