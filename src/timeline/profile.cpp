#include "src/timeline/profile.h"

#include <algorithm>
#include <utility>

namespace gpulua {

Profile::Row& Profile::row(const std::string& name) {
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.name == name; });
  if (row == rows_.end()) row = rows_.insert(row, {name});
  return *row;
}

void Profile::add_launch(const std::string& name, double milliseconds, double bytes) {
  Row& row = this->row(name);
  ++row.launches;
  row.milliseconds += milliseconds;
  row.bytes += bytes;
}

std::vector<Profile::Row> Profile::take_rows() {
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.milliseconds > b.milliseconds; });
  return std::move(rows_);
}

}  // namespace gpulua
