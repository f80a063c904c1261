#include "src/timeline/device_recorder.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace gpulua {

namespace {

// A stream without new work for so long can pay for an event in front of the next.
constexpr std::int64_t worth_an_event = 10'000;  // ns
// Times are read when there is so much work whose times are not known.
constexpr std::size_t most_pending = 4096;
// The same after so much time: events that are far from the origin tell less exact times.
constexpr std::int64_t read_every = 100'000'000;  // ns
// Made at the start: the creation of an event takes longer than a recording.
constexpr std::size_t first_events = 256;
// Events tell times as float32 milliseconds. Up to here these are exact to 0.03 us.
constexpr double far_from_origin = 250e6;  // ns
// Clocks drift by some us a second.
constexpr std::int64_t calibration_lasts = 1'000'000'000;  // ns
constexpr std::uint64_t no_entry = ~std::uint64_t{0};

bool is_launch(TimelineEntry::Kind kind) {
  return kind == TimelineEntry::Kind::kernel || kind == TimelineEntry::Kind::graph ||
         kind == TimelineEntry::Kind::collective;
}

}  // namespace

EventRef DeviceRecorder::take_event() {
  if (free_.empty()) return device_.create_event();
  EventRef event = std::move(free_.back());
  free_.pop_back();
  return event;
}

void DeviceRecorder::give_back(EventRef event) {
  if (event && event != origin_) free_.push_back(std::move(event));
}

std::size_t DeviceRecorder::track_of(Stream& stream) {
  if (last_track_ < tracks_.size() && tracks_[last_track_].stream == &stream) return last_track_;
  const auto found = std::ranges::find(tracks_, &stream, &Track::stream);
  last_track_ = static_cast<std::size_t>(found - tracks_.begin());
  if (found == tracks_.end()) tracks_.push_back({&stream});
  return last_track_;
}

DeviceRecorder::Start DeviceRecorder::begin(Stream& stream) {
  Start start{nullptr, host_now()};
  const Track& track = tracks_[track_of(stream)];
  if (profiles_.empty() && !device_.info().works_at_once && start.time - track.recorded < worth_an_event) return start;
  start.event = take_event();
  device_.record(*start.event, stream);
  start.queued = host_now();
  return start;
}

void DeviceRecorder::end(Start start, TimelineEntry entry, Stream& stream, std::int64_t not_before) {
  const std::int64_t returned = host_now();
  EventRef end = take_event();
  device_.record(*end, stream);
  const std::size_t at = track_of(stream);
  Track& track = tracks_[at];
  track.recorded = returned;
  const TimelineEntry::Kind kind = entry.kind;
  Pending work{std::move(start), std::move(end), entry.name, entry.bytes, at,
               works_++,         no_entry,       returned,   not_before,  kind};
  if (timeline_.on()) {
    if (track.number == 0) {
      const std::string number = std::to_string(at + 1);
      track.number = timeline_.add_stream(device_.info().name + " stream " + number, *this);
    }
    entry.stream = track.number;
    entry.start_measured = work.start.event != nullptr;
    entry.host_begin = work.start.time;
    entry.host_end = returned;
    work.entry = timeline_.add(std::move(entry));
  }
  pending_.push_back(std::move(work));
  if (pending_.size() % most_pending == 0 || returned - read_at_ > read_every) settle();
}

void DeviceRecorder::measure_next(Stream& stream) {
  if (on_) tracks_[track_of(stream)].recorded = 0;
}

void DeviceRecorder::add_compilation(const std::string& kernel, TimelineEntry entry) {
  for (RunningProfile& running : profiles_)
    running.profile.add_compilation(kernel, static_cast<double>(entry.host_end - entry.host_begin) / 1e6);
  if (!timeline_.on()) return;
  entry.kind = Kind::compilation;
  entry.name = timeline_.name(kernel);
  timeline_.add(std::move(entry));
}

// ---- who wants the times --------------------------------------------------------------------------------------------

bool DeviceRecorder::is_wanted() const {
  return timeline_.on() || !profiles_.empty();
}

void DeviceRecorder::update() {
  if (is_wanted() && !on_) restart_clock();
  on_ = is_wanted();
}

void DeviceRecorder::stop_unless_wanted() noexcept {
  if (is_wanted()) return;
  on_ = false;
  pending_.clear();
  tracks_.clear();
}

void DeviceRecorder::start_profile() {
  settle();
  profiles_.push_back({works_, {}});
  try {
    update();
  } catch (...) {
    profiles_.pop_back();
    throw;
  }
}

