#include "src/core/plugins.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "src/core/error.h"
#include "src/device/dynamic_library.h"

namespace gpulua {

namespace {

namespace fs = std::filesystem;

/// The folder of the executable or shared library that this code is part of.
fs::path own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&load_plugins), &info) || !info.dli_fname) return {};
  std::error_code error;
  // The main program's name may be what the shell was given, relative or found by PATH.
  const fs::path file = info.dli_fname;
  const fs::path real = file.is_absolute() ? fs::canonical(file, error) : fs::canonical("/proc/self/exe", error);
  return real.parent_path();
}

/// A kind of device whose plugin is loaded when the kind is first asked about.
class DeferredPlugin : public DevicePlugin {
 public:
  explicit DeferredPlugin(std::string kind) : kind_(std::move(kind)) {}

  std::string kind() const override { return kind_; }

  std::vector<std::string> list(std::string& why) override {
    load();
    if (plugin_) return plugin_->list(why);
    why = why_;
    return {};
  }

  std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) override {
    load();
    if (!plugin_) throw Error(ErrorKind::unavailable, "[device] " + kind_ + ": " + why_);
    return plugin_->open(ordinal, environment);
  }

 private:
  void load() {
    if (plugin_ || !why_.empty()) return;
    const std::string file = "libgpulua-" + kind_ + ".so";
    const fs::path folder = own_folder();
    for (const fs::path& candidate : {folder / file, folder.parent_path() / "lib" / "gpulua" / file}) {
      std::error_code error;
      if (!fs::exists(candidate, error)) continue;
      const DynamicLibrary library = DynamicLibrary::open(candidate.string(), why_);
      if (!library) return;
      const auto* entry = static_cast<const DevicePluginEntry*>(library.symbol("gpulua_device_plugin"));
      if (!entry || entry->version != plugin_version) {
        why_ = candidate.string() + " is not a plugin of this version of gpulua: install both from one build";
        return;
      }
      plugin_.reset(entry->create());
      return;
    }
    why_ = file + " is not installed";
  }

  std::string kind_;
  std::unique_ptr<DevicePlugin> plugin_;
  std::string why_;  // set: loading has failed
};

}  // namespace

std::vector<std::unique_ptr<DevicePlugin>> load_plugins() {
  std::vector<std::unique_ptr<DevicePlugin>> plugins;
  for (const char* kind : {"cuda", "cpu"}) plugins.push_back(std::make_unique<DeferredPlugin>(kind));
  return plugins;
}

}  // namespace gpulua
