#include "src/runtime/open_device.h"

#include <algorithm>
#include <new>
#include <utility>

#include "src/base/error.h"
#include "src/device/shared/generated_text.h"
#include "src/runtime/buffer.h"
#include "src/runtime/context.h"
#include "src/runtime/describe_diagnostic.h"
#include "src/runtime/pinned.h"

namespace gpulua {

namespace {

/// The kernels of a graph: "12 x saxpy". Of many, the first.
std::string list_kernels(const std::vector<RecordedWork::Launch>& launches) {
  constexpr std::size_t most = 32;
  std::vector<std::pair<std::string_view, int>> counts;
  for (const auto& launch : launches) {
    const std::string& name = launch.kernel->entry().name;
    const auto found = std::ranges::find(counts, name, &std::pair<std::string_view, int>::first);
    if (found == counts.end())
      counts.emplace_back(name, 1);
    else
      ++found->second;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), most); ++i) {
    if (i > 0) text += '\n';
    if (counts[i].second > 1) text += std::to_string(counts[i].second) + " x ";
    text += counts[i].first;
  }
  if (counts.size() > most) text += "\nand " + std::to_string(counts.size() - most) + " others";
  return text;
}

}  // namespace

OpenDevice::OpenDevice(Context& context, std::unique_ptr<Device> device, std::shared_ptr<Evaluator> evaluator)
    : context_(context),
      device_(std::move(device)),
      evaluator_(std::move(evaluator)),
      first_stream_(device_->create_stream()),
      stream_(first_stream_),
      memory_(context.config().device_memory != 0
                  ? std::min(context.config().device_memory, device_->info().total_memory)
                  : device_->info().total_memory),
      recorder_(*device_, context.timeline),
      index_faults_(*device_),
      lent_(*this) {}

OpenDevice::~OpenDevice() {
  if (damage_.empty() || !context_.on_warning) return;
  try {
    context_.on_warning(damage_);
  } catch (...) {  // a destructor has no caller to report to
  }
}

void* OpenDevice::try_allocate(std::size_t bytes) {
  return memory_.fits(bytes) ? device_->allocate(bytes, *stream_) : nullptr;
}

void* OpenDevice::allocate(std::size_t bytes) {
  lent_.let_go();
  if (memory_.wants_collection(bytes)) collect();
  if (bytes == 0) return nullptr;
  if (void* memory = try_allocate(bytes)) return memory;
  collect();
  device_->trim();
  if (void* memory = try_allocate(bytes)) return memory;
  refuse_memory(bytes);
}

std::shared_ptr<SharedBlock> OpenDevice::allocate_shared(std::size_t bytes) {
  SharedMemory& memory = *device_->shared_memory();
  if (std::shared_ptr<SharedBlock> block = memory.allocate(bytes)) return block;
  collect();
  lent_.let_go();
  device_->trim();
  if (std::shared_ptr<SharedBlock> block = memory.allocate(bytes)) return block;
  refuse_memory(bytes);
}

void OpenDevice::collect() {
  if (Host* host = context_.host()) memory_.collect(*host);
}

void OpenDevice::make_room(std::size_t bytes) {
  if (memory_.wants_collection(bytes) || !memory_.fits(bytes)) collect();
  if (!memory_.fits(bytes)) refuse_memory(bytes);
}

void OpenDevice::refuse_memory(std::size_t bytes) const {
  std::string advice = memory_.used() > 0 ? ". x:free() or gpu.scope gives memory back early" : "";
  if (bytes > memory_.limit()) advice = ". The limit is below this one amount: work in parts, or use a smaller dtype";
  throw Error(ErrorKind::memory, "[memory] out of memory on {}: {} wanted, {}; {}{}", name(), format_bytes(bytes),
              limit_text(), memory_.describe_holders(), advice);
}

std::string OpenDevice::limit_text() const {
  const std::size_t limit = memory_.limit(), own = device_->info().total_memory;
  const char* const choice = limit == own                               ? ""
                             : limit == context_.config().device_memory ? ", by device_memory of gpulua_options"
                                                                        : ", by gpu.set_memory_limit";
  return "limit " + format_bytes(limit) + choice;
}

