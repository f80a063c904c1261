#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/kernel_argument.h"
#include "bindings/lua.h"
#include "src/device/kernel.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A kernel as scripts hold it: with its device, and with what its arguments are checked by.
struct BoundKernel {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<Kernel> kernel;
  std::shared_ptr<const std::string> source;  // of its module, for messages; null: none
  std::vector<ArgumentRule> rules;            // one for each parameter
  bool dynamic_shared = false;                // it uses an `extern __shared__` array, as far as its source tells
  unsigned suggested_block = 0;               // without dynamic shared memory; 0: not asked for yet

  const std::string& name() const { return kernel->entry().name; }
  /// "saxpy(float, const float*, unsigned long)"
  std::string signature() const { return to_string(name(), kernel->entry().signature); }
  /// "[saxpy] argument 2 (x): ", for messages about parameter `i`, counted from 0.
  std::string argument_text(std::size_t i) const;
};
using KernelRef = std::shared_ptr<BoundKernel>;

template <>
struct LuaType<KernelRef> {
  static constexpr const char* name = "a kernel";
};

/// What runs it: "simd", or "scalar: " and why not as vector code; or the device's kind where that has one way alone.
std::string engine_of(const BoundKernel& kernel);

KernelRef bind_kernel(std::shared_ptr<OpenDevice> device, std::shared_ptr<Kernel> kernel,
                      std::shared_ptr<const std::string> source);

/// Makes the metatable of kernels.
void open_kernel_type(lua_State* L);

}  // namespace gpulua
