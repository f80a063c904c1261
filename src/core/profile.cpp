#include "src/core/profile.h"

#include <algorithm>

namespace gpulua {

void Profile::begin(Stream& stream) {
  from_ = device_.create_event();
  device_.record(*from_, stream);
}

void Profile::end(const std::string& name, double bytes, Stream& stream) {
  EventRef to = device_.create_event();
  device_.record(*to, stream);
  entries_.push_back({name, bytes, std::move(from_), std::move(to)});
}

std::vector<Profile::Row> Profile::rows() {
  std::vector<Row> rows;
  for (const Entry& entry : entries_) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == entry.name; });
    if (row == rows.end()) row = rows.insert(row, {entry.name});
    ++row->launches;
    row->milliseconds += device_.elapsed(*entry.from, *entry.to);
    row->bytes += entry.bytes;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.milliseconds > b.milliseconds; });
  return rows;
}

}  // namespace gpulua
