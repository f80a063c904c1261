#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/job.h"

namespace gpulua {

/// Everything that the environment decides, read in one place. docs/reference.md lists the variables.
struct Config {
  /// GPULUA_DEVICE; empty: cuda:0 if there is one, else cpu.
  std::string device;
  /// Where that name comes from, for messages.
  std::string device_source = "--device or GPULUA_DEVICE";
  /// Devices check the kernels that they run, from the start. No variable: --check sets it.
  bool check = false;
  /// Devices record the kernels that they run, from the start. No variable: --profile sets it.
  bool profile = false;
  /// The dtype of real numbers where a script does not say which: float32 or float64. No variable: --default-dtype sets
  /// it.
  DType default_dtype = DType::float32;
  /// The most bytes of arrays on each device; 0: what the device has. No variable: programs that embed the library set
  /// it.
  std::size_t device_memory = 0;
  /// A CUcontext of the host program's, in place of its device's primary context; null: none. No variable.
  void* cuda_context = nullptr;
  /// A CUstream of the host program's that takes the work of the default device, where that is a GPU. No variable.
  std::optional<void*> cuda_stream;
  /// GPULUA_FAULT_HANDLERS. False: the CPU device leaves the process's signal handlers alone, and a kernel's fault is
  /// the program's to handle; without a handler of its own the program ends.
  bool fault_handlers = true;
  /// GPULUA_FFT. False, for "own": Fourier transforms are our kernels', whatever libraries there are.
  bool fft_libraries = true;
  /// GPULUA_LOG_PLANS. Each new plan is a warning, which has the plan after each pass, and so are the limits of
  /// compiled kernels. For developers.
  bool log_plans = false;
  /// GPULUA_CPU_SCHEDULES. True, for "gpu": the CPU device runs the kernels that a GPU would get. For developers.
  bool gpu_schedules_on_cpu = false;
  /// GPULUA_CPU_TARGET, "x86-64-v3" or "znver3": the processor that the CPU device compiles for, by clang's name;
  /// empty: this one. For developers.
  std::string cpu_target;
  /// GPULUA_CACHE_DIR, else $XDG_CACHE_HOME/gpulua, else ~/.cache/gpulua; empty: none.
  std::filesystem::path cache_directory;
  /// GPULUA_CACHE_LIMIT, bytes.
  std::uintmax_t cache_limit = std::uintmax_t{1} << 30;
  /// CUDA_HOME, else CUDA_PATH; empty: not set.
  std::filesystem::path cuda_home;
  /// Where the toolkit is when neither is set: its installer's default.
  std::filesystem::path default_cuda_home = "/usr/local/cuda";
  /// LD_LIBRARY_PATH.
  std::vector<std::filesystem::path> library_path;
  /// Where pip may have put NVIDIA's wheels: VIRTUAL_ENV, CONDA_PREFIX, ~/.local.
  std::vector<std::filesystem::path> python_prefixes;
  /// Whether this process is one of several that run the same script.
  Job job;

  /// Throws Error for a variable whose value makes no sense.
  static Config from_environment();
};

}  // namespace gpulua