void OpenDevice::make_room_for_node() {
  if (memory_.fits(MemoryAccount::node_cost)) return;
  collect();
  if (memory_.fits(MemoryAccount::node_cost)) return;
  throw Error(
      ErrorKind::memory,
      "[memory] out of memory on {}, {}: used up by {} and {} pending operations or views, which count {} bytes "
      "each",
      name(), limit_text(), memory_.describe_holders(), memory_.nodes(), MemoryAccount::node_cost);
}

void OpenDevice::read_after(const Stream* stream, const std::function<void()>& wait) {
  try {
    wait();
  } catch (const Error& error) {
    const std::string launches = launches_.describe();
    if (launches.empty() || (error.kind() != ErrorKind::device && error.kind() != ErrorKind::device_lost)) throw;
    throw Error(error.kind(), "{}\n{}", error.what(), launches);
  }
  if (stream) launches_.clear(*stream);
  index_faults_.read(stream);
}

void OpenDevice::checked(const Stream* stream, const std::function<void()>& wait) {
  read_after(stream, wait);
  index_faults_.tell();
  throw_damage();
}

Overwrite OpenDevice::overwrite_of(const Buffer& buffer) noexcept {
  if (buffer.shared()) return buffer.shared()->find_overwrite();
  return buffer.has_own_memory() ? device_->find_overwrite(buffer.address(), buffer.bytes()) : Overwrite::none;
}

void OpenDevice::check_ends(const Buffer& buffer) noexcept {
  const Overwrite found = overwrite_of(buffer);
  if (found == Overwrite::none || !damage_.empty()) return;
  try {
    damage_ = std::string("[memory] a kernel has written ") +
              (found == Overwrite::past_end ? "past the end of" : "before the start of") + " an array of " +
              describe_exactly(buffer) + "; gpulua --check, or gpu.check(true), names the kernel and its line";
  } catch (const std::bad_alloc&) {
    // Out of memory for the message: the next overwrite is reported.
  }
}

void OpenDevice::check_all_ends() {
  memory_.for_each([this](const Buffer& buffer) { check_ends(buffer); });
  throw_damage();
}

void OpenDevice::throw_damage() {
  if (!damage_.empty()) throw Error(ErrorKind::device, std::exchange(damage_, {}));
}

StreamRef OpenDevice::create_stream() {
  std::erase_if(streams_, [](const std::weak_ptr<Stream>& stream) { return stream.expired(); });
  StreamRef stream = device_->create_stream();
  streams_.push_back(stream);
  return stream;
}

void OpenDevice::synchronize() {
  check_not_captured("waits for the device");
  const auto wait_for = [this](Stream& stream) { read_after(&stream, [&] { device_->synchronize(stream); }); };
  measure_ends();
  run_wait("wait for the device", nullptr, [&] {
    wait_for(*first_stream_);
    for (const auto& weak : streams_)
      if (const StreamRef stream = weak.lock()) wait_for(*stream);
  });
  lent_.let_go();
  index_faults_.tell();
  check_all_ends();
}

void OpenDevice::synchronize(Event& event) {
  check_not_captured("waits for an event");
  checked(nullptr, [&] { run_wait("wait for an event", nullptr, [&] { device_->synchronize(event); }); });
}

void OpenDevice::synchronize(Stream& stream) {
  check_not_captured("waits for the device");
  checked(&stream, [&] { run_wait("wait for a stream", &stream, [&] { device_->synchronize(stream); }); });
}

void OpenDevice::download(void* host, const void* memory, std::size_t bytes) {
  check_not_captured("reads elements");
  checked(stream_.get(), [&] {
    queue_download(host, memory, bytes, *stream_);
    run_wait("wait for a stream", stream_.get(), [&] { device_->synchronize(*stream_); });
  });
}

PinnedMemory* OpenDevice::find_pinned(const void* memory) const {
  auto next = pinned_.upper_bound(memory);
  if (next == pinned_.begin()) return nullptr;
  PinnedMemory* found = std::prev(next)->second;
  return static_cast<const char*>(memory) < static_cast<const char*>(found->data()) + found->bytes() ? found : nullptr;
}

