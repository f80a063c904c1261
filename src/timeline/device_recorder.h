#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/device/device.h"
#include "src/timeline/profile.h"
#include "src/timeline/tick_clock.h"
#include "src/timeline/timeline.h"

namespace gpulua {

/// Measures the work of a device by events, for profiles and for the timeline.
///
/// A stream passes an event behind a piece of work when the work ends, and one in front of it when the work starts. A
/// recording takes the host about a quarter of a launch's time, so not all work has them (`measure`):
/// - While a profile is taken, where the stream had no work for some time, and on a device whose events cost nothing,
///   work has both.
/// - Else it has the one behind it. The start is then the later of two times: the end of the work before it on the
///   stream, and the return of the call that queued it plus the least time that measured work took to start after its
///   call. This is the start, or before it.
/// - Where kernels are launched one after the other and the device keeps pace, most have none. Now and then one has
///   both. Those between two events are laid out from their calls' times and from what the same kernel took when it was
///   measured (`lay_out`).
///
/// Events tell the times between them. Looks at both clocks at once (calibrate) give the offset of the device's.
class DeviceRecorder {
 public:
  using Kind = TimelineEntry::Kind;

  DeviceRecorder(Device& device, Timeline& timeline) : device_(device), timeline_(timeline) {}

  Timeline& timeline() { return timeline_; }
  /// True while work is recorded. Nothing is while the device records a graph.
  bool on() const { return on_; }

  struct Work {
    TimelineEntry entry = {};
    EventRef start = nullptr;  // null: no event is in front of the work
    std::int64_t queued = 0;   // host's time at which `start` was
  };
  /// Called before the work is queued on `stream`. The entry has no times yet.
  void begin(Work& work, Stream& stream);
  /// Called afterwards; `work` has then no entry any more. The work starts after `not_before` on the host's clock.
  void end(Work& work, Stream& stream, std::int64_t not_before = 0);
  /// The two for most of the launches that have no events, in fewer instructions: between two launches of a GPU's
  /// driver, which is large, each line of code comes from memory again. begin_quiet() gives the host's time, which
  /// end_quiet() takes; or 0: begin() and end() record the launch.
  std::int64_t begin_quiet(const Kernel& kernel, const LaunchConfig& config, double bytes, const Stream& stream) const;
  void end_quiet(std::int64_t begin, const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, double bytes,
                 const Origin& origin);
  /// Called before a wait for the stream: the end of its work is measured.
  void measure_end(Stream& stream);
  /// Work that is queued on `stream` from now on starts after another stream's: no estimate knows when.
  void measure_next(Stream& stream);

  /// The host has compiled a kernel, or read it from the cache.
  void add_compilation(const std::string& kernel, TimelineEntry entry);

  /// Profiles can be nested.
  void start_profile();
  /// The rows of the innermost one. All work of the device must be done.
  std::vector<Profile::Row> finish_profile();
  bool profiles() const { return !profiles_.empty(); }
  void drop_profiles() noexcept;

  /// Called when a trace has started. Precondition: no graph is recorded.
  void follow_timeline();
  /// Called when a trace has ended.
  void leave_timeline() noexcept;
  /// Reads the times of the work that is done; with `limit`, waits so many milliseconds for more. Work that has failed
  /// has no times.
  void settle(int limit = 0) noexcept;
  /// Called at a trace's end, after measure_end() for the streams that there still are, and settle(): launches without
  /// an event behind them, on streams that are gone, have the times that they can have had.
  void close();
  /// Looks at both clocks. Precondition: no graph is recorded.
  void calibrate();
  /// The same, when the last look was some time ago.
  void calibrate_again();

  /// The host's time of a time on the device's clock.
  std::int64_t host_time(double device) const;
  /// The most nanoseconds by which host_time() can be wrong at a calibration.
  std::int64_t uncertainty() const;

