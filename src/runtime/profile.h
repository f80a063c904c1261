#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

/// The kernels of a device that ran while it was recorded, by their names. Library calls and copies are not kernels.
class Profile {
 public:
  struct Row {
    std::string name;
    std::size_t launches = 0;
    double milliseconds = 0;
    double bytes = 0;  // that the kernels must move at least; 0 where nobody knows
  };

  explicit Profile(Device& device) : device_(&device) {}

  /// Called before and after a launch on `stream`.
  void begin(Stream& stream);
  void end(const std::string& name, double bytes, Stream& stream);

  /// All work on the device is done. The longest first.
  std::vector<Row> rows();

 private:
  /// Moves the launches that are done into the rows.
  void settle();

  struct Entry {
    std::string name;
    double bytes;
    EventRef from, to;
  };
  Device* device_;
  EventRef from_;
  std::vector<Entry> entries_;  // not yet in `rows_`
  std::vector<Row> rows_;       // in the order in which their kernels ran first
};

}  // namespace gpulua
