// Times of a device whose clock and queues are simulated, so that they are known.

#include "src/timeline/device_recorder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/catch.h"

using namespace gpulua;

namespace {

struct SimulatedStream : Stream {
  std::int64_t end = 0;  // host's time at which its work is done
};
struct SimulatedEvent : Event {
  std::int64_t time = 0;
};

[[noreturn]] void refuse() {
  throw std::logic_error("the simulated device has none");
}

/// Runs nothing. Its clock has another origin than the host's and goes faster by `drift`.
class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(std::int64_t start_delay, double drift) : delay_(start_delay), drift_(drift) { info_.name = "sim:0"; }

  /// Queues work of that many nanoseconds. Returns when it starts and ends, on the host's clock.
  std::pair<std::int64_t, std::int64_t> work(Stream& stream, std::int64_t duration) {
    auto& queue = static_cast<SimulatedStream&>(stream);
    const std::int64_t start = std::max(queue.end, host_now() + delay_);
    queue.end = start + duration;
    return {start, queue.end};
  }
  int events = 0;

  const DeviceInfo& info() const override { return info_; }
  StreamRef create_stream() override { return std::make_shared<SimulatedStream>(); }
  EventRef create_event() override { return std::make_shared<SimulatedEvent>(); }
  void record(Event& event, Stream& stream) override {
    ++events;
    static_cast<SimulatedEvent&>(event).time = std::max(static_cast<SimulatedStream&>(stream).end, host_now() + delay_);
  }
  bool done(Event& event) override { return host_now() >= static_cast<SimulatedEvent&>(event).time; }
  bool done(Stream& stream) override { return host_now() >= static_cast<SimulatedStream&>(stream).end; }
  void synchronize(Event& event) override {
    while (!done(event)) continue;
  }
  void synchronize(Stream& stream) override {
    while (!done(stream)) continue;
  }
  float elapsed(Event& from, Event& to) override {
    const std::int64_t time = static_cast<SimulatedEvent&>(to).time - static_cast<SimulatedEvent&>(from).time;
    return static_cast<float>(static_cast<double>(time) * (1 + drift_) / 1e6);
  }

  void* allocate(std::size_t, Stream&) override { refuse(); }
  void free(void*, Stream&) noexcept override {}
  std::size_t pooled_bytes() const override { return 0; }
  void trim() override {}
  void* allocate_pinned(std::size_t) override { refuse(); }
  void free_pinned(void*) noexcept override {}
  void upload(void*, const void*, std::size_t, Stream&) override { refuse(); }
  void download(void*, const void*, std::size_t, Stream&) override { refuse(); }
  void copy(void*, const void*, std::size_t, Stream&) override { refuse(); }
  void fill(void*, const void*, std::size_t, std::size_t, Stream&) override { refuse(); }
  void wait(Stream&, Event&) override { refuse(); }
  std::shared_ptr<Module> compile(const KernelSource&) override { refuse(); }
  std::shared_ptr<Module> load_image(std::string_view) override { refuse(); }
  void launch(Kernel&, const LaunchConfig&, void**, Stream&) override { refuse(); }
  void begin_capture(Stream&) override { refuse(); }
  std::shared_ptr<Graph> end_capture(Stream&) override { refuse(); }
  void launch(Graph&, Stream&) override { refuse(); }
  void set_checking(bool) override { refuse(); }
  bool checking() const override { return false; }
  Blas& blas() override { refuse(); }
  Solver& solver() override { refuse(); }
  SparseSolver& sparse_solver() override { refuse(); }
  Rng& rng() override { refuse(); }

 private:
  DeviceInfo info_;
  std::int64_t delay_;
  double drift_;
};

struct NamedKernel final : Kernel {
  explicit NamedKernel(std::string_view name) : Kernel(KernelEntry{}) { entry_.name = name; }
  int occupancy(unsigned, std::size_t) const override { return 0; }
  unsigned suggested_block(std::size_t) const override { return 0; }
};

/// A device that is recorded for a trace.
struct Recorded {
  explicit Recorded(double drift = 0) : device(3000, drift), stream(device.create_stream()) {
    first = timeline.start();
    recorder.follow_timeline();
  }

  void launch(std::int64_t duration, Stream& on, std::string_view name = "k") {
    std::shared_ptr<Kernel>& kernel = kernels[std::string(name)];
    if (!kernel) kernel = std::make_shared<NamedKernel>(name);
    if (const std::int64_t begin = recorder.begin_quiet(*kernel, {}, 0, on); begin > 0) {
      truth.push_back(device.work(on, duration));
      recorder.end_quiet(begin, kernel, {}, 0, {});
      ++quiet;
      return;
    }
    DeviceRecorder::Work work;
    work.entry.kind = TimelineEntry::Kind::kernel;
    work.entry.name = NameRef(kernel, &kernel->entry().name);
    work.entry.grid = work.entry.block = {1, 1, 1};
    recorder.begin(work, on);
    truth.push_back(device.work(on, duration));
    recorder.end(work, on);
  }
  void launch(std::int64_t duration, std::string_view name = "k") { launch(duration, *stream, name); }
  /// As at the end of a trace.
  void finish() {
    recorder.measure_end(*stream);
    recorder.settle(1000);
    recorder.close();
    recorder.calibrate();
  }
  const TimelineEntry& entry(std::size_t i) { return *timeline.find(first + i); }
  double begin_error(std::size_t i) { return static_cast<double>(recorder.host_time(entry(i).begin) - truth[i].first); }
  double end_error(std::size_t i) { return static_cast<double>(recorder.host_time(entry(i).end) - truth[i].second); }

