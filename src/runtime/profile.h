#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

/// A recording of the kernels that run on a device, summed by kernel name. Vendor library calls and copies are not
/// recorded.
class Profile {
 public:
  struct Row {
    std::string name;
    std::size_t launches = 0;
    double milliseconds = 0;
    double bytes = 0;        // least memory traffic of the kernels; 0: not known
    double compilation = 0;  // milliseconds on the host, until the kernel could be launched
  };

  explicit Profile(Device& device) : device_(&device) {}

  /// Called before and after a launch on `stream`.
  void begin(Stream& stream);
  void end(const std::string& name, double bytes, Stream& stream);
  /// The kernel was compiled, or read from the cache, and loaded in that time.
  void add_compilation(const std::string& name, double milliseconds) { row(name).compilation += milliseconds; }

  /// The rows, sorted by descending time. All work on the device must be done.
  std::vector<Row> rows();

 private:
  Row& row(const std::string& name);
  /// Adds the launches that are done to the rows.
  void flush();

  struct Entry {
    std::string name;
    double bytes;
    EventRef from, to;
  };
  Device* device_;
  EventRef from_;
  std::vector<Entry> entries_;  // not yet in `rows_`
  std::vector<Row> rows_;       // in order of each kernel's first launch
};

}  // namespace gpulua
