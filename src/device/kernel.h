#pragma once

// Kernels across the seam: the source a device compiles, and the modules and kernels that come of it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/device/signature.h"

namespace gpulua {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic shared memory a block
  bool cooperative = false;      // all blocks resident at once, so that a grid may synchronise
  Dim3 cluster{0, 0, 0};         // blocks a cluster; 0: none
};

/// CUDA C++ text and how to compile it. Every field is part of the kernel cache's key.
struct KernelSource {
  std::string text;
  std::string file;                  // what `#line` names: the script, so that a message points into it
  int line = 1;                      // the line of `file` where `text` starts
  std::vector<std::string> options;  // NVRTC's: "--use_fast_math", "-DX=1", ...
  std::vector<std::pair<std::string, std::string>> defines;  // macro name, value
  std::vector<std::pair<std::string, std::string>> headers;  // name as in #include, text
  std::vector<std::string> include_dirs;
  std::vector<std::string> names;  // name expressions to instantiate: "axpy<float>"
};

/// A `__global__` function of a compiled module.
struct KernelEntry {
  std::string name;    // as written in the source: "saxpy", "ns::axpy<float>"
  std::string symbol;  // in the image
  Signature signature;
  /// What runs it, where a device has several ways: "simd", or "scalar: " and why no other; else empty.
  std::string engine = {};
  /// Where that is much slower than the device's usual way, and the source did not ask for it: a predicate that tells
  /// the user so, as in "runs thread by thread: recursion".
  std::string warning = {};
};

/// A `__constant__` or `__device__` variable of a compiled module.
struct GlobalEntry {
  std::string name;
  std::string symbol;
  std::string type;  // C++ type, "float [4]"; empty when the image does not tell
  std::size_t bytes = 0;
};

/// What a compiler made of a KernelSource: plain data, so that it can be cached on disk.
struct CompiledModule {
  std::string image;  // cubin, shared object, ...: the device's own format
  std::string ptx;    // the assembly text, where there is one
  std::vector<KernelEntry> kernels;
  std::vector<GlobalEntry> globals;
};

std::string serialize(const CompiledModule& module);
/// Throws Error when `bytes` is not what serialize() made.
CompiledModule deserialize(std::string_view bytes);

/// What the compiler gave a kernel. Sizes in bytes.
struct KernelAttributes {
  int registers = 0;             // a thread; 0 where the device has no such thing
  std::size_t shared_bytes = 0;  // static, a block
  std::size_t local_bytes = 0;   // a thread
  std::size_t constant_bytes = 0;
  unsigned max_threads = 0;  // a block
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  const KernelEntry& entry() const { return entry_; }
  const KernelAttributes& attributes() const { return attributes_; }
  /// Blocks of `threads` threads that one multiprocessor holds at once.
  virtual int occupancy(unsigned threads, std::size_t shared_bytes) const = 0;
  /// A one-dimensional block size that fills the device.
  virtual unsigned suggested_block(std::size_t shared_bytes) const = 0;

 protected:
  explicit Kernel(KernelEntry entry) : entry_(std::move(entry)) {}
  KernelEntry entry_;
  KernelAttributes attributes_;
};

/// A loaded module. It lives as long as someone holds it or one of its kernels.
class Module {
 public:
  virtual ~Module() = default;
  const CompiledModule& compiled() const { return *compiled_; }
  /// `entry` is one of compiled().kernels. The same object for the same entry.
  virtual std::shared_ptr<Kernel> kernel(const KernelEntry& entry) = 0;
  /// Device memory of a global; `entry` is one of compiled().globals. Valid while the module lives.
  virtual void* address(const GlobalEntry& entry) = 0;

 protected:
  explicit Module(std::shared_ptr<const CompiledModule> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const CompiledModule> compiled_;
};

/// The entry that `name` means: the full name, or the unqualified name when only one kernel has it.
/// Throws Error that lists the kernels there are.
const KernelEntry& find_kernel(const CompiledModule& module, std::string_view name);
const GlobalEntry& find_global(const CompiledModule& module, std::string_view name);

/// A grid of so many blocks in one dimension. Throws Error for more than any device runs in one launch.
Dim3 grid_of(std::int64_t blocks);

struct DeviceInfo;
/// Throws Error, naming the limit, for a configuration that the device cannot run: an empty grid, a block too large,
/// more shared memory than there is.
void check_launch(const DeviceInfo& device, const Kernel& kernel, const LaunchConfig& config);

}  // namespace gpulua
