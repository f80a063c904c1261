#include "src/runtime/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>

#include "src/base/error.h"
#include "src/runtime/context.h"
#include "src/runtime/trace_events.h"

namespace gpulua {

std::string path_of_rank(const std::string& path, int rank, int size) {
  if (size <= 1) return path;
  std::filesystem::path name(path);
  const std::string ending = name.extension().string();
  return name.replace_extension(".rank" + std::to_string(rank) + ending).string();
}

TraceFile::TraceFile(Context& context, const std::string& path, const char* op)
    : context_(context),
      op_(op),
      path_(path_of_rank(path, context.config().job.rank, context.config().job.size)),
      file_(nullptr, &std::fclose) {
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Error("[{}] expected a file that can be written, got \"{}\": {}", op, path_, std::strerror(errno));
  file_.reset(::fdopen(descriptor, "w"));
  if (!file_) {
    ::close(descriptor);
    throw Error("[{}] out of host memory for the file \"{}\"", op, path_);
  }
  first_ = context_.timeline.start();
  try {
    for (const auto& device : context_.open_devices()) {
      device->check_not_captured("starts a trace");
      device->recorder().follow_timeline();
    }
  } catch (...) {
    stop();
    throw;
  }
  begin_ = host_now();
}

TraceFile::~TraceFile() {
  stop();
}

void TraceFile::stop() noexcept {
  if (!std::exchange(runs_, false)) return;
  context_.timeline.stop();
  for (const auto& device : context_.open_devices()) device->recorder().leave_timeline();
}

void TraceFile::finish(int limit) {
  const TraceSpan span{first_, begin_, host_now()};
  for (const auto& device : context_.open_devices()) {
    if (device->captures()) continue;
    try {
      device->measure_ends();
      device->recorder().settle(limit);
      device->recorder().close();
      device->recorder().calibrate();
    } catch (const Error& error) {  // of a lost device: its clock goes on as it did
      if (error.kind() == ErrorKind::interrupted) context_.interrupt();
    }
  }
  if (::ftruncate(::fileno(file_.get()), 0) != 0 && errno != EINVAL)
    throw Error("[{}] \"{}\" cannot be written: {}", op_, path_, std::strerror(errno));
  const auto write = [this](const std::string& text) { std::fwrite(text.data(), 1, text.size(), file_.get()); };
  write(std::string(first_line) + "\n");
  write_trace_events(context_, span, write);
  write(std::string("\n") + last_line + "\n");
  const bool failed = std::ferror(file_.get()) != 0;
  if (std::fclose(file_.release()) != 0 || failed)
    throw Error("[{}] \"{}\" cannot be written: {}", op_, path_, std::strerror(errno));
  const std::uint64_t dropped = context_.timeline.oldest(first_) - first_;
  stop();
  if (dropped > 0)
    context_.warn("the trace \"" + path_ + "\" has the last " + std::to_string(Timeline::capacity) + " events; " +
                  std::to_string(dropped) + " earlier ones were dropped: trace a part of the program");
}

}  // namespace gpulua