  Timeline timeline;
  SimulatedDevice device;
  DeviceRecorder recorder{device, timeline};
  StreamRef stream;
  std::uint64_t first;
  std::vector<std::pair<std::int64_t, std::int64_t>> truth;
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels;
  int quiet = 0;  // launches that begin_quiet() has taken
};

void pass(std::int64_t nanoseconds) {
  const std::int64_t end = host_now() + nanoseconds;
  while (host_now() < end) continue;
}

constexpr std::int64_t us = 1000;

}  // namespace

TEST_CASE("the recorder puts a device's times on the host's clock") {
  for (const double drift : {0.0, 100e-6, -100e-6}) {
    Recorded recorded(drift);
    for (int i = 0; i < 300; ++i) recorded.launch(100 * us);
    recorded.finish();
    // A wait of a busy machine's thread makes a calibration less certain, and it says so.
    const auto tolerance = static_cast<double>(recorded.recorder.uncertainty() + 2 * us);
    for (std::size_t i = 0; i < recorded.truth.size(); ++i) {
      CAPTURE(drift, i);
      REQUIRE(std::abs(recorded.end_error(i)) < tolerance);
      if (i > 0) REQUIRE(recorded.entry(i).begin >= recorded.entry(i - 1).end);
    }
  }
}

TEST_CASE("dense launches take one event each, and their starts are the ends before them") {
  Recorded recorded;
  recorded.launch(1000 * us);
  const int before = recorded.device.events;
  constexpr int launches = 100;
  for (int i = 0; i < launches; ++i) recorded.launch(20 * us);
  // A few more where the thread had to wait for 10 us.
  REQUIRE(recorded.device.events - before < launches + launches / 4);
  recorded.finish();
  REQUIRE(recorded.entry(0).start_measured);
  int estimated = 0;
  for (std::size_t i = 1; i < recorded.truth.size(); ++i) {
    estimated += recorded.entry(i).start_measured ? 0 : 1;
    REQUIRE(std::abs(recorded.entry(i).begin - recorded.entry(i - 1).end) < us);
  }
  REQUIRE(estimated > launches / 2);
}

TEST_CASE("kernels that follow one another have events now and then, and times near the true ones") {
  Recorded recorded;
  // Two kernels, which take the device 1 and 2 us, and the host 4.
  constexpr int launches = 3000;
  for (int i = 0; i < launches; ++i) {
    recorded.launch(i % 3 == 0 ? 2 * us : us, i % 3 == 0 ? "slow" : "quick");
    pass(3 * us);
  }
  const int events = recorded.device.events;
  recorded.finish();
  // 15 launches in 0.06 ms have events, and two each 0.5 ms; more where the thread had to wait.
  REQUIRE(events < launches / 3);
  REQUIRE(recorded.quiet > launches / 2);
  int estimated = 0;
  std::vector<double> errors;
  for (std::size_t i = 0; i < recorded.truth.size(); ++i) {
    const TimelineEntry& entry = recorded.entry(i);
    CAPTURE(i);
    REQUIRE(entry.begin >= 0);
    REQUIRE(entry.end >= entry.begin);
    if (i > 0) REQUIRE(entry.begin >= recorded.entry(i - 1).end - 1);
    estimated += entry.end_measured ? 0 : 1;
    errors.push_back(std::max(std::abs(recorded.begin_error(i)), std::abs(recorded.end_error(i))));
  }
  REQUIRE(estimated > launches / 2);
  std::ranges::sort(errors);
  REQUIRE(errors[errors.size() * 9 / 10] < static_cast<double>(recorded.recorder.uncertainty() + 3 * us));
}

TEST_CASE("a device that is behind has the end of each launch measured, but for the first after it kept pace") {
  Recorded recorded;
  for (int i = 0; i < 300; ++i) {
    recorded.launch(us);
    pass(3 * us);
  }
  const std::size_t first = recorded.truth.size();
  constexpr int launches = 600;
  for (int i = 0; i < launches; ++i) {
    recorded.launch(100 * us);
    pass(3 * us);
  }
  recorded.finish();
  int estimated = 0;
  for (std::size_t i = first; i < recorded.truth.size(); ++i) {
    const TimelineEntry& entry = recorded.entry(i);
    if (!entry.end_measured) {
      ++estimated;
      continue;
    }
    REQUIRE(std::abs(recorded.end_error(i)) < static_cast<double>(recorded.recorder.uncertainty() + 3 * us));
  }
  // Those of two phases without events at most, which last 0.5 ms of the host's time each.
  REQUIRE(estimated < launches * 2 / 3);
}

