#include "src/cli/ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/comm/socket.h"

namespace gpulua {
namespace {

using Clock = std::chrono::steady_clock;

// The time that the other ranks have for their own messages once one has failed.
constexpr std::chrono::milliseconds grace{1500};

volatile std::sig_atomic_t received_signal = 0;

/// One of the two outputs of a rank, passed on line by line.
struct Output {
  int rank;
  int from;
  std::FILE* to;
  std::string line = {};

  /// False at the end.
  bool read_some() {
    char bytes[1 << 16];
    const ssize_t count = ::read(from, bytes, sizeof bytes);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count == 0) {
      if (!line.empty()) pass(line + '\n');
      ::close(from);
      return false;
    }
    line.append(bytes, static_cast<std::size_t>(count));
    const std::size_t end = line.rfind('\n');
    if (end == line.npos) return true;
    for (std::size_t first = 0; first <= end;) {
      const std::size_t next = line.find('\n', first) + 1;
      pass(std::string_view(line).substr(first, next - first));
      first = next;
    }
    line.erase(0, end + 1);
    return true;
  }

  void pass(std::string_view text) const {
    std::fprintf(to, "[%d] %.*s", rank, static_cast<int>(text.size()), text.data());
    std::fflush(to);
  }
};

std::string random_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw Error("[comm] the system gives no random bytes");
  std::string text;
  for (const unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

class LocalJob {
 public:
  LocalJob(int count, char** arguments)
      : arguments_(arguments),
        listener_(listen_at(0, Reach::this_machine)),
        port_(port_of(listener_)),
        token_(random_token()),
        ended_(::memfd_create("gpulua ranks that have ended", 0)) {
    if (ended_.descriptor() < 0 || ::ftruncate(ended_.descriptor(), count) != 0) fail("memfd_create");
    // Rank 0 inherits it.
    ::fcntl(listener_.descriptor(), F_SETFD, 0);
    for (int rank = 0; rank < count; ++rank) start(rank, count);
    listener_ = Socket();
  }

  int run() {
    while (!outputs_.empty() || running_ > 0) {
      read_outputs();
      reap();
      if (received_signal != 0 && status_ == 0) note_failure(128 + received_signal);
      if (status_ != 0 && running_ > 0 && Clock::now() > failed_at_ + grace) {
        has_killed_ = true;
        for (const pid_t process : processes_)
          if (process > 0) ::kill(process, SIGKILL);
      }
    }
    return status_;
  }

 private:
  void start(int rank, int count) {
    int output[2], errors[2];
    if (::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(errors, O_CLOEXEC) != 0) fail("pipe");
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) fail("fork");
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      become(rank, count, output[1], errors[1]);
    }
    ::close(output[1]);
    ::close(errors[1]);
    outputs_.push_back({rank, output[0], stdout});
    outputs_.push_back({rank, errors[0], stderr});
    processes_.push_back(process);
    ++running_;
  }

  [[noreturn]] static void fail(const char* what) {
    throw Error("[comm] cannot start the ranks: {}: {}", what, std::strerror(errno));
  }

  /// The new process becomes the command. The standard input is rank 0's.
  [[noreturn]] void become(int rank, int count, int output, int errors) {
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    if (rank > 0) {
      ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
      ::close(listener_.descriptor());
    }
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
    set("GPULUA_RANK", std::to_string(rank));
    set("GPULUA_SIZE", std::to_string(count));
    set("GPULUA_LOCAL_RANK", std::to_string(rank));
    set("GPULUA_STORE_PORT", std::to_string(port_));
    set("GPULUA_STORE_FD", std::to_string(listener_.descriptor()));
    set("GPULUA_TOKEN", token_);
    set("GPULUA_ENDED_FD", std::to_string(ended_.descriptor()));
    ::execv("/proc/self/exe", arguments_);
    ::_exit(127);
  }

  void read_outputs() {
    std::vector<pollfd> entries;
    for (const Output& output : outputs_) entries.push_back({output.from, POLLIN, 0});
    constexpr int poll_ms = 20;
    if (::poll(entries.data(), entries.size(), poll_ms) <= 0) return;
    std::vector<Output> open;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].revents == 0 || outputs_[i].read_some()) open.push_back(std::move(outputs_[i]));
    outputs_ = std::move(open);
  }

  void reap() {
    for (pid_t& process : processes_) {
      int status = 0;
      if (process <= 0 || ::waitpid(process, &status, WNOHANG) != process) continue;
      const auto rank = static_cast<int>(&process - processes_.data());
      process = 0;
      --running_;
      note_end(rank);
      // A rank that a signal has ended is the cause, though others may have been seen to fail because of it before.
      const bool is_cause = WIFSIGNALED(status) && !has_killed_;
      if (status == 0 || (status_ != 0 && !is_cause)) continue;
      if (WIFSIGNALED(status))
        std::fprintf(stderr, "gpulua: rank %d was ended by signal %d (%s)\n", rank, WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
      note_failure(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
  }

  /// For ranks that wait for this one to connect.
  void note_end(int rank) const {
    const char has_ended = 1;
    // Where that fails they wait a minute.
    static_cast<void>(::pwrite(ended_.descriptor(), &has_ended, 1, rank) == 1);
  }

  void note_failure(int status) {
    status_ = status;
    failed_at_ = Clock::now();
    // A terminal sends SIGINT to all processes itself.
    if (received_signal != SIGTERM) return;
    for (const pid_t process : processes_)
      if (process > 0) ::kill(process, SIGTERM);
  }

  char** arguments_;
  Socket listener_;
  int port_;
  std::string token_;
  Socket ended_;  // a file, with a byte for each rank
  std::vector<Output> outputs_;
  std::vector<pid_t> processes_;  // by rank; 0: ended
  int running_ = 0;
  int status_ = 0;
  bool has_killed_ = false;
  Clock::time_point failed_at_;
};

}  // namespace

int run_ranks(const RanksOption& option, int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const auto first = arguments.begin() + option.position;
  arguments.erase(first, first + option.words);
  arguments.push_back(nullptr);
  ::signal(SIGINT, [](int signal) { received_signal = signal; });
  ::signal(SIGTERM, [](int signal) { received_signal = signal; });
  return LocalJob(option.count, arguments.data()).run();
}

}  // namespace gpulua
