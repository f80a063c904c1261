#include "src/timeline/device_recorder.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpulua {

namespace {

// A stream without new work for so long can pay for an event in front of the next.
constexpr std::int64_t worth_an_event = 10'000;  // ns
// A device that passes events so soon after their recording keeps pace with the host: a launch takes a GPU about 10 us
// to start and to end.
constexpr std::int64_t in_time = 30'000;  // ns
// Launches that follow one another, where the device keeps pace, have no events for so long. The two events and what is
// done with them take about 4 us, so this makes 1 %.
constexpr std::int64_t quiet_time = 500'000;  // ns
// The launches of each kernel and size that have both events for its duration.
constexpr int first_launches = 2;
constexpr std::size_t most_kernels = 4096;
// Times are read when there is so much work whose times are not known.
constexpr std::size_t most_pending = 4096;
// The same after so much time: events that are far from the origin tell less exact times.
constexpr std::int64_t read_every = 100'000'000;  // ns
// Made at the start: the creation of an event takes longer than a recording.
constexpr std::size_t first_events = 256;
// Clocks drift by some us a second.
constexpr std::int64_t calibration_lasts = 1'000'000'000;  // ns
// Of clocks that are set right by a network's, too.
constexpr double most_drift = 500e-6;

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

std::size_t DeviceRecorder::LaunchSize::hash() const {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = std::bit_cast<std::uintptr_t>(kernel) ^ std::bit_cast<std::uint64_t>(bytes);
  mixed = mixed * factor ^ (std::uint64_t{grid.x} << 32 | block.x);
  mixed = mixed * factor ^ (std::uint64_t{grid.y} << 32 | grid.z) ^ (std::uint64_t{block.y} << 48 | block.z);
  return mixed * factor >> 32;
}

DeviceRecorder::KernelTime& DeviceRecorder::time_of_kernel(const LaunchSize& size) {
  if (kernels_.size() >= most_kernels && !kernels_.contains(size)) kernels_.clear(), known_.fill({});
  return kernels_[size];
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
  const LaunchSize size = size_of(entry);
  if (KernelTime& kernel = time_of_kernel(size); kernel.measured < first_launches) {
    ++kernel.measured;
    return Measured::both;
  }
  if (entry.host_begin < track.quiet_until) {
    known_[size.hash() % known_.size()] = size;
    return Measured::nothing;
  }
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
  work.entry.host_begin = clock_.now();
  const Measured measured = measure(work.entry, tracks_[track_of(stream)]);
  work.entry.start_measured = measured == Measured::both;
  work.entry.end_measured = measured != Measured::nothing;
  if (measured != Measured::both) return;
  work.start = take_event();
  device_.record(*work.start, stream);
  work.queued = clock_.look();
}

void DeviceRecorder::end(Work& work, Stream& stream, std::int64_t not_before) {
  TimelineEntry& entry = work.entry;
  entry.host_end = clock_.now();
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

std::int64_t DeviceRecorder::begin_quiet(const Kernel& kernel, const LaunchConfig& config, double bytes,
                                         const Stream& stream) const {
  if (last_track_ >= tracks_.size()) return 0;
  const Track& track = tracks_[last_track_];
  const std::int64_t now = clock_.now();
  const LaunchSize size{&kernel.entry().name, bytes, config.grid, config.block};
  const bool is_quiet = now < track.quiet_until && now - track.queued < worth_an_event && track.stream == &stream;
  return is_quiet && known_[size.hash() % known_.size()] == size ? now : 0;
}

void DeviceRecorder::end_quiet(std::int64_t begin, const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config,
                               double bytes, const Origin& origin) {
  Track& track = tracks_[last_track_];
  TimelineEntry& entry = timeline_.take_slot();
  entry.kind = Kind::kernel;
  entry.from_cache = entry.start_measured = entry.end_measured = false;
  entry.stream = track.number;
  entry.name = NameRef(kernel, &kernel->entry().name);
  entry.parts = nullptr;
  entry.origin = origin;
  entry.grid = config.grid;
  entry.block = config.block;
  entry.bytes = bytes;
  entry.begin = entry.end = -1;
  entry.host_begin = begin;
  entry.host_end = track.queued = clock_.now();
  track.is_open = true;
  ++works_;
}

void DeviceRecorder::add_pending(Pending&& work) {
  Track& track = tracks_[work.track];
  const std::int64_t now = clock_.look();
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
  for (Track& track : tracks_) track.quiet_until = 0;
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
  known_.fill({});
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
  // Looks that are not exact show more drift than there can be. The better one counts most.
  const double span = next->device - before.device, most = most_drift * span;
  const double drift = std::clamp(static_cast<double>(next->host - before.host) - span, -most, most);
  const Calibration& best = before.uncertainty <= next->uncertainty ? before : *next;
  return best.host + static_cast<std::int64_t>((device - best.device) * (1 + drift / span));
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

}  // namespace gpulua