std::vector<Profile::Row> DeviceRecorder::finish_profile() {
  settle();
  Profile profile = std::move(profiles_.back().profile);
  profiles_.pop_back();
  stop_unless_wanted();
  return profile.take_rows();
}

void DeviceRecorder::drop_profiles() noexcept {
  profiles_.clear();
  stop_unless_wanted();
}

void DeviceRecorder::follow_timeline() {
  const bool was_on = on_;
  update();
  if (was_on && timeline_.on()) calibrate();
}

void DeviceRecorder::leave_timeline() noexcept {
  if (timeline_.on()) return;
  for (Track& track : tracks_) track.number = 0;
  stop_unless_wanted();
}

// ---- clocks ---------------------------------------------------------------------------------------------------------

void DeviceRecorder::restart_clock() {
  pending_.clear();
  tracks_.clear();
  while (free_.size() < first_events) free_.push_back(device_.create_event());
  if (!clock_stream_) clock_stream_ = device_.create_stream();
  origin_ = device_.create_event();
  device_.record(*origin_, *clock_stream_);
  device_.synchronize(*clock_stream_);
  origin_time_ = 0;
  calibrations_.clear();
  measured_ = 0;
  calibrate();
}

void DeviceRecorder::calibrate() {
  // Of some tries the quickest: another thread or an interrupt makes a try slow.
  constexpr int tries = 5;
  Calibration best{0, 0, -1};
  const EventRef event = take_event();
  for (int i = 0; i < tries; ++i) {
    const std::int64_t before = host_now();
    device_.record(*event, *clock_stream_);
    device_.synchronize(*event);
    const std::int64_t after = host_now(), uncertainty = (after - before + 1) / 2;
    if (best.uncertainty >= 0 && uncertainty >= best.uncertainty) continue;
    best = {time_of(*event), before + uncertainty, uncertainty};
  }
  give_back(event);
  if (!calibrations_.empty() && best.device <= calibrations_.back().device) return;
  calibrations_.push_back(best);
}

void DeviceRecorder::calibrate_again() {
  if (timeline_.on() && host_now() - calibrations_.back().host > calibration_lasts) calibrate();
}

std::int64_t DeviceRecorder::host_time(double device) const {
  const auto next = std::ranges::find_if(calibrations_, [=](const Calibration& c) { return c.device >= device; });
  if (next == calibrations_.begin()) return next->host + static_cast<std::int64_t>(device - next->device);
  const Calibration& before = next[-1];
  if (next == calibrations_.end()) return before.host + static_cast<std::int64_t>(device - before.device);
  const double part = (device - before.device) / (next->device - before.device);
  return before.host + static_cast<std::int64_t>(part * static_cast<double>(next->host - before.host));
}

std::int64_t DeviceRecorder::uncertainty() const {
  return std::ranges::max(calibrations_, {}, &Calibration::uncertainty).uncertainty;
}

double DeviceRecorder::device_time(std::int64_t host) const {
  const Calibration& last = calibrations_.back();
  return last.device + static_cast<double>(host - last.host);
}

double DeviceRecorder::latency() const {
  const auto end = latencies_.begin() + static_cast<std::ptrdiff_t>(std::min(measured_, latencies_.size()));
  return measured_ == 0 ? 0 : *std::min_element(latencies_.begin(), end);
}

// ---- times of work --------------------------------------------------------------------------------------------------

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

void DeviceRecorder::resolve(Pending& work) {
  Track& track = tracks_[work.track];
  const double passed = time_of(*work.end), end = std::max(passed, track.end);
  double begin = 0;
  if (work.start.event) {
    begin = time_of(*work.start.event);
    latencies_[measured_++ % latencies_.size()] = begin - device_time(work.start.queued);
  } else {
    begin = device_time(work.returned) + latency();
  }
  if (work.not_before > 0) begin = std::max(begin, device_time(work.not_before));
  begin = std::min(std::max(begin, track.end), end);
  track.end = end;
  if (is_launch(work.kind))
    for (RunningProfile& running : profiles_)
      if (work.number >= running.first) running.profile.add_launch(*work.name, (end - begin) / 1e6, work.bytes);
  if (TimelineEntry* entry = timeline_.find(work.entry)) entry->begin = begin, entry->end = end;
  give_back(std::move(work.start.event));
  if (passed - origin_time_ > far_from_origin) {
    give_back(std::exchange(origin_, nullptr));
    origin_ = std::move(work.end);
    origin_time_ = passed;
  } else {
    give_back(std::move(work.end));
  }
}

}  // namespace gpulua
