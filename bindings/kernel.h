#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/kernel_argument.h"
#include "bindings/lua.h"
#include "src/core/context.h"
#include "src/device/kernel.h"

namespace gpulua {

/// A kernel as scripts hold it: with its device, and with what its arguments are checked by.
struct BoundKernel {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<Kernel> kernel;
  std::vector<ArgumentRule> rules;  // one for each parameter
  unsigned suggested_block = 0;     // without dynamic shared memory; 0: not asked for yet

  const std::string& name() const { return kernel->entry().name; }
  /// "saxpy(float, const float*, unsigned long)"
  std::string signature() const { return to_string(name(), kernel->entry().signature); }
};
using KernelRef = std::shared_ptr<BoundKernel>;

template <>
struct LuaType<KernelRef> {
  static constexpr const char* name = "a kernel";
};

KernelRef bind_kernel(std::shared_ptr<OpenDevice> device, std::shared_ptr<Kernel> kernel);

/// Makes the metatable of kernels.
void open_kernel_type(lua_State* L);

}  // namespace gpulua