std::shared_ptr<Kernel> OpenDevice::find_kernel(const std::string& key) const {
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : found->second;
}

std::shared_ptr<Module> OpenDevice::compile(const KernelSource& source) {
  context_.spending.add_compilation();
  const std::shared_ptr<void> end = context_.on_compile ? context_.on_compile(source, place_text(origin())) : nullptr;
  if (!recorder_.on()) [[likely]]
    return device_->compile(source);
  TimelineEntry entry;
  entry.origin = origin();
  entry.host_begin = host_now();
  const std::uint64_t before = context_.cache().compilations();
  std::shared_ptr<Module> module = device_->compile(source);
  entry.host_end = host_now();
  entry.from_cache = context_.cache().compilations() == before;
  // A module of several kernels is one compilation.
  if (const auto& kernels = module->compiled().kernels; !kernels.empty())
    recorder_.add_compilation(kernels.front().name, std::move(entry));
  return module;
}

std::shared_ptr<Kernel> OpenDevice::compile_kernel(const std::string& key, std::string text) {
  const std::shared_ptr<Module> module = compile(own_source(std::move(text)));
  std::shared_ptr<Kernel> kernel = module->kernel(module->compiled().kernels.at(0));
  warn_of(kernel->entry());
  count_kernel();
  return kernels_[key] = std::move(kernel);
}

void OpenDevice::warn_of(const KernelEntry& kernel) {
  if (context_.config().log_plans && !kernel.limits.empty())
    context_.warn(place_text(origin()) + "the kernel '" + kernel.name + "': " + kernel.limits);
  // Checked kernels, and a GPU's on the CPU device, are not there to be quick.
  if (kernel.warning.empty() || device_->checking() || context_.config().gpu_schedules_on_cpu) return;
  context_.warn(place_text(origin()) + "the kernel '" + kernel.name + "' " + kernel.warning);
}

Origin OpenDevice::origin() const {
  return context_.host() ? context_.host()->origin() : Origin{};
}

void OpenDevice::count_kernel() {
  // A line that always builds the same expression compiles fewer kernels than this. A function of the library may
  // compile more.
  constexpr int many_kernels = 20;
  const Origin at = origin();
  if (!at.chunk || at.in_library || has_warned_ || ++kernels_of_lines_[{at.chunk, at.line}] <= many_kernels) return;
  has_warned_ = true;
  context_.warn(
      place_text(at) + "this line has compiled more than " + std::to_string(many_kernels) +
      " kernels: it computes expressions that differ in their operations, dtypes, numbers of axes or lengths of "
      "short rows, and each takes a compilation; gpu.explain(x) shows the kernels of an expression");
}

void OpenDevice::launch(const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, void** arguments,
                        const StreamRef& stream, double bytes) {
  throw_damage();
  context_.spending.add_launch();
  Host* host = context_.host();
  if (recorded_) {
    if (stream != stream_) check_not_captured("launches a kernel on another stream");
    device_->launch(*kernel, config, arguments, *stream);
    recorded_->launches.push_back({kernel, host ? host->origin() : Origin{}});
    recorded_->bytes += bytes;
    return;
  }
  const Origin origin = host ? host->origin() : Origin{};
  launches_.note(kernel, *stream, origin);
  std::optional<DeviceRecorder::Work> work;
  const bool records = recorder_.on();
  const std::int64_t quiet = records ? recorder_.begin_quiet(*kernel, config, bytes, *stream) : 0;
  const std::uint64_t compilations = records ? context_.cache().compilations() : 0;
  if (records && !quiet) [[unlikely]] {
    // The entry holds the kernel, which saves a look-up of its name.
    const NameRef name(kernel, &kernel->entry().name);
    work.emplace(entry_of(TimelineEntry::Kind::kernel, name, bytes, origin));
    work->entry.grid = config.grid;
    work->entry.block = config.block;
    recorder_.begin(*work, *stream);
  }
  try {
    device_->launch(*kernel, config, arguments, *stream);
  } catch (const Diagnostic& diagnostic) {
    throw Error(diagnostic.kind(), describe(diagnostic, memory_));
  }
  if (quiet)
    recorder_.end_quiet(quiet, kernel, config, bytes, origin);
  else if (records) [[unlikely]]
    recorder_.end(*work, *stream, note_late_compilation(compilations, kernel->entry().name));
  if (!context_.debug) return;
  synchronize(*stream);
  check_all_ends();
}

