#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/timeline/profile.h"
#include "src/timeline/timeline.h"

namespace gpulua {

/// Measures the work of a device by events, for profiles and for the timeline.
///
/// Each piece of work has an event behind it, which the stream passes when the work ends. An event in front of it as
/// well would cost a launch twice as much. It is there while a profile is taken, and where the stream had no work for
/// some time, which can pay for it. Elsewhere the start is the later of two times: the end of the work before it on the
/// stream, and the return of the call that queued it plus the least time that measured work took to start after its
/// call. This is the start, or before it.
///
/// Events tell the times between them. Looks at both clocks at once (calibrate) give the offset of the device's.
class DeviceRecorder {
 public:
  using Kind = TimelineEntry::Kind;

  DeviceRecorder(Device& device, Timeline& timeline) : device_(device), timeline_(timeline) {}

  Timeline& timeline() { return timeline_; }
  /// True while work is recorded. Nothing is while the device records a graph.
  bool on() const { return on_; }

  struct Start {
    EventRef event;         // null: none was recorded
    std::int64_t time = 0;  // of the host
    std::int64_t queued = 0;
  };
  /// Called before the work is queued on `stream`, and afterwards.
  Start begin(Stream& stream);
  /// `entry`: without the times. The work starts after `not_before` on the host's clock.
  void end(Start start, TimelineEntry entry, Stream& stream, std::int64_t not_before = 0);
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
  /// Looks at both clocks. Precondition: no graph is recorded.
  void calibrate();
  /// The same, when the last look was some time ago.
  void calibrate_again();

  /// The host's time of a time on the device's clock.
  std::int64_t host_time(double device) const;
  /// The most nanoseconds by which host_time() can be wrong at a calibration.
  std::int64_t uncertainty() const;

 private:
  struct Track {
    const Stream* stream;
    std::uint32_t number = 0;   // of the timeline's streams; 0: none yet
    std::int64_t recorded = 0;  // host's time of the last end; 0: the next start is measured
    double end = -1;            // of the last work whose times are known
    std::size_t done = 0;       // of read_times()
    bool is_settled = false;    // of read_times()
  };
  struct Pending {
    Start start;
    EventRef end;
    NameRef name;
    double bytes;
    std::size_t track;            // of tracks_
    std::uint64_t number, entry;  // of the pieces of work, of the timeline's entries
    std::int64_t returned, not_before;
    Kind kind;
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
  void give_back(EventRef event);
  std::size_t track_of(Stream& stream);
  bool is_wanted() const;
  void update();
  void stop_unless_wanted() noexcept;
  void restart_clock();
  double time_of(Event& event) { return origin_time_ + 1e6 * device_.elapsed(*origin_, event); }
  double device_time(std::int64_t host) const;
  double latency() const;
  void read_times();
  void resolve(Pending& work);

  Device& device_;
  Timeline& timeline_;
  bool on_ = false;
  std::vector<EventRef> free_;
  std::vector<Track> tracks_;
  std::size_t last_track_ = 0;
  std::vector<Pending> pending_;  // in the order of their calls
  std::uint64_t works_ = 0;
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
