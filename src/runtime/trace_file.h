#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "src/base/job.h"

namespace gpulua {

class Context;

/// A trace: a file in the Trace Event Format, JSON that Perfetto and Chrome's about:tracing show, of what the context
/// and its devices do while this lives. The file has a line for each event, between a first and a last line
/// (trace_parts.h in src/cli puts the files of several ranks together).
class TraceFile {
 public:
  static constexpr const char* first_line = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  static constexpr const char* last_line = "]}";

  /// Opens the file, with the rank in its name where there are several, and begins. Throws Error, in the name of `op`,
  /// for a file that cannot be written. What the file has had is there until finish().
  TraceFile(Context& context, const std::string& path, const char* op);
  /// Without finish(), the file is left as it was.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Ends the trace and writes the file. Waits up to `limit` milliseconds for the devices' work: what has not ended by
  /// then has no times of the device. Throws Error when the file cannot be written.
  void finish(int limit);

 private:
  void stop() noexcept;

  Context& context_;
  const char* op_;
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t first_;  // number of an entry
  std::int64_t begin_;   // host's time
  bool runs_ = true;
};

/// The name of a rank's file: "trace.rank2.json" of "trace.json". `path` where there is one rank.
std::string path_of_rank(const std::string& path, int rank, int size);

}  // namespace gpulua
