#include "src/notebook/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "src/notebook/text.h"

namespace gpulua {
namespace {

constexpr int pipe_bytes = 1 << 20;
/// What comes within this time is one message.
constexpr std::chrono::milliseconds gathering(15);
/// How often text without the end of its line is looked for, while a cell runs.
constexpr int flush_interval = 100;  // milliseconds

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void write_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads what is written outside of cells
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

}  // namespace

Output::Output(Publish publish) : publish_(std::move(publish)) {
  wake_ = checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  for (Stream& stream : streams_) redirect(stream);
  reader_ = std::thread(&Output::read_streams, this);
}

Output::~Output() {
  flush();
  {
    const std::lock_guard lock(mutex_);
    forward();
    closing_ = true;
    for (Stream& stream : streams_) ::dup2(stream.original, stream.descriptor);
  }
  eventfd_write(wake_, 1);
  reader_.join();
}

void Output::redirect(Stream& stream) {
  int ends[2];
  checked(pipe2(ends, O_CLOEXEC), "pipe");
  stream.pipe = ends[0];
  checked(fcntl(stream.pipe, F_SETFL, O_NONBLOCK), "fcntl");
  fcntl(stream.pipe, F_SETPIPE_SZ, pipe_bytes);  // a smaller one does, too
  stream.original = checked(fcntl(stream.descriptor, F_DUPFD_CLOEXEC, 3), "dup");
  checked(::dup2(ends[1], stream.descriptor), "dup2");
  ::close(ends[1]);
}

void Output::begin_cell() {
  flush();
  {
    const std::lock_guard lock(mutex_);
    forward();
    in_cell_ = true;
  }
  eventfd_write(wake_, 1);
}

void Output::end_cell() {
  flush();
  const std::lock_guard lock(mutex_);
  forward();
  for (Stream& stream : streams_) {
    if (!stream.pending.empty()) publish_(stream.name, stream.pending);
    stream.pending.clear();
  }
  in_cell_ = false;
}

void Output::behind_output(const std::function<void()>& act) {
  flush();
  const std::lock_guard lock(mutex_);
  forward();
  act();
}

void Output::flush() {
  std::fflush(stdout);
  std::fflush(stderr);
}

/// Takes what is in the pipes, without waiting. The caller holds the lock.
void Output::forward() {
  static char bytes[1 << 16];
  for (Stream& stream : streams_) {
    for (;;) {
      const ssize_t count = ::read(stream.pipe, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      if (in_cell_)
        stream.pending.append(bytes, static_cast<std::size_t>(count));
      else
        write_all(stream.original, bytes, static_cast<std::size_t>(count));
    }
    const std::size_t whole = whole_characters(stream.pending);
    if (whole == 0) continue;
    publish_(stream.name, stream.pending.substr(0, whole));
    stream.pending.erase(0, whole);
  }
}

void Output::read_streams() {
  pollfd waits[] = {{streams_[0].pipe, POLLIN, 0}, {streams_[1].pipe, POLLIN, 0}, {wake_, POLLIN, 0}};
  bool in_cell = false;
  for (;;) {
    const int ready = ::poll(waits, std::size(waits), in_cell ? flush_interval : -1);
    eventfd_t ignored;
    eventfd_read(wake_, &ignored);
    // The cell's thread may hold the lock, and wait until this one has emptied the pipe.
    if (ready == 0 && ftrylockfile(stdout) == 0) {
      fflush_unlocked(stdout);
      funlockfile(stdout);
    }
    std::this_thread::sleep_for(gathering);
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    forward();
    in_cell = in_cell_;
  }
}

}  // namespace gpulua
