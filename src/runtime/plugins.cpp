#include "src/runtime/plugins.h"

#include <filesystem>
#include <string>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

namespace fs = std::filesystem;

/// A kind of device. Its plugin is loaded on first use.
class DeferredPlugin : public DevicePlugin {
 public:
  DeferredPlugin(std::string kind, fs::path folder) : kind_(std::move(kind)), folder_(std::move(folder)) {}

  std::string kind() const override { return kind_; }

  std::vector<std::string> list(std::string& why) override {
    load();
    if (plugin_) return plugin_->list(why);
    why = why_;
    return {};
  }

  std::string device_of(void* native_context) override {
    load();
    return plugin_ ? plugin_->device_of(native_context) : std::string();
  }

  std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) override {
    load();
    if (!plugin_) throw Error(ErrorKind::unavailable, "[device] {}: {}", kind_, why_);
    return plugin_->open(ordinal, environment);
  }

  void push_range(const char* name) noexcept override {
    if (plugin_) return plugin_->push_range(name);
    try {
      ranges_.emplace_back(name);
    } catch (...) {  // the tools that a plugin tells of ranges can do without one
      ranges_.clear();
    }
  }

  void pop_range() noexcept override {
    if (plugin_) return plugin_->pop_range();
    if (!ranges_.empty()) ranges_.pop_back();
  }

 private:
  void load() {
    if (plugin_ || !why_.empty()) return;
    const std::string file = "libgpulua-" + kind_ + ".so";
    // In a build the plugins are in the folder of the program. Installed, libgpulua.so has them in gpulua/, the command
    // in lib/gpulua/.
    std::string places;
    for (const fs::path& place : {folder_, folder_ / "gpulua", folder_ / GPULUA_PLUGIN_FOLDER}) {
      const fs::path candidate = (place / file).lexically_normal();
      std::error_code error;
      if (!fs::exists(candidate, error)) {
        places += (places.empty() ? "" : ", ") + candidate.parent_path().string();
        continue;
      }
      const DynamicLibrary library = DynamicLibrary::open(candidate.string(), why_);
      if (!library) return;
      const auto* entry = static_cast<const DevicePluginEntry*>(library.symbol("gpulua_device_plugin"));
      if (!entry || entry->version != plugin_version) {
        why_ = candidate.string() + " is not a plugin of this version of gpulua: install both from one build";
        return;
      }
      plugin_.reset(entry->create());
      for (const std::string& range : ranges_) plugin_->push_range(range.c_str());
      ranges_.clear();
      return;
    }
    why_ = file + " is not installed: no such file in " + places;
  }

  std::string kind_;
  fs::path folder_;  // of the library; absolute, since the program can change its working directory
  std::unique_ptr<DevicePlugin> plugin_;
  std::string why_;                  // the reason why loading failed; empty: it did not
  std::vector<std::string> ranges_;  // that are open; empty once the plugin is there
};

}  // namespace

std::vector<std::unique_ptr<DevicePlugin>> load_plugins() {
  std::vector<std::unique_ptr<DevicePlugin>> plugins;
  const fs::path folder = folder_of_code(reinterpret_cast<const void*>(&load_plugins));
  for (const char* kind : {"cuda", "cpu"}) plugins.push_back(std::make_unique<DeferredPlugin>(kind, folder));
  return plugins;
}

}  // namespace gpulua
