#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "src/base/config.h"
#include "src/base/error.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

/// Sets a variable, or unsets it, for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value != nullptr)
      ::setenv(name_, value, 1);
    else
      ::unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("libraries for Fourier transforms", "[config]") {
  {
    const Variable none("GPULUA_FFT", nullptr);
    CHECK(Config::from_environment().fft_libraries);
  }
  const Variable own("GPULUA_FFT", "own");
  CHECK_FALSE(Config::from_environment().fft_libraries);
  const Variable unknown("GPULUA_FFT", "fftw");
  CHECK_THROWS_AS(Config::from_environment(), Error);
}

TEST_CASE("a GPU's schedules on the CPU device", "[config]") {
  {
    const Variable none("GPULUA_CPU_SCHEDULES", nullptr);
    CHECK_FALSE(Config::from_environment().gpu_schedules_on_cpu);
  }
  const Variable gpu("GPULUA_CPU_SCHEDULES", "gpu");
  CHECK(Config::from_environment().gpu_schedules_on_cpu);
  const Variable unknown("GPULUA_CPU_SCHEDULES", "cuda");
  CHECK_THROWS_AS(Config::from_environment(), Error);
}

TEST_CASE("the processor that the CPU device compiles for", "[config]") {
  {
    const Variable none("GPULUA_CPU_TARGET", nullptr);
    CHECK(Config::from_environment().cpu_target.empty());
  }
  const Variable target("GPULUA_CPU_TARGET", "x86-64-v3");
  CHECK(Config::from_environment().cpu_target == "x86-64-v3");
}

TEST_CASE("the cache's directory", "[config]") {
  const Variable home("HOME", "/home/me"), xdg("XDG_CACHE_HOME", nullptr), own("GPULUA_CACHE_DIR", nullptr);
  CHECK(Config::from_environment().cache_directory == "/home/me/.cache/gpulua");
  const Variable set("XDG_CACHE_HOME", "/cache");
  CHECK(Config::from_environment().cache_directory == "/cache/gpulua");
  const Variable relative("XDG_CACHE_HOME", "cache");
  CHECK(Config::from_environment().cache_directory == "/home/me/.cache/gpulua");
  const Variable named("GPULUA_CACHE_DIR", "/mine");
  CHECK(Config::from_environment().cache_directory == "/mine");
}

TEST_CASE("a homeless process has no cache directory", "[config]") {
  const Variable home("HOME", nullptr), xdg("XDG_CACHE_HOME", nullptr), own("GPULUA_CACHE_DIR", nullptr);
  CHECK(Config::from_environment().cache_directory.empty());
}

TEST_CASE("the handlers of faults can be left out", "[config]") {
  const Variable unset("GPULUA_FAULT_HANDLERS", nullptr);
  CHECK(Config::from_environment().fault_handlers);
  const Variable off("GPULUA_FAULT_HANDLERS", "0");
  CHECK_FALSE(Config::from_environment().fault_handlers);
  const Variable on("GPULUA_FAULT_HANDLERS", "1");
  CHECK(Config::from_environment().fault_handlers);
  const Variable wrong("GPULUA_FAULT_HANDLERS", "off");
  CHECK_THROWS_AS(Config::from_environment(), Error);
}

TEST_CASE("the cache's limit is a number of bytes", "[config]") {
  const Variable limit("GPULUA_CACHE_LIMIT", "4096");
  CHECK(Config::from_environment().cache_limit == 4096);
  for (const char* wrong : {"1G", "-1", "many"}) {
    const Variable set("GPULUA_CACHE_LIMIT", wrong);
    CHECK_THROWS_AS(Config::from_environment(), Error);
  }
}

TEST_CASE("places of CUDA's libraries", "[config]") {
  const Variable path("LD_LIBRARY_PATH", "/a::/b:"), home("CUDA_HOME", nullptr), cuda("CUDA_PATH", "/toolkit");
  const Variable venv("VIRTUAL_ENV", "/venv"), conda("CONDA_PREFIX", nullptr), user("HOME", "/home/me");
  const Config config = Config::from_environment();
  CHECK(config.library_path == std::vector<std::filesystem::path>{"/a", "/b"});
  CHECK(config.cuda_home == "/toolkit");
  CHECK(config.python_prefixes == std::vector<std::filesystem::path>{"/venv", "/home/me/.local"});
}
