#include "src/runtime/trace_events.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/json_string.h"
#include "src/base/utf8.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

using Kind = TimelineEntry::Kind;

// Tracks of a process, by the number that the format calls tid.
constexpr std::uint32_t lines_track = 1, first_thread_track = 2, first_stream_track = 1001;

/// A piece of a track.
struct TraceSlice {
  std::int64_t begin, end;
  const TimelineEntry* entry = nullptr;  // null: `name` says what it is
  std::string name = {};
};

std::string json(std::string_view text) {
  return to_json(valid_utf8(text));
}

/// Nanoseconds as the format has them, microseconds.
std::string microseconds(std::int64_t time) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(time / 1000),
                static_cast<long long>(time % 1000));
  return text;
}

std::string number(double value, const char* format = "%.0f") {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string extents(const Dim3& size) {
  return "[" + std::to_string(size.x) + "," + std::to_string(size.y) + "," + std::to_string(size.z) + "]";
}

std::string line_of(const Origin& origin) {
  return line_text(origin.chunk, origin.line);
}

const char* category(Kind kind) {
  switch (kind) {
    case Kind::kernel:
      return "kernel";
    case Kind::graph:
      return "graph";
    case Kind::collective:
      return "collective";
    case Kind::library:
      return "library";
    case Kind::upload:
    case Kind::download:
    case Kind::copy:
      return "copy";
    case Kind::fill:
      return "fill";
    case Kind::compilation:
      return "compilation";
    case Kind::wait:
      return "wait";
    case Kind::range:
      return "range";
  }
  return "";
}

/// The category of the host's part.
const char* host_category(const TimelineEntry& entry) {
  if (entry.kind == Kind::kernel || entry.kind == Kind::graph) return "launch";
  return entry.stream != 0 ? "call" : category(entry.kind);
}

/// The name of the host's part.
std::string host_name(const TimelineEntry& entry) {
  switch (entry.kind) {
    case Kind::kernel:
    case Kind::graph:
      return "launch " + *entry.name;
    case Kind::compilation:
      return "compile " + *entry.name;
    default:
      return *entry.name;
  }
}

/// The members of an object, which it puts together.
class Members {
 public:
  Members& add(std::string_view name, const std::string& value) {
    text_ += text_.empty() ? "{\"" : ",\"";
    ((text_ += name) += "\":") += value;
    return *this;
  }
  std::string object() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

/// Makes slices of a track nest: one that ends later than the one around it ends with that one.
void make_nested(std::vector<TraceSlice>& slices) {
  std::ranges::stable_sort(slices, [](const TraceSlice& a, const TraceSlice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::int64_t> ends;
  for (TraceSlice& slice : slices) {
    while (!ends.empty() && ends.back() <= slice.begin) ends.pop_back();
    if (!ends.empty()) slice.end = std::min(slice.end, ends.back());
    ends.push_back(slice.end);
  }
}

class TraceEvents {
 public:
  TraceEvents(Context& context, const TraceSpan& span, const std::function<void(const std::string&)>& write)
      : context_(context), span_(span), write_(write), process_(std::to_string(::getpid())) {}

  void write() {
    collect();
    write_names();
    for (const TraceSlice& line : lines_) write_slice(line.name, "line", lines_track, line.begin, line.end, {});
    std::uint32_t track = first_thread_track;
    for (auto& [thread, slices] : threads_) {
      make_nested(slices);
      for (const TraceSlice& slice : slices) write_host_slice(slice, track);
      ++track;
    }
    const std::uint64_t oldest = context_.timeline.oldest(span_.first);
    if (oldest > span_.first)
      write_event(begin_event(std::to_string(oldest - span_.first) + " earlier events dropped", "dropped", "i",
                              lines_track, span_.begin)
                      .add("s", "\"p\""));
  }

 private:
  void collect() {
    Timeline& timeline = context_.timeline;
    for (std::uint64_t number = timeline.oldest(span_.first); number < timeline.next(); ++number) {
      const TimelineEntry* entry = timeline.find(number);
      const std::int64_t begin = std::max(entry->host_begin, span_.begin);
      threads_[entry->thread].push_back({begin, std::max(begin, entry->host_end), entry});
    }
    for (const Ranges::Open& range : context_.ranges.open())
      threads_[range.thread].push_back({std::max(range.begin, span_.begin), span_.end, nullptr, range.name});
    collect_lines();
  }

  /// A line of the script, from its first call to its last, until another line calls.
  void collect_lines() {
    std::vector<TraceSlice> calls;
    for (const auto& [thread, slices] : threads_)
      for (const TraceSlice& slice : slices)
        if (slice.entry && slice.entry->origin.chunk) calls.push_back(slice);
    make_nested(calls);
    const Origin* last = nullptr;
    for (TraceSlice& call : calls) {
      const Origin& origin = call.entry->origin;
      if (last && last->line == origin.line && std::string_view(last->chunk) == origin.chunk) {
        lines_.back().end = std::max(lines_.back().end, call.end);
        continue;
      }
      last = &origin;
      lines_.push_back({call.begin, call.end, nullptr, line_of(origin)});
    }
    // A call of another line can be inside of a call, as that of a function which the call runs.
    make_nested(lines_);
  }

  void write_names() {
    const Job& job = context_.config().job;
    write_name("process_name", 0, job.size > 1 ? "rank " + std::to_string(job.rank) : "gpulua");
    write_event(metadata("process_sort_index", 0, Members().add("sort_index", std::to_string(job.rank))));
    write_track(lines_track, "Lua lines", {});
    std::uint32_t track = first_thread_track;
    for (const auto& [thread, slices] : threads_) write_track(track++, "host thread " + std::to_string(thread), {});
    track = first_stream_track;
    for (const Timeline::StreamTrack& stream : context_.timeline.streams())
      write_track(track++, stream.name,
                  Members().add("clock_uncertainty_us",
                                number(static_cast<double>(stream.recorder->uncertainty()) / 1e3, "%.3f")));
  }

  void write_track(std::uint32_t track, const std::string& name, Members args) {
    write_event(metadata("thread_name", track, args.add("name", json(name))));
    write_event(metadata("thread_sort_index", track, Members().add("sort_index", std::to_string(track))));
  }

  void write_name(const char* what, std::uint32_t track, const std::string& name) {
    write_event(metadata(what, track, Members().add("name", json(name))));
  }

  Members metadata(const char* what, std::uint32_t track, const Members& args) const {
    return Members()
        .add("ph", "\"M\"")
        .add("pid", process_)
        .add("tid", std::to_string(track))
        .add("name", json(what))
        .add("args", args.object());
  }

  Members begin_event(const std::string& name, const char* category, const char* phase, std::uint32_t track,
                      std::int64_t time) const {
    return Members()
        .add("ph", json(phase))
        .add("pid", process_)
        .add("tid", std::to_string(track))
        .add("ts", microseconds(time))
        .add("name", json(name))
        .add("cat", json(category));
  }

  void write_slice(const std::string& name, const char* category, std::uint32_t track, std::int64_t begin,
                   std::int64_t end, const Members& args) {
    write_event(begin_event(name, category, "X", track, begin)
                    .add("dur", microseconds(end - begin))
                    .add("args", args.object()));
  }

  void write_host_slice(const TraceSlice& slice, std::uint32_t track) {
    if (!slice.entry) return write_slice(slice.name, "range", track, slice.begin, slice.end, {});
    const TimelineEntry& entry = *slice.entry;
    Members args = common_args(entry);
    const bool on_device = entry.stream != 0;
    const bool has_ended = on_device && entry.end >= 0;
    if (on_device && !has_ended) args.add("device", json("has not ended"));
    if (entry.kind == Kind::compilation) {
      args.add("from", json(entry.from_cache ? "cache" : "compiler"));
      args.add("ms", number(static_cast<double>(slice.end - slice.begin) / 1e6, "%.3f"));
    }
    write_slice(host_name(entry), host_category(entry), track, slice.begin, slice.end, args);
    if (has_ended) write_device_slice(entry, slice, track);
  }

  static Members common_args(const TimelineEntry& entry) {
    Members args;
    if (entry.origin.chunk) args.add("line", json(line_of(entry.origin)));
    if (entry.bytes > 0) args.add("bytes", number(entry.bytes));
    return args;
  }

  void write_device_slice(const TimelineEntry& entry, const TraceSlice& host, std::uint32_t host_track) {
    const DeviceRecorder& recorder = *context_.timeline.streams()[entry.stream - 1].recorder;
    const std::int64_t begin = recorder.host_time(entry.begin);
    const std::int64_t end = std::max(begin, recorder.host_time(entry.end));
    Members args = common_args(entry);
    if (entry.bytes > 0 && end > begin)
      args.add("GB/s", number(entry.bytes / static_cast<double>(end - begin), "%.4g"));
    if (entry.grid.x > 0) args.add("grid", extents(entry.grid)).add("block", extents(entry.block));
    if (entry.kind == Kind::upload) args.add("direction", json("host to device"));
    if (entry.kind == Kind::download) args.add("direction", json("device to host"));
    if (entry.kind == Kind::copy) args.add("direction", json("device to device"));
    if (entry.parts) args.add("kernels", list(*entry.parts));
    args.add("start", json(entry.start_measured ? "measured" : "estimated"));
    args.add("end", json(entry.end_measured ? "measured" : "estimated"));
    const std::uint32_t track = first_stream_track + entry.stream - 1;
    write_slice(*entry.name, category(entry.kind), track, begin, end, args);
    const std::string id = next_arrow();
    write_event(begin_event("queued", "queue", "s", host_track, host.begin).add("id", id));
    write_event(begin_event("queued", "queue", "f", track, begin).add("id", id).add("bp", "\"e\""));
  }

  /// A number, in the hexadecimal form that viewers read, that no other process has.
  std::string next_arrow() {
    char text[24];
    std::snprintf(text, sizeof text, "\"0x%x%08x\"", static_cast<unsigned>(::getpid()), ++flows_);
    return text;
  }

  static std::string list(std::string_view lines) {
    std::string text = "[";
    while (!lines.empty()) {
      const std::string_view line = lines.substr(0, lines.find('\n'));
      lines.remove_prefix(std::min(lines.size(), line.size() + 1));
      text += (text.size() > 1 ? "," : "") + json(line);
    }
    return text + "]";
  }

  void write_event(const Members& members) {
    write_((is_first_ ? "" : ",\n") + members.object());
    is_first_ = false;
  }

  Context& context_;
  const TraceSpan span_;
  const std::function<void(const std::string&)>& write_;
  const std::string process_;
  std::map<std::uint32_t, std::vector<TraceSlice>> threads_;
  std::vector<TraceSlice> lines_;
  unsigned flows_ = 0;
  bool is_first_ = true;
};

}  // namespace

void write_trace_events(Context& context, const TraceSpan& span, const std::function<void(const std::string&)>& write) {
  TraceEvents(context, span, write).write();
}

}  // namespace gpulua
