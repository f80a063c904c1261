#include "src/timeline/timeline.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace gpulua {

std::uint32_t this_thread() {
  thread_local const auto number = static_cast<std::uint32_t>(::gettid());
  return number;
}

NameRef NameTable::get(std::string_view name) {
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  if (names_.size() >= look_at_) {
    std::erase_if(names_, [](const auto& entry) { return entry.second.use_count() == 1; });
    look_at_ = std::max<std::size_t>(4096, 2 * names_.size());
  }
  const auto made = std::make_shared<const std::string>(name);
  return names_.emplace(*made, made).first->second;
}

std::uint64_t Timeline::start() {
  slot(next_);
  ++traces_;
  return next_;
}

void Timeline::stop() noexcept {
  if (--traces_ > 0) return;
  for (auto& chunk : chunks_) chunk.reset();
  streams_.clear();
}

TimelineEntry& Timeline::slot(std::uint64_t number) {
  const std::uint64_t at = number % capacity;
  auto& chunk = chunks_[at / chunk_entries];
  if (!chunk) chunk = std::make_unique<TimelineEntry[]>(chunk_entries);
  return chunk[at % chunk_entries];
}

std::uint64_t Timeline::add(TimelineEntry&& entry) {
  entry.thread = this_thread();
  slot(next_) = std::move(entry);
  return next_++;
}

TimelineEntry& Timeline::take_slot() {
  TimelineEntry& entry = slot(next_++);
  entry.thread = this_thread();
  // The next one is in no cache.
  for (std::size_t line = 0; line < sizeof entry; line += 64)
    __builtin_prefetch(reinterpret_cast<const char*>(&entry + 1) + line, 1);
  return entry;
}

TimelineEntry* Timeline::find(std::uint64_t number) {
  if (number >= next_ || number + capacity < next_) return nullptr;
  const std::uint64_t at = number % capacity;
  const auto& chunk = chunks_[at / chunk_entries];
  return chunk ? &chunk[at % chunk_entries] : nullptr;
}

std::uint32_t Timeline::add_stream(std::string name, const DeviceRecorder& recorder) {
  streams_.push_back({std::move(name), &recorder});
  return static_cast<std::uint32_t>(streams_.size());
}

}  // namespace gpulua
