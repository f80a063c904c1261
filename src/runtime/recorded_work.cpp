// The work of an OpenDevice that its recorder measures: all but launches, which are in open_device.cpp.

#include <string>
#include <utility>

#include "src/device/shared/cache.h"
#include "src/runtime/context.h"
#include "src/runtime/open_device.h"

namespace gpulua {

namespace {

/// A collective in the log.
class CollectiveCall final : public Kernel {
 public:
  explicit CollectiveCall(const char* name) : Kernel(KernelEntry{}) { entry_.name = name; }
  int occupancy(unsigned, std::size_t) const override { return 0; }
  unsigned suggested_block(std::size_t) const override { return 0; }
};

}  // namespace

TimelineEntry OpenDevice::entry_of(TimelineEntry::Kind kind, NameRef name, double bytes, const Origin& origin) {
  TimelineEntry entry;
  entry.kind = kind;
  entry.name = std::move(name);
  entry.bytes = bytes;
  entry.origin = origin;
  return entry;
}

void OpenDevice::upload(void* to, const void* host, std::size_t bytes, Stream& stream) {
  run_recorded(TimelineEntry::Kind::upload, "upload", static_cast<double>(bytes), stream,
               [&] { device_->upload(to, host, bytes, stream); });
}

void OpenDevice::queue_download(void* host, const void* from, std::size_t bytes, Stream& stream) {
  run_recorded(TimelineEntry::Kind::download, "download", static_cast<double>(bytes), stream,
               [&] { device_->download(host, from, bytes, stream); });
}

void OpenDevice::copy(void* to, const void* from, std::size_t bytes, Stream& stream) {
  run_recorded(TimelineEntry::Kind::copy, "copy", static_cast<double>(bytes), stream,
               [&] { device_->copy(to, from, bytes, stream); });
}

void OpenDevice::copy_rows(const RowsToCopy& rows, Stream& stream) {
  run_recorded(TimelineEntry::Kind::copy, "copy rows", static_cast<double>(rows.rows * rows.bytes), stream,
               [&] { device_->copy_rows(rows, stream); });
}

void OpenDevice::fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream) {
  run_recorded(TimelineEntry::Kind::fill, "fill", static_cast<double>(item_bytes * count), stream,
               [&] { device_->fill(memory, value, item_bytes, count, stream); });
}

bool OpenDevice::copy_from(void* to, Stream& stream, OpenDevice& source, const void* from, Stream& source_stream,
                           std::size_t bytes) {
  if (!records()) return device_->copy_from(to, stream, source.device(), from, source_stream, bytes);
  // It waits for work of the other device.
  recorder_.measure_next(stream);
  const NameRef name = context_.timeline.name("copy from " + source.name());
  DeviceRecorder::Work recording{entry_of(TimelineEntry::Kind::copy, name, static_cast<double>(bytes), origin())};
  recorder_.begin(recording, stream);
  const bool copied = device_->copy_from(to, stream, source.device(), from, source_stream, bytes);
  if (copied) recorder_.end(recording, stream);
  return copied;
}

void OpenDevice::run_collective(const char* name, const StreamRef& stream, double bytes,
                                const std::function<void()>& work) {
  throw_damage();
  context_.spending.add_launch();
  launches_.note(std::make_shared<CollectiveCall>(name), *stream, origin());
  run_recorded(TimelineEntry::Kind::collective, name, bytes, *stream, work);
  if (context_.debug) synchronize(*stream);
}

void OpenDevice::wait(Stream& stream, Event& event) {
  device_->wait(stream, event);
  recorder_.measure_next(stream);
}

void OpenDevice::wait_for(Stream& stream) {
  run_wait("wait for a stream", &stream, [&] { device_->synchronize(stream); });
}

std::int64_t OpenDevice::note_late_compilation(std::uint64_t compilations, const std::string& kernel) {
  if (context_.cache().compilations() == compilations) [[likely]]
    return 0;
  const KernelCache::Compilation last = context_.cache().last_compilation();
  TimelineEntry entry;
  entry.origin = origin();
  entry.host_begin = nanoseconds(last.begin);
  entry.host_end = nanoseconds(last.end);
  recorder_.add_compilation(kernel, std::move(entry));
  return nanoseconds(last.end);
}

void OpenDevice::measure_ends() {
  recorder_.measure_end(*first_stream_);
  for (const auto& weak : streams_)
    if (const StreamRef stream = weak.lock()) recorder_.measure_end(*stream);
}

void OpenDevice::start_profile() {
  check_not_captured("starts a profile");
  recorder_.start_profile();
}

std::vector<Profile::Row> OpenDevice::finish_profile() {
  if (!recorder_.profiles()) return {};
  try {
    synchronize();
  } catch (...) {
    recorder_.finish_profile();
    throw;
  }
  return recorder_.finish_profile();
}

}  // namespace gpulua