TEST_CASE("a wait measures the end of the launches before it") {
  Recorded recorded;
  for (int i = 0; i < 300; ++i) {
    recorded.launch(us);
    pass(3 * us);
  }
  // One that took 1 us until now takes 5 ms.
  recorded.launch(5000 * us);
  recorded.recorder.measure_end(*recorded.stream);
  recorded.device.synchronize(*recorded.stream);
  recorded.finish();
  REQUIRE(std::abs(recorded.end_error(300)) < static_cast<double>(recorded.recorder.uncertainty() + 3 * us));
}

TEST_CASE("work of another kind behind launches without events is measured") {
  Recorded recorded;
  for (int i = 0; i < 300; ++i) {
    recorded.launch(us);
    pass(3 * us);
  }
  DeviceRecorder::Work copy;
  copy.entry.kind = TimelineEntry::Kind::copy;
  copy.entry.name = recorded.timeline.name("copy");
  recorded.recorder.begin(copy, *recorded.stream);
  recorded.truth.push_back(recorded.device.work(*recorded.stream, 3000 * us));
  recorded.recorder.end(copy, *recorded.stream);
  recorded.finish();
  const auto tolerance = static_cast<double>(recorded.recorder.uncertainty() + 3 * us);
  REQUIRE(std::abs(recorded.begin_error(300)) < tolerance);
  REQUIRE(std::abs(recorded.end_error(300)) < tolerance);
}

TEST_CASE("launches with a pause before them are measured, and so is the next after a wait for another stream") {
  Recorded recorded;
  for (int i = 0; i < 20; ++i) {
    recorded.launch(5 * us);
    pass(30 * us);
  }
  recorded.launch(5 * us);
  recorded.recorder.measure_next(*recorded.stream);
  recorded.launch(5 * us);
  recorded.finish();
  for (std::size_t i = 0; i < 20; ++i) REQUIRE(recorded.entry(i).start_measured);
  REQUIRE(recorded.entry(21).start_measured);
}

TEST_CASE("an estimated start is not before the call that queued the work") {
  Recorded recorded;
  const StreamRef other = recorded.device.create_stream();
  // Short work, so that the stream is idle when the next is queued.
  for (int i = 0; i < 200; ++i) {
    recorded.launch(us / 2);
    pass(4 * us);
  }
  recorded.finish();
  for (std::size_t i = 0; i < recorded.truth.size(); ++i) {
    const TimelineEntry& entry = recorded.entry(i);
    REQUIRE(recorded.recorder.host_time(entry.begin) >= entry.host_begin - recorded.recorder.uncertainty() - us);
    REQUIRE(entry.end >= entry.begin);
  }
}

TEST_CASE("a profile measures every start, and counts its own launches alone") {
  Recorded recorded;
  recorded.launch(50 * us);
  recorded.recorder.start_profile();
  for (int i = 0; i < 10; ++i) recorded.launch(200 * us);
  recorded.recorder.start_profile();
  for (int i = 0; i < 5; ++i) recorded.launch(200 * us);
  recorded.device.synchronize(*recorded.stream);
  pass(10 * us);
  const std::vector<Profile::Row> inner = recorded.recorder.finish_profile(),
                                  outer = recorded.recorder.finish_profile();
  REQUIRE(inner.size() == 1);
  REQUIRE(inner[0].launches == 5);
  REQUIRE(outer.at(0).launches == 15);
  REQUIRE(std::abs(outer[0].milliseconds - 15 * 0.2) < 0.3);
  for (std::size_t i = 1; i < recorded.truth.size(); ++i) REQUIRE(recorded.entry(i).start_measured);
}

TEST_CASE("work that has not ended has no times") {
  Recorded recorded;
  recorded.launch(us);
  recorded.launch(3'000'000 * us);
  recorded.recorder.settle(20);
  REQUIRE(recorded.entry(0).end > 0);
  REQUIRE(recorded.entry(1).end < 0);
}

TEST_CASE("the timeline keeps the newest entries") {
  Timeline timeline;
  const std::uint64_t first = timeline.start();
  for (std::uint64_t i = 0; i < Timeline::capacity + 5; ++i) timeline.add({});
  REQUIRE(timeline.oldest(first) == first + 5);
  REQUIRE(timeline.find(first + 4) == nullptr);
  REQUIRE(timeline.find(first + 5) != nullptr);
  REQUIRE(timeline.find(timeline.next()) == nullptr);
  timeline.stop();
  REQUIRE(timeline.find(first + 5) == nullptr);
}

TEST_CASE("names that nothing holds go when there are many") {
  NameTable names;
  const NameRef kept = names.get("kept");
  for (int i = 0; i < 100000; ++i) names.get("name " + std::to_string(i));
  REQUIRE(names.get("kept") == kept);
  REQUIRE(names.size() < 10000);
}
