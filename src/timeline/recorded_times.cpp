// The times of the work that a DeviceRecorder has recorded: from its events, and between them.

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "src/timeline/device_recorder.h"

namespace gpulua {

namespace {

// Events tell times as float32 milliseconds. Up to here these are exact to 0.03 us.
constexpr double far_from_origin = 250e6;  // ns

bool is_launch(TimelineEntry::Kind kind) {
  return kind == TimelineEntry::Kind::kernel || kind == TimelineEntry::Kind::graph ||
         kind == TimelineEntry::Kind::collective;
}

}  // namespace

void DeviceRecorder::settle(int limit) noexcept {
  read_at_ = host_now();
  const std::int64_t end = read_at_ + std::int64_t{limit} * 1'000'000;
  try {
    while (true) {
      read_times();
      if (pending_.empty() || host_now() >= end) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const std::exception&) {
    // The work has failed. The next wait tells why.
  }
}

void DeviceRecorder::read_times() {
  for (Track& track : tracks_) track.is_settled = false, track.done = 0;
  // What is done on a stream ends where the newest event is that the stream has passed.
  std::size_t unknown = tracks_.size();
  for (std::size_t i = pending_.size(); i > 0 && unknown > 0; --i) {
    Track& track = tracks_[pending_[i - 1].track];
    if (track.is_settled || !device_.done(*pending_[i - 1].end)) continue;
    track.is_settled = true;
    track.done = i;
    --unknown;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (i < tracks_[pending_[i].track].done) {
      resolve(pending_[i]);
      continue;
    }
    if (kept != i) pending_[kept] = std::move(pending_[i]);
    ++kept;
  }
  pending_.resize(kept);
}

/// Finds the track's work before the entry `until` that has no times, and gives it those that it can have had.
void DeviceRecorder::lay_out(Track& track, std::uint64_t until) {
  laid_out_.clear();
  if (track.number == 0) return;
  for (std::uint64_t i = timeline_.oldest(track.known_until); i < until; ++i)
    if (TimelineEntry* entry = timeline_.find(i); entry && entry->stream == track.number) laid_out_.push_back(entry);
  track.known_until = until;
  for (TimelineEntry* entry : laid_out_) {
    entry->begin = std::max(track.end, device_time(entry->host_end) + latency());
    entry->end = track.end = entry->begin + time_of_kernel(size_of(*entry)).duration;
  }
}

/// Makes work that is laid out end at `passed`, the time of an event behind it that was recorded at the host's time
/// `queued`: where it would end later, or the device has passed the event late, and so has worked until then.
void DeviceRecorder::fit(Track& track, double passed, std::int64_t queued) {
  constexpr double soon = 2000;  // ns
  const bool is_late = passed > device_time(queued) + latency() + soon;
  if (laid_out_.empty() || (track.end <= passed && !is_late)) return;
  const double first = laid_out_.front()->begin;
  const double scale = track.end > first ? std::max(passed - first, 0.0) / (track.end - first) : 0;
  const auto moved = [=](double time) { return std::min(first + scale * (time - first), passed); };
  for (TimelineEntry* entry : laid_out_) entry->begin = moved(entry->begin), entry->end = moved(entry->end);
  track.end = laid_out_.back()->end;
}

void DeviceRecorder::resolve(Pending& work) {
  Track& track = tracks_[work.track];
  const double passed = time_of(*work.end);
  if (work.start) {
    const double started = time_of(*work.start);
    lay_out(track, work.entry);
    fit(track, started, work.queued);
    latencies_[measured_++ % latencies_.size()] = started - device_time(work.queued);
    const double end = std::max(passed, track.end);
    double begin = std::max(started, track.end);
    if (work.not_before > 0) begin = std::max(begin, device_time(work.not_before));
    begin = std::min(begin, end);
    track.end = end;
    if (is_launch(work.kind))
      for (RunningProfile& running : profiles_)
        if (work.number >= running.first) running.profile.add_launch(*work.name, (end - begin) / 1e6, work.bytes);
    if (TimelineEntry* entry = timeline_.find(work.entry)) {
      entry->begin = begin, entry->end = end;
      if (work.kind == Kind::kernel) time_of_kernel(size_of(*entry)).duration = end - begin;
    }
    track.known_until = work.entry + 1;
  } else {
    lay_out(track, work.name ? work.entry + 1 : work.entry);
    fit(track, passed, work.queued);
    track.end = std::max(passed, track.end);
    if (work.name && !laid_out_.empty()) laid_out_.back()->end = track.end;
  }
  give_back(std::move(work.start));
  if (passed - origin_time_ > far_from_origin) {
    give_back(std::exchange(origin_, nullptr));
    origin_ = std::move(work.end);
    origin_time_ = passed;
  } else {
    give_back(std::move(work.end));
  }
}

void DeviceRecorder::close() {
  for (Track& track : tracks_)
    if (track.is_open &&
        std::ranges::none_of(pending_, [&](const Pending& work) { return &tracks_[work.track] == &track; }))
      lay_out(track, timeline_.next());
}

}  // namespace gpulua
