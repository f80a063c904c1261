#pragma once

// The CPU device, opened as the library opens it: the plugin's shared object beside the tests' executable.

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/device/plugin.h"
#include "src/device/shared/cache.h"

namespace gpulua {

class CpuTestDevice {
 public:
  /// `target`: Config::cpu_target.
  explicit CpuTestDevice(std::filesystem::path cache_directory = {}, std::string target = {})
      : config_(config_for(std::move(target))),
        cache_(std::move(cache_directory), config_.cache_limit),
        plugin_(open_plugin()),
        device_(plugin_->open(0, {config_, cache_, interrupted_, while_waiting_})) {
    stream_ = device_->create_stream();
  }

  Device* operator->() { return device_.get(); }
  Device& operator*() { return *device_; }
  Stream& stream() { return *stream_; }
  std::atomic<bool>& interrupted() { return interrupted_; }

  std::shared_ptr<Module> compile(std::string text, std::vector<std::string> names = {},
                                  std::vector<std::string> options = {}) {
    KernelSource source;
    source.text = std::move(text);
    source.file = "script.lua";
    source.line = 10;
    source.names = std::move(names);
    source.options = std::move(options);
    return device_->compile(source);
  }

  std::shared_ptr<Kernel> kernel(const std::shared_ptr<Module>& module, std::string_view name) {
    return module->kernel(find_kernel(module->compiled(), name));
  }

  /// Launches with the values as arguments, each of exactly its parameter's type.
  template <class... Values>
  void launch(Kernel& kernel, const LaunchConfig& config, Values... values) {
    void* arguments[] = {&values..., nullptr};
    device_->launch(kernel, config, arguments, *stream_);
  }

  /// Compiles a source with one kernel and launches it.
  template <class... Values>
  void run(const std::string& text, const LaunchConfig& config, Values... values) {
    auto module = compile(text);
    launch(*module->kernel(module->compiled().kernels.front()), config, values...);
  }

  static std::filesystem::path plugin_path() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libgpulua-cpu.so";
  }

 private:
  static Config config_for(std::string target) {
    Config config;
    config.cpu_target = std::move(target);
    return config;
  }

  static std::unique_ptr<DevicePlugin> open_plugin() {
    void* library = dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto* entry = static_cast<const DevicePluginEntry*>(dlsym(library, "gpulua_device_plugin"));
    return std::unique_ptr<DevicePlugin>(entry->create());
  }

  Config config_;
  KernelCache cache_;
  std::atomic<bool> interrupted_{false};
  std::function<void()> while_waiting_;
  std::unique_ptr<DevicePlugin> plugin_;
  std::unique_ptr<Device> device_;
  StreamRef stream_;
};

/// The device's grid and block in one dimension.
inline LaunchConfig one_dimension(unsigned grid, unsigned block, std::size_t shared_bytes = 0) {
  LaunchConfig config;
  config.grid.x = grid;
  config.block.x = block;
  config.shared_bytes = shared_bytes;
  return config;
}

/// What a call throws.
template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

}  // namespace gpulua
