#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gpulua {

/// What the process writes to its standard output and error, by Lua, C, kernels or other programs: while a cell runs it
/// goes to the notebook, otherwise where it went before.
class Output {
 public:
  using Publish = std::function<void(const char* stream, const std::string& text)>;

  /// Takes the file descriptors 1 and 2. `publish` is called by one thread at a time, while a cell runs. Throws
  /// std::system_error.
  explicit Output(Publish publish);
  /// Gives the file descriptors back.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void begin_cell();
  /// Publishes what is left.
  void end_cell();

  /// Publishes what has been written, and then calls `act` while nothing else is published.
  void behind_output(const std::function<void()>& act);

 private:
  struct Stream {
    const char* name;
    int descriptor;
    int original = -1;
    int pipe = -1;
    std::string pending{};
  };

  void redirect(Stream& stream);
  void read_streams();
  void forward();
  static void flush();

  Publish publish_;
  Stream streams_[2] = {{"stdout", 1}, {"stderr", 2}};
  int wake_ = -1;
  std::mutex mutex_;
  bool in_cell_ = false;
  bool closing_ = false;
  std::thread reader_;
};

}  // namespace gpulua
