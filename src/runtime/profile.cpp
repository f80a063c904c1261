#include "src/runtime/profile.h"

#include <algorithm>

namespace gpulua {

namespace {

// Number of launches after which the finished ones are flushed into the rows.
constexpr std::size_t most_entries = 1024;

}  // namespace

void Profile::begin(Stream& stream) {
  from_ = device_->create_event();
  device_->record(*from_, stream);
}

void Profile::end(const std::string& name, double bytes, Stream& stream) {
  EventRef to = device_->create_event();
  device_->record(*to, stream);
  entries_.push_back({name, bytes, std::move(from_), std::move(to)});
  if (entries_.size() % most_entries == 0) flush();
}

Profile::Row& Profile::row(const std::string& name) {
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.name == name; });
  if (row == rows_.end()) row = rows_.insert(row, {name});
  return *row;
}

void Profile::flush() {
  std::erase_if(entries_, [this](const Entry& entry) {
    if (!device_->done(*entry.to)) return false;
    Row& row = this->row(entry.name);
    ++row.launches;
    row.milliseconds += device_->elapsed(*entry.from, *entry.to);
    row.bytes += entry.bytes;
    return true;
  });
}

std::vector<Profile::Row> Profile::rows() {
  flush();
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.milliseconds > b.milliseconds; });
  return std::move(rows_);
}

}  // namespace gpulua
