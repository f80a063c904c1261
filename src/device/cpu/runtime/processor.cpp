#include "src/device/cpu/runtime/processor.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace gpulua::cpu {
namespace {

/// The x86-64 psABI's levels: v2 has SSE4.2, v3 AVX2 and FMA, v4 the AVX-512 of servers.
std::string architecture_level() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "x86-64-v4";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return "x86-64-v3";
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) return "x86-64-v2";
  return "x86-64";
#else
  return "aarch64";
#endif
}

}  // namespace

Processor describe_processor() {
  Processor processor;
  processor.architecture = architecture_level();
  processor.cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  processor.memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {  // the first processor's paragraph
    std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("model name")) processor.model = line.substr(colon + 2);
    if (line.starts_with("flags") || line.starts_with("Features")) processor.features = line.substr(colon + 2);
  }
  if (processor.model.empty()) processor.model = processor.architecture;
  return processor;
}

}  // namespace gpulua::cpu