 private:
  enum class Measured : std::uint8_t { nothing, end, both };
  struct Track {
    const Stream* stream;
    std::uint32_t number = 0;  // of the timeline's streams; 0: none yet
    std::int64_t queued = 0;   // host's time of the last work; 0: the next is measured
    // Of dense launches: whether the device keeps pace with the host is seen from an event that the stream has passed
    // soon after it was recorded.
    EventRef watched = nullptr;
    std::int64_t watched_at = 0;  // host's time of its recording
    bool keeps_pace = false;
    std::int64_t quiet_until = 0;   // host's time; until then launches have no events
    bool is_open = false;           // launches have no event behind them
    double end = -1;                // of the last work whose times are known
    std::uint64_t known_until = 0;  // number of the first entry of the timeline whose times are not known
    std::size_t done = 0;           // of read_times()
    bool is_settled = false;        // of read_times()
  };
  /// An event that the stream passes, and what it tells.
  struct Pending {
    EventRef start, end;  // `start` can be null
    std::int64_t queued;  // host's time at which `start` was, or else `end`
    NameRef name;         // null: no work of its own, but the end of launches without events
    double bytes;
    std::size_t track;  // of tracks_
    std::uint64_t number;
    std::uint64_t entry;  // of the timeline's entries: the work's or, without a name, the next one's
    std::int64_t not_before;
    Kind kind;
  };
  /// What tells apart launches that take different times.
  struct LaunchSize {
    const std::string* kernel = nullptr;  // its name
    double bytes = 0;
    Dim3 grid, block;
    bool operator==(const LaunchSize&) const = default;
    std::size_t hash() const;
    struct Hash {
      std::size_t operator()(const LaunchSize& size) const { return size.hash(); }
    };
  };
  struct KernelTime {
    int measured = 0;     // launches that have had both events for this
    double duration = 0;  // of the last launch with both, ns
  };
  struct Calibration {
    double device;
    std::int64_t host, uncertainty;
  };
  struct RunningProfile {
    std::uint64_t first;  // number of a piece of work
    Profile profile;
  };

  EventRef take_event();
  /// Keeps the event for the next recording, unless something else holds it.
  void give_back(EventRef event);
  std::size_t track_of(Stream& stream);
  Measured measure(const TimelineEntry& entry, Track& track);
  bool keeps_pace(Track& track, std::int64_t now);
  void add_pending(Pending&& work);
  bool is_wanted() const;
  void update();
  void stop_unless_wanted() noexcept;
  void restart_clock();
  double time_of(Event& event) { return origin_time_ + 1e6 * device_.elapsed(*origin_, event); }
  double device_time(std::int64_t host) const;
  double latency() const;
  void read_times();
  void resolve(Pending& work);
  void lay_out(Track& track, std::uint64_t until);
  void fit(Track& track, double passed, std::int64_t queued);
  static LaunchSize size_of(const TimelineEntry& entry) {
    return {entry.name.get(), entry.bytes, entry.grid, entry.block};
  }
  KernelTime& time_of_kernel(const LaunchSize& size);

  Device& device_;
  Timeline& timeline_;
  TickClock clock_;
  bool on_ = false;
  std::vector<EventRef> free_;
  std::vector<Track> tracks_;
  std::size_t last_track_ = 0;
  std::vector<Pending> pending_;  // in the order of their calls
  std::uint64_t works_ = 0;
  std::unordered_map<LaunchSize, KernelTime, LaunchSize::Hash> kernels_;
  std::array<LaunchSize, 64> known_{};  // of kernels_ those that begin_quiet() takes, at their hash
  std::vector<TimelineEntry*> laid_out_;
  std::int64_t read_at_ = 0;              // host's time of the last look for times
  std::vector<RunningProfile> profiles_;  // the innermost last
  StreamRef clock_stream_;
  EventRef origin_;  // device times count from it
  double origin_time_ = 0;
  std::vector<Calibration> calibrations_;
  std::array<double, 8> latencies_{};  // of the last measured starts; a ring
  std::size_t measured_ = 0;
};

}  // namespace gpulua
