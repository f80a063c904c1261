#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/origin.h"
#include "src/device/kernel.h"

namespace gpulua {

/// Nanoseconds of the machine's monotonic clock, which all of its processes share.
inline std::int64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
inline std::int64_t host_now() {
  return nanoseconds(std::chrono::steady_clock::now());
}

/// A name that many entries share.
using NameRef = std::shared_ptr<const std::string>;

/// The names that are in use. Names that nothing holds any more go when there are many.
class NameTable {
 public:
  NameRef get(std::string_view name);
  std::size_t size() const { return names_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, NameRef, Hash, std::equal_to<>> names_;
  std::size_t look_at_ = 4096;  // names, from which on unused ones are looked for
};

/// What the host did, and what a device did because of it.
struct TimelineEntry {
  enum class Kind : std::uint8_t {
    kernel,
    graph,
    collective,
    library,
    upload,
    download,
    copy,
    fill,
    compilation,
    wait,
    range
  };

  Kind kind = Kind::wait;
  bool from_cache = false;      // compilation
  bool start_measured = false;  // `begin` is an event's time, no estimate
  bool end_measured = false;    // the same of `end`
  std::uint32_t thread = 0;     // of the host, by the system's number
  std::uint32_t stream = 0;     // of Timeline::streams(), from 1; 0: no device's work
  NameRef name;
  NameRef parts;  // of a graph: its kernels, each on a line; else null
  Origin origin;
  Dim3 grid{0, 0, 0}, block{0, 0, 0};  // 0: no launch of one kernel
  double bytes = 0;                    // 0: not known
  std::int64_t host_begin = 0, host_end = 0;
  /// On the device's own clock (DeviceRecorder); -1: not known, as of work that has not ended.
  double begin = -1, end = -1;
};

class DeviceRecorder;

/// What a context does while traces are written (trace_file.h): the newest entries, in the order of their ends on the
/// host.
class Timeline {
 public:
  /// A queue of a device's work: a track of a trace.
  struct StreamTrack {
    std::string name;  // "cuda:0 stream 1"
    const DeviceRecorder* recorder;
  };
  /// The most entries that are kept: of a longer trace, the last ones. They take about 40 MB.
  static constexpr std::uint64_t capacity = std::uint64_t{1} << 18;

  /// True while entries are kept.
  bool on() const { return traces_ > 0; }
  /// Traces can be nested. Returns the number of the first entry of this one.
  std::uint64_t start();
  void stop() noexcept;

  /// Adds an entry of the calling thread, and returns its number.
  std::uint64_t add(TimelineEntry&& entry);
  /// The same for one that is made in place: the other fields are those of an old entry.
  TimelineEntry& take_slot();
  /// The entry with the number, or null: it was dropped.
  TimelineEntry* find(std::uint64_t number);
  /// The number of the next entry.
  std::uint64_t next() const { return next_; }
  /// The oldest entry that is kept, of those from `first` on.
  std::uint64_t oldest(std::uint64_t first) const {
    return next_ > capacity && first < next_ - capacity ? next_ - capacity : first;
  }

  NameRef name(std::string_view name) { return names_.get(name); }
  std::uint32_t add_stream(std::string name, const DeviceRecorder& recorder);
  const std::vector<StreamTrack>& streams() const { return streams_; }

 private:
  static constexpr std::uint64_t chunk_entries = 4096;

  TimelineEntry& slot(std::uint64_t number);

  int traces_ = 0;
  std::uint64_t next_ = 0;
  /// A ring. A chunk is made when a trace starts or it is first reached, and goes when the last trace ends.
  std::array<std::unique_ptr<TimelineEntry[]>, capacity / chunk_entries> chunks_;
  NameTable names_;
  std::vector<StreamTrack> streams_;
};

/// The calling thread, by the system's number.
std::uint32_t this_thread();

}  // namespace gpulua