void OpenDevice::launch(const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, void** arguments,
                        const StreamRef& stream, const std::vector<const Buffer*>& written, const char* advice) {
  // What is found now was another kernel's.
  for (const Buffer* buffer : written) check_ends(*buffer);
  try {
    launch(kernel, config, arguments, stream);
  } catch (const Error& error) {
    const std::string found = text_of_overwrites(written, advice);
    if (found.empty()) throw;
    throw Error(error.kind(), "{}; it has written {}", error.what(), found);
  }
  const std::string found = text_of_overwrites(written, advice);
  if (!found.empty())
    throw Error(ErrorKind::device,
                "[launch] kernel '{}' has written {}; gpulua --check, or gpu.check(true), names the line",
                kernel->entry().name, found);
}

std::string OpenDevice::text_of_overwrites(const std::vector<const Buffer*>& buffers, const char* advice) {
  std::string text;
  for (const Buffer* buffer : buffers) {
    bool before = false, past = false;
    for (Overwrite found = overwrite_of(*buffer); found != Overwrite::none; found = overwrite_of(*buffer))
      (found == Overwrite::past_end ? past : before) = true;
    if ((!before && !past) || !text.empty()) continue;
    text = std::string(!past     ? "before the start of"
                       : !before ? "past the end of"
                                 : "before the start and past the end of") +
           " an array of " + describe_exactly(*buffer) + (before ? advice : "") +
           (past ? "; a grid has whole blocks, so a kernel compares its index with the number of elements" : "");
  }
  return text;
}

void OpenDevice::begin_capture(const char* op) {
  device_->begin_capture(*stream_);
  recorded_ = std::make_shared<RecordedWork>(op);
}

std::shared_ptr<RecordedWork> OpenDevice::end_capture() {
  const std::shared_ptr<RecordedWork> work = std::exchange(recorded_, nullptr);
  work->graph = device_->end_capture(*stream_);
  work->kernels = list_kernels(work->launches);
  return work;
}

bool OpenDevice::launch(const RecordedWork& work, const StreamRef& stream, const void* go_on) {
  // The log keeps a graph's first launches: more would only push out those of other work.
  constexpr std::size_t most_noted = 16;
  throw_damage();
  context_.spending.add_launch();
  for (std::size_t i = 0; i < std::min(work.launches.size(), most_noted); ++i)
    launches_.note(work.launches[i].kernel, *stream, work.launches[i].origin);
  std::optional<DeviceRecorder::Work> recording;
  const bool records = recorder_.on();
  if (records) [[unlikely]] {
    recording.emplace(entry_of(TimelineEntry::Kind::graph, context_.timeline.name(std::string("gpu.") + work.op),
                               work.bytes, origin()));
    recording->entry.parts = context_.timeline.name(work.kernels);
    recorder_.begin(*recording, *stream);
  }
  bool launched = true;
  try {
    if (go_on)
      launched = device_->launch_while(*work.graph, go_on, *stream);
    else
      device_->launch(*work.graph, *stream);
  } catch (const Diagnostic& diagnostic) {
    throw Error(diagnostic.kind(), describe(diagnostic, memory_));
  }
  if (!launched) return false;
  if (records) [[unlikely]]
    recorder_.end(*recording, *stream);
  if (!context_.debug) return true;
  synchronize(*stream);
  check_all_ends();
  return true;
}

void OpenDevice::check_not_captured(const char* what) const {
  if (!recorded_) return;
  const bool is_loop = std::string_view(recorded_->op).starts_with("loop");
  throw Error("[{}] expected a function whose work can be recorded, got one that {}; do that outside of the function{}",
              recorded_->op, what,
              is_loop
                  ? ", or on the device: gpu.where(condition, x, y) chooses, gpu.loop_while(fn, ...) goes on while a "
                    "condition is true"
                  : "");
}

}  // namespace gpulua
