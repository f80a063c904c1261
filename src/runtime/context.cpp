#include "src/runtime/context.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/base/near_name.h"
#include "src/runtime/plugins.h"
#include "src/runtime/trace_file.h"

namespace gpulua {

Context::Context(Config config, MakeEvaluator make_evaluator)
    : default_dtype(config.default_dtype),
      config_(std::move(config)),
      make_evaluator_(make_evaluator),
      cache_(config_.cache_directory, config_.cache_limit, [this](const std::string& message) { warn(message); }),
      plugins_(load_plugins()) {}

Context::~Context() {
  traces.clear();
  ranges.close();
}

namespace {

bool is_name_of_gpu(std::string_view kind) {
  return kind == "gpu" || kind == "GPU" || kind == "nvidia" || kind == "CUDA";
}

constexpr const char* name_of_cuda = "; an NVIDIA GPU is called \"cuda:0\"";

}  // namespace

std::vector<DeviceListing> Context::list_devices() {
  std::vector<DeviceListing> listing;
  for (const auto& plugin : plugins_) {
    std::string why;
    for (std::string& name : plugin->list(why)) listing.push_back({std::move(name), plugin->kind()});
  }
  return listing;
}

std::shared_ptr<OpenDevice> Context::device(std::string_view name) {
  if (rights.trusted) return open_device(name);
  const std::shared_ptr<OpenDevice>& own = current();
  if (own->name() == name || own->name().starts_with(std::string(name) + ':')) return own;
  throw Error("[device] expected {}, the sandbox's one device, got {}", own->name(), name);
}

void Context::check_device_name() const {
  const std::string_view name = config_.device, kind = name.substr(0, name.find(':'));
  std::string kinds;
  if (name.empty() || kind == "cpu" || kind == "cuda") return;  // installed or not
  for (const auto& plugin : plugins_) {
    if (plugin->kind() == kind) return;
    kinds += (kinds.empty() ? "" : ", ") + plugin->kind();
  }
  throw Error(
      "[device] expected a device of the kinds {}, such as \"cpu\" or \"cuda:0\", got \"{}\"{}; the name comes from {}",
      kinds, config_.device, is_name_of_gpu(kind) ? name_of_cuda : "", config_.device_source);
}

std::shared_ptr<OpenDevice> Context::open_device(std::string_view name) {
  // Plugins look for their devices in the file system, which takes longer than a small product.
  for (const auto& open : open_)
    if (open->name() == name) return open;
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
    open_.push_back(std::make_shared<OpenDevice>(*this, std::move(device), make_evaluator_()));
    const auto is_default = [&] {
      const std::string name_of_default = default_device();
      return name_of_default == *found || (name_of_default == kind && found == names.begin());
    };
    // Another kind of device refuses a stream of a driver; it has no use for the default one.
    if (config_.cuda_stream && (kind == "cuda" || *config_.cuda_stream != nullptr) && is_default()) try {
        open_.back()->device().redirect(*open_.back()->stream(), *config_.cuda_stream);
      } catch (...) {
        open_.pop_back();
        throw;
      }
    if (config_.profile) open_.back()->start_profile();
    open_.back()->recorder().follow_timeline();
    return open_.back();
  }
  std::string text = "[device] expected one of ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i > 0 ? ", " : "") + known[i];
  if (known.empty()) text = "[device] no device is available";
  // For "cuda:9", which names a known kind, a similar name would be a different device: no suggestion.
  const bool is_kind = std::any_of(plugins_.begin(), plugins_.end(), [&](const auto& p) { return p->kind() == kind; });
  const std::string meant = is_kind ? "" : is_name_of_gpu(kind) ? name_of_cuda : did_you_mean(name, known);
  const bool is_dtype = find_dtype(name).has_value();
  const std::string other = is_dtype ? "; x:astype(\"" + std::string(name) + "\") converts numbers" : meant;
  throw Error(ErrorKind::unavailable, "{}, got \"{}\"{}{}", text, name, reasons, other);
}

std::string Context::default_device() {
  if (!config_.device.empty()) return config_.device;
  if (config_.cuda_context != nullptr) {
    for (const auto& plugin : plugins_)
      if (std::string name = plugin->device_of(config_.cuda_context); !name.empty()) return name;
    throw Error(ErrorKind::unavailable, "[device] expected NVIDIA's driver for the host program's CUcontext, got none");
  }
  // Plugins are sorted by preference.
  const std::vector<DeviceListing> devices = list_devices();
  if (devices.empty()) return "cpu";
  // Each process of a machine takes a device of the preferred kind, where there are several.
  const std::string& kind = devices.front().kind;
  const auto count = std::ranges::count(devices, kind, &DeviceListing::kind);
  return devices[static_cast<std::size_t>(config_.job.local_rank % count)].name;
}

const std::shared_ptr<OpenDevice>& Context::current() {
  if (current_) return current_;
  try {
    current_ = open_device(default_device());
  } catch (const Error& error) {
    if (config_.device.empty()) throw;
    throw Error(error.kind(), "{}; the name comes from {}", error.what(), config_.device_source);
  }
  return current_;
}

void Context::warn(const std::string& message) {
  warn(message, message);
}

void Context::warn(const std::string& message, const std::string& key) {
  if (on_warning && warnings_.insert(key).second) on_warning(message);
}

void Context::end_use() noexcept {
  const Call call(*this);
  late_releases_.close();
  for (const auto& open : open_) open->lent().wait();
}

void Context::synchronize() {
  for (const auto& open : open_) open->synchronize();
}

void Context::settle() {
  for (const auto& open : open_)
    if (open->index_faults().any_open()) open->synchronize();
}

}  // namespace gpulua
