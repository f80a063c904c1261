#include "src/timeline/device_recorder.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <thread>
#include <utility>

namespace gpulua {

namespace {

// A stream without new work for so long can pay for an event in front of the next.
constexpr std::int64_t worth_an_event = 10'000;  // ns
// A device that passes events so soon after their recording keeps pace with the host: a launch takes a GPU about 10 us
// to start and to end.
constexpr std::int64_t in_time = 30'000;  // ns
// Launches that follow one another, where the device keeps pace, have no events for so long. The two events and the
// look at an old one take 1 to 2 us, so this makes 1 %.
constexpr std::int64_t quiet_time = 200'000;  // ns
// The launches of each kernel and size that have both events for its duration.
constexpr int first_launches = 2;
constexpr std::size_t most_kernels = 4096;
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
  if (event && event.use_count() == 1) free_.push_back(std::move(event));
}

std::size_t DeviceRecorder::track_of(Stream& stream) {
  if (last_track_ < tracks_.size() && tracks_[last_track_].stream == &stream) return last_track_;
  const auto found = std::ranges::find(tracks_, &stream, &Track::stream);
  last_track_ = static_cast<std::size_t>(found - tracks_.begin());
  if (found == tracks_.end()) tracks_.push_back({&stream});
  return last_track_;
}

DeviceRecorder::KernelTime& DeviceRecorder::time_of_kernel(const TimelineEntry& entry) {
  std::uint64_t key = 0;
  const auto mix = [&key](std::uint64_t value) { key = (key ^ value) * 0x9e3779b97f4a7c15u + (key >> 29); };
  mix(std::bit_cast<std::uintptr_t>(entry.name.get()));
  mix(std::bit_cast<std::uint64_t>(entry.bytes));
  for (const Dim3& size : {entry.grid, entry.block}) {
    mix(std::uint64_t{size.x} << 32 | size.y);
    mix(size.z);
  }
  if (kernels_.size() >= most_kernels && !kernels_.contains(key)) kernels_.clear();
  return kernels_[key];
}

DeviceRecorder::Measured DeviceRecorder::measure(const TimelineEntry& entry, Track& track) {
  const bool was_idle = entry.host_begin - track.queued >= worth_an_event;
  if (was_idle) {
    track.keeps_pace = false;
    track.quiet_until = 0;
    give_back(std::exchange(track.watched, nullptr));
  }
  if (was_idle || !profiles_.empty() || device_.info().works_at_once) return Measured::both;
  if (entry.kind != Kind::kernel) return track.is_open ? Measured::both : Measured::end;
  if (KernelTime& kernel = time_of_kernel(entry); kernel.measured < first_launches) {
    ++kernel.measured;
    return Measured::both;
  }
  if (entry.host_begin < track.quiet_until) return Measured::nothing;
  if (!keeps_pace(track, entry.host_begin)) return Measured::end;
  track.quiet_until = entry.host_begin + quiet_time;
  return Measured::both;
}

bool DeviceRecorder::keeps_pace(Track& track, std::int64_t now) {
  if (!track.watched) return false;
  if (!device_.done(*track.watched)) {
    track.keeps_pace = false;
    return false;
  }
  // In a quiet phase it can have been passed at any time.
  if (now - track.watched_at < in_time) track.keeps_pace = true;
  give_back(std::exchange(track.watched, nullptr));
  return track.keeps_pace;
}

void DeviceRecorder::begin(Work& work, Stream& stream) {
  work.entry.host_begin = host_now();
  const Measured measured = measure(work.entry, tracks_[track_of(stream)]);
  work.entry.start_measured = measured == Measured::both;
  work.entry.end_measured = measured != Measured::nothing;
  if (measured != Measured::both) return;
  work.start = take_event();
  device_.record(*work.start, stream);
  work.queued = host_now();
}

void DeviceRecorder::end(Work& work, Stream& stream, std::int64_t not_before) {
  TimelineEntry& entry = work.entry;
  entry.host_end = host_now();
  const std::size_t at = track_of(stream);
  Track& track = tracks_[at];
  track.queued = entry.host_end;
  track.is_open = !entry.end_measured;
  const std::uint64_t number = works_++;
  if (timeline_.on()) {
    if (track.number == 0) {
      track.number = timeline_.add_stream(device_.info().name + " stream " + std::to_string(at + 1), *this);
      track.known_until = timeline_.next();
    }
    entry.stream = track.number;
  }
  if (track.is_open) {
    timeline_.add(std::move(entry));
    return;
  }
  Pending pending{std::move(work.start),
                  take_event(),
                  entry.host_end,
                  entry.name,
                  entry.bytes,
                  at,
                  number,
                  0,
                  not_before,
                  entry.kind};
  if (pending.start) pending.queued = work.queued;
  device_.record(*pending.end, stream);
  if (timeline_.on()) pending.entry = timeline_.add(std::move(entry));
  add_pending(std::move(pending));
}

void DeviceRecorder::add_pending(Pending&& work) {
  Track& track = tracks_[work.track];
  const std::int64_t now = host_now();
  if (!track.watched) {
    track.watched = work.end;
    track.watched_at = now;
  }
  pending_.push_back(std::move(work));
  if (pending_.size() % most_pending == 0 || now - read_at_ > read_every) settle();
}

void DeviceRecorder::measure_end(Stream& stream) {
  if (!on_) return;
  const std::size_t at = track_of(stream);
  if (!std::exchange(tracks_[at].is_open, false)) return;
  Pending end{nullptr, take_event(), host_now(), nullptr, 0, at, works_, timeline_.next(), 0, Kind::wait};
  device_.record(*end.end, stream);
  add_pending(std::move(end));
}

void DeviceRecorder::measure_next(Stream& stream) {
  if (on_) tracks_[track_of(stream)].queued = 0;
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
  for (Track& track : tracks_) track.number = 0, track.is_open = false;
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
  kernels_.clear();
  calibrate();
}

void DeviceRecorder::calibrate() {
  // Of some tries the quickest: another thread or an interrupt makes a try slow.
  constexpr int tries = 5;
  Calibration best{0, 0, -1};
  EventRef event = take_event();
  for (int i = 0; i < tries; ++i) {
    const std::int64_t before = host_now();
    device_.record(*event, *clock_stream_);
    device_.synchronize(*event);
    const std::int64_t after = host_now(), uncertainty = (after - before + 1) / 2;
    if (best.uncertainty >= 0 && uncertainty >= best.uncertainty) continue;
    best = {time_of(*event), before + uncertainty, uncertainty};
  }
  give_back(std::move(event));
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

/// Finds the track's work before the entry `until` that has no times, and gives it those that it can have had.
void DeviceRecorder::lay_out(Track& track, std::uint64_t until) {
  laid_out_.clear();
  if (track.number == 0) return;
  for (std::uint64_t i = timeline_.oldest(track.known_until); i < until; ++i)
    if (TimelineEntry* entry = timeline_.find(i); entry && entry->stream == track.number) laid_out_.push_back(entry);
  track.known_until = until;
  for (TimelineEntry* entry : laid_out_) {
    entry->begin = std::max(track.end, device_time(entry->host_end) + latency());
    entry->end = track.end = entry->begin + time_of_kernel(*entry).duration;
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
      if (work.kind == Kind::kernel) time_of_kernel(*entry).duration = end - begin;
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
