#pragma once

// Kernels across the seam: the source that a device compiles, and the modules and kernels that it makes of it.

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
  bool operator==(const Dim3&) const = default;
};

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic shared memory of each block
  bool cooperative = false;      // all blocks are resident at once, so the grid can synchronise
  Dim3 cluster{0, 0, 0};         // blocks of a cluster; 0: no clusters
};

/// CUDA C++ text and how to compile it. Every field is part of the kernel cache's key.
struct KernelSource {
  std::string text;
  std::string file;                  // the name for `#line`: the script, so that messages point into it
  int line = 1;                      // the line of `file` where `text` starts
  std::vector<std::string> options;  // NVRTC's: "--use_fast_math", "-DX=1", ...
  std::vector<std::pair<std::string, std::string>> defines;  // macro name, value
  std::vector<std::pair<std::string, std::string>> headers;  // name as in #include, text
  std::vector<std::string> include_dirs;
  std::vector<std::string> names;  // name expressions to instantiate: "axpy<float>"
  /// A promise of the caller: each launch has blocks of whole warps along x. A device may then make code for these
  /// alone.
  bool whole_warps = false;
  /// The text was made of a Lua function: its parameters are named `x_p1`, its arrays `tile_array1`, for Lua's x and
  /// tile. Diagnostics name these, and count from 1.
  bool lua_function = false;
  /// The library's own: its functions named gpulua_... take right addresses, and are not checked.
  bool own = false;
  /// Compiled code in one of the device's formats, in place of the text. Parts alone have it.
  std::string image = {};
  /// What is compiled each on its own and linked to one module, in place of the text.
  std::vector<KernelSource> parts = {};
};

/// "part 2 (script.lua:12)": the `index`-th part, from 0, in messages.
std::string part_name(const KernelSource& whole, std::size_t index);

/// A `__global__` function of a compiled module.
struct KernelEntry {
  std::string name;    // as written in the source: "saxpy", "ns::axpy<float>"
  std::string symbol;  // in the image
  Signature signature;
  /// The engine that runs the kernel, where a device has several: "simd", or "scalar: " and the reason; else empty.
  std::string engine = {};
  /// Set where that engine is much slower than the device's usual one and the source did not ask for it. A predicate
  /// for the kernel's name, such as "runs thread by thread: recursion".
  std::string warning = {};
  /// What the compiler left out because it would take too long, in words; else empty.
  std::string limits = {};
};

/// A `__constant__` or `__device__` variable of a compiled module.
struct GlobalEntry {
  std::string name;
  std::string symbol;
  std::string type;  // C++ type, "float [4]"; empty where the image has none
  std::size_t bytes = 0;
};

/// The result of compiling a KernelSource: plain data, so that it can be cached on disk.
struct CompiledModule {
  std::string image;  // cubin, shared object, ...: the device's own format
  std::string ptx;    // the assembly text, where there is one
  std::vector<KernelEntry> kernels;
  std::vector<GlobalEntry> globals;
  std::string ir = {};  // where code was left out until it is needed: what the device makes it of
};

std::string serialize(const CompiledModule& module);
/// Throws Error when `bytes` is not what serialize() made.
CompiledModule deserialize(std::string_view bytes);

/// The resources that a compiled kernel takes. Sizes in bytes.
struct KernelAttributes {
  int registers = 0;             // of a thread; 0 where the device does not count them
  std::size_t shared_bytes = 0;  // static, of a block
  std::size_t local_bytes = 0;   // of a thread
  std::size_t constant_bytes = 0;
  unsigned max_threads = 0;  // of a block
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  const KernelEntry& entry() const { return entry_; }
  const KernelAttributes& attributes() const { return attributes_; }
  /// The number of blocks of `threads` threads that are resident on a multiprocessor.
  virtual int occupancy(unsigned threads, std::size_t shared_bytes) const = 0;
  /// A one-dimensional block size that fills the device.
  virtual unsigned suggested_block(std::size_t shared_bytes) const = 0;

 protected:
  explicit Kernel(KernelEntry entry) : entry_(std::move(entry)) {}
  KernelEntry entry_;
  KernelAttributes attributes_;
};

/// A loaded module. A kernel keeps its module loaded.
class Module {
 public:
  virtual ~Module() = default;
  const CompiledModule& compiled() const { return *compiled_; }
  /// The kernel of `entry`, one of compiled().kernels. Calls with the same entry return the same object.
  virtual std::shared_ptr<Kernel> kernel(const KernelEntry& entry) = 0;
  /// The device memory of `entry`, one of compiled().globals. Valid while the module lives.
  virtual void* address(const GlobalEntry& entry) = 0;

 protected:
  explicit Module(std::shared_ptr<const CompiledModule> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const CompiledModule> compiled_;
};

/// The entry with that name. An unqualified name will do where one entry alone has it. Throws Error, which lists the
/// module's entries, when there is none.
const KernelEntry& find_kernel(const CompiledModule& module, std::string_view name);
const GlobalEntry& find_global(const CompiledModule& module, std::string_view name);

/// A one-dimensional grid. Throws Error for more blocks than any device runs in one launch.
Dim3 grid_of(std::int64_t blocks);

struct DeviceInfo;
/// Throws Error, which names the limit, for a configuration that the device cannot run: an empty grid, a block that is
/// too large, too much shared memory.
void check_launch(const DeviceInfo& device, const Kernel& kernel, const LaunchConfig& config);

}  // namespace gpulua
