#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/kernels/kernel_argument.h"
#include "bindings/lua/lua.h"
#include "src/device/kernel.h"
#include "src/device/shared/source_textures.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A script's kernel object: the kernel, its device, and the rules for its arguments.
struct BoundKernel {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<Kernel> kernel;
  std::shared_ptr<const std::string> source;          // source of the module, for messages; null: not known
  std::vector<ArgumentRule> rules;                    // one for each parameter
  bool is_library = false;                            // the source is the library's own
  bool is_of_lua = false;                             // gpu.jit has made it of a Lua function
  bool dynamic_shared = false;                        // the source shows an `extern __shared__` array
  unsigned suggested_block = 0;                       // without dynamic shared memory; 0: not computed yet
  std::optional<std::vector<std::size_t>> written{};  // see written_parameters()
  std::optional<std::vector<TextureUse>> textures{};  // see texture_uses()

  const std::string& name() const { return kernel->entry().name; }
  /// "saxpy(float, const float*, unsigned long)"
  std::string signature() const { return to_string(name(), kernel->entry().signature); }
  /// Which parameters the source shows to be written. Reads the source at the first call.
  const std::vector<std::size_t>& written_parameters();
  /// The reads of textures and surfaces that the source shows. Reads the source at the first call.
  const std::vector<TextureUse>& texture_uses();
  /// "[saxpy] argument 2 (x): ", for messages about parameter `i`, counted from 0.
  std::string argument_text(std::size_t i) const;
};
using KernelRef = std::shared_ptr<BoundKernel>;

template <>
struct LuaType<KernelRef> {
  static constexpr const char* name = "a kernel";
};

/// The engine that runs the kernel: "simd"; "scalar: " and the reason why there is no vector code; or the device's
/// kind, for a device with a single engine.
std::string engine_of(const BoundKernel& kernel);

/// Makes a script's kernel object, with the rules from the kernel's signature.
KernelRef bind_kernel(std::shared_ptr<OpenDevice> device, std::shared_ptr<Kernel> kernel,
                      std::shared_ptr<const std::string> source, bool is_of_lua = false);

/// Whether it is a function of kernels that makes a launch.
bool makes_launch(lua_CFunction function);

/// Creates the metatable of kernels.
void open_kernel_type(lua_State* L);

}  // namespace gpulua
