#include "src/runtime/context.h"

#include <algorithm>
#include <new>
#include <utility>

#include "src/base/error.h"
#include "src/base/near_name.h"
#include "src/eval/plan_cache.h"
#include "src/runtime/describe_diagnostic.h"
#include "src/runtime/plugins.h"

namespace gpulua {

OpenDevice::OpenDevice(Context& context, std::unique_ptr<Device> device)
    : context_(context),
      device_(std::move(device)),
      first_stream_(device_->create_stream()),
      stream_(first_stream_),
      memory_(device_->info().total_memory),
      index_faults_(*device_),
      plans_(std::make_unique<PlanCache>()) {}

OpenDevice::~OpenDevice() {
  if (damage_.empty() || !context_.on_warning) return;
  try {
    context_.on_warning(damage_);
  } catch (...) {  // nobody is left to tell
  }
}

void* OpenDevice::try_allocate(std::size_t bytes) {
  return memory_.fits(bytes) ? device_->allocate(bytes, *stream_) : nullptr;
}

void* OpenDevice::allocate(std::size_t bytes) {
  Host* host = context_.host();
  if (host && memory_.wants_collection(bytes)) memory_.collect(*host);
  if (bytes == 0) return nullptr;
  if (void* memory = try_allocate(bytes)) return memory;
  if (host) memory_.collect(*host);
  device_->trim();
  if (void* memory = try_allocate(bytes)) return memory;
  throw Error(ErrorKind::memory, "[memory] out of memory on " + name() + ": " + format_bytes(bytes) +
                                     " wanted, limit " + format_bytes(memory_.limit()) + "; " +
                                     memory_.describe_holders() + ". x:free() or gpu.scope gives memory back early");
}

void OpenDevice::checked(const Stream* stream, const std::function<void()>& wait) {
  try {
    wait();
  } catch (const Error& error) {
    const std::string launches = launches_.describe();
    if (launches.empty() || (error.kind() != ErrorKind::device && error.kind() != ErrorKind::device_lost)) throw;
    throw Error(error.kind(), std::string(error.what()) + "\n" + launches);
  }
  if (stream) launches_.clear(*stream);
  index_faults_.check(stream);
  throw_damage();
}

void OpenDevice::check_end(const Buffer& buffer) noexcept {
  if (buffer.address() == nullptr || device_->check_end(buffer.address(), buffer.bytes()) || !damage_.empty()) return;
  try {
    damage_ = "[memory] a kernel has written past the end of an array of " + describe(buffer) +
              "; gpulua --check, or gpu.check(true), names the kernel and its line";
  } catch (const std::bad_alloc&) {
    // The next one that is found is reported.
  }
}

void OpenDevice::check_all_ends() {
  memory_.for_each([this](const Buffer& buffer) { check_end(buffer); });
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
  synchronize(*first_stream_);
  for (const auto& weak : streams_)
    if (const StreamRef stream = weak.lock()) synchronize(*stream);
  check_all_ends();
}

void OpenDevice::synchronize(Event& event) {
  checked(nullptr, [&] { device_->synchronize(event); });
}

void OpenDevice::synchronize(Stream& stream) {
  checked(&stream, [&] { device_->synchronize(stream); });
}

void OpenDevice::download(void* host, const void* memory, std::size_t bytes) {
  checked(stream_.get(), [&] {
    device_->download(host, memory, bytes, *stream_);
    device_->synchronize(*stream_);
  });
}

PinnedMemory* OpenDevice::find_pinned(const void* memory) const {
  auto next = pinned_.upper_bound(memory);
  if (next == pinned_.begin()) return nullptr;
  PinnedMemory* found = std::prev(next)->second;
  return static_cast<const char*>(memory) < static_cast<const char*>(found->data()) + found->bytes() ? found : nullptr;
}

const std::shared_ptr<Kernel>& OpenDevice::kernel(const std::string& key, const std::function<std::string()>& emit) {
  std::shared_ptr<Kernel>& slot = kernels_[key];
  if (!slot) {
    KernelSource source;
    source.text = emit();
    source.file = "gpulua:" + key;
    const std::shared_ptr<Module> module = device_->compile(source);
    slot = module->kernel(module->compiled().kernels.at(0));
    warn_of(slot->entry());
  }
  return slot;
}

void OpenDevice::warn_of(const KernelEntry& kernel) {
  if (kernel.warning.empty() || device_->checking()) return;
  const Origin origin = context_.host() ? context_.host()->origin() : Origin{};
  const std::string line = origin.chunk ? std::string(origin.chunk) + ":" + std::to_string(origin.line) + ": " : "";
  context_.warn(line + "the kernel '" + kernel.name + "' " + kernel.warning);
}

void OpenDevice::launch(const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, void** arguments,
                        const StreamRef& stream, double bytes) {
  throw_damage();
  Host* host = context_.host();
  launches_.note(kernel, *stream, host ? host->origin() : Origin{});
  for (Profile& profile : profiles_) profile.begin(*stream);
  try {
    device_->launch(*kernel, config, arguments, *stream);
  } catch (const Finding& finding) {
    throw Error(finding.kind(), describe(finding, memory_));
  }
  for (Profile& profile : profiles_) profile.end(kernel->entry().name, bytes, *stream);
  if (!context_.debug) return;
  synchronize(*stream);
  check_all_ends();
}

std::vector<Profile::Row> OpenDevice::finish_profile() {
  if (profiles_.empty()) return {};
  Profile profile = std::move(profiles_.back());
  profiles_.pop_back();
  synchronize();
  return profile.rows();
}

Context::Context(Config config)
    : config_(std::move(config)),
      cache_(config_.cache_directory, config_.cache_limit, [this](const std::string& message) { warn(message); }),
      plugins_(load_plugins()) {}

Context::~Context() = default;

std::vector<DeviceListing> Context::list_devices() {
  std::vector<DeviceListing> listing;
  for (const auto& plugin : plugins_) {
    std::string why;
    for (std::string& name : plugin->list(why)) listing.push_back({std::move(name), plugin->kind()});
  }
  return listing;
}

std::shared_ptr<OpenDevice> Context::device(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  std::vector<std::string> known;
  std::string reasons;
  for (const auto& plugin : plugins_) {
    std::string why;
    const std::vector<std::string> names = plugin->list(why);
    if (!why.empty()) reasons += "; " + plugin->kind() + ": " + why;
    known.insert(known.end(), names.begin(), names.end());
    if (plugin->kind() != kind) continue;

    const auto found = colon == name.npos ? names.begin() : std::find(names.begin(), names.end(), name);
    if (found == names.end()) continue;
    for (const auto& open : open_)
      if (open->name() == *found) return open;
    const int ordinal = static_cast<int>(found - names.begin());
    std::unique_ptr<Device> device = plugin->open(ordinal, environment_);
    if (config_.check) device->set_checking(true);
    open_.push_back(std::make_shared<OpenDevice>(*this, std::move(device)));
    if (config_.profile) open_.back()->start_profile();
    return open_.back();
  }
  std::string text = "[device] expected one of ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i > 0 ? ", " : "") + known[i];
  if (known.empty()) text = "[device] no device is available";
  // Of a kind that there is, another number would be another device.
  const bool is_kind = std::any_of(plugins_.begin(), plugins_.end(), [&](const auto& p) { return p->kind() == kind; });
  const bool is_gpu = kind == "gpu" || kind == "GPU" || kind == "nvidia" || kind == "CUDA";
  const std::string meant = is_kind ? "" : is_gpu ? "; an NVIDIA GPU is called \"cuda:0\"" : did_you_mean(name, known);
  const bool is_dtype = find_dtype(name).has_value();
  const std::string other = is_dtype ? "; x:astype(\"" + std::string(name) + "\") converts numbers" : meant;
  throw Error(ErrorKind::unavailable, text + ", got \"" + std::string(name) + "\"" + other + reasons);
}

std::string Context::default_device() {
  if (!config_.device.empty()) return config_.device;
  // Plugins are in the order of preference.
  const std::vector<DeviceListing> devices = list_devices();
  return devices.empty() ? "cpu" : devices.front().name;
}

const std::shared_ptr<OpenDevice>& Context::current() {
  if (current_) return current_;
  try {
    current_ = device(default_device());
  } catch (const Error& error) {
    if (config_.device.empty()) throw;
    throw Error(error.kind(), std::string(error.what()) + "; the name comes from --device or GPULUA_DEVICE");
  }
  return current_;
}

void Context::warn(const std::string& message) {
  if (on_warning && warnings_.insert(message).second) on_warning(message);
}

void Context::synchronize() {
  for (const auto& open : open_) open->synchronize();
}

}  // namespace gpulua
