#include "src/cli/trace_parts.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "src/base/error.h"
#include "src/runtime/trace_file.h"

namespace gpulua {
namespace {

[[noreturn]] void refuse_file(const std::string& path) {
  throw Error("[trace] expected a file that can be written, got \"{}\": {}", path, std::strerror(errno));
}

/// Adds the events of a part to `file`. False when it has none: its rank has not finished it.
bool add_events(const std::string& path, std::ofstream& file, bool& is_first) {
  std::ifstream part(path);
  std::string line;
  if (!std::getline(part, line) || line != TraceFile::first_line) return false;
  while (std::getline(part, line) && line != TraceFile::last_line) {
    if (line.ends_with(',')) line.pop_back();
    file << (is_first ? "" : ",\n") << line;
    is_first = false;
  }
  return true;
}

}  // namespace

TraceParts::TraceParts(std::string path, int ranks) : path_(std::move(path)), ranks_(ranks) {
  if (ranks_ == 1) return;  // its part is the trace
  if (!std::ofstream(path_, std::ios::app)) refuse_file(path_);
  std::error_code ignored;
  for (int rank = 0; rank < ranks_; ++rank) std::filesystem::remove(path_of_rank(path_, rank, ranks_), ignored);
}

void TraceParts::join() const {
  if (ranks_ == 1) return;
  std::ofstream file(path_);
  bool is_first = true;
  file << TraceFile::first_line << '\n';
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string part = path_of_rank(path_, rank, ranks_);
    if (!add_events(part, file, is_first)) std::fprintf(stderr, "gpulua: rank %d has written no trace\n", rank);
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
  }
  file << '\n' << TraceFile::last_line << '\n';
  if (!file.flush()) refuse_file(path_);
}

}  // namespace gpulua
