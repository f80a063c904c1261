#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpulua {

/// The kernels that a device has run, summed by kernel name. A DeviceRecorder measures them.
class Profile {
 public:
  struct Row {
    std::string name;
    std::size_t launches = 0;
    double milliseconds = 0;
    double bytes = 0;        // least memory traffic of the kernels; 0: not known
    double compilation = 0;  // milliseconds on the host, until the kernel could be launched
  };

  void add_launch(const std::string& name, double milliseconds, double bytes);
  /// The kernel was compiled, or read from the cache, and loaded in that time.
  void add_compilation(const std::string& name, double milliseconds) { row(name).compilation += milliseconds; }

  /// The rows, sorted by descending time.
  std::vector<Row> take_rows();

 private:
  Row& row(const std::string& name);

  std::vector<Row> rows_;  // in order of each kernel's first launch
};

}  // namespace gpulua
