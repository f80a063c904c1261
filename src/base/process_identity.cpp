#include "src/base/process_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace gpulua {

ProcessIdentity this_process() {
  ProcessIdentity self;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> self.machine;
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0) self.space = space.st_ino;
  self.number = getpid();
  self.start = start_of_process(self.number).value_or(0);
  return self;
}

std::optional<std::uint64_t> start_of_process(std::int64_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name, in parentheses, and may have any character; the state follows. The start is
  // the 22nd field.
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return std::nullopt;
  for (int place = 3; place < 21; ++place) fields >> field;
  std::uint64_t start = 0;
  if (!(fields >> start)) return std::nullopt;
  return start;
}

}  // namespace gpulua
