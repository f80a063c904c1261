#include "src/base/config.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "src/base/error.h"

namespace gpulua {
namespace {

/// The variable's value; empty when it is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::filesystem::path cache_directory() {
  if (auto directory = variable("GPULUA_CACHE_DIR"); !directory.empty()) return directory;
  // The XDG specification has relative paths ignored.
  if (std::filesystem::path base = variable("XDG_CACHE_HOME"); base.is_absolute()) return base / "gpulua";
  if (std::filesystem::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "gpulua";
  return {};
}

std::uintmax_t bytes(const char* name, std::uintmax_t otherwise) {
  const std::string_view text = variable(name);
  if (text.empty()) return otherwise;
  std::uintmax_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Error("[config] expected {} to be a number of bytes, got \"{}\"", name, text);
  return value;
}

bool flag(const char* name, bool otherwise) {
  const std::string_view text = variable(name);
  if (text.empty()) return otherwise;
  if (text != "0" && text != "1") throw Error("[config] expected {} to be 0 or 1, got \"{}\"", name, text);
  return text == "1";
}

/// True where the variable has that value, its only one.
bool is_set_to(const char* name, std::string_view value) {
  const std::string_view text = variable(name);
  if (text.empty() || text == value) return !text.empty();
  throw Error("[config] expected {} to be {}, or not set, got \"{}\"", name, value, text);
}

std::vector<std::filesystem::path> directories(std::string_view list) {
  std::vector<std::filesystem::path> result;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) result.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return result;
}

}  // namespace

Config Config::from_environment() {
  Config config;
  config.device = variable("GPULUA_DEVICE");
  config.fault_handlers = flag("GPULUA_FAULT_HANDLERS", config.fault_handlers);
  config.log_plans = flag("GPULUA_LOG_PLANS", config.log_plans);
  config.gpu_schedules_on_cpu = is_set_to("GPULUA_CPU_SCHEDULES", "gpu");
  config.cpu_target = variable("GPULUA_CPU_TARGET");
  config.fft_libraries = !is_set_to("GPULUA_FFT", "own");
  config.cache_directory = gpulua::cache_directory();
  config.cache_limit = bytes("GPULUA_CACHE_LIMIT", config.cache_limit);
  config.cuda_home = variable("CUDA_HOME");
  if (config.cuda_home.empty()) config.cuda_home = variable("CUDA_PATH");
  config.library_path = directories(variable("LD_LIBRARY_PATH"));
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string_view prefix = variable(name); !prefix.empty()) config.python_prefixes.emplace_back(prefix);
  if (const std::string_view home = variable("HOME"); !home.empty())
    config.python_prefixes.push_back(std::filesystem::path(home) / ".local");
  config.job = Job::from_environment();
  return config;
}

}  // namespace gpulua
