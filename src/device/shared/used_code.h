#pragma once

// What kernels use of the code around them.

#include <memory>
#include <string_view>

#include "src/device/kernel.h"

namespace gpulua {

/// The declarations in a source's text and headers that its kernels and device variables mention, and those that these
/// mention. Names alone decide, without their namespaces, so that more stays than is used. Other parts of a linked
/// module may use the device functions of the text itself.
class UsedCode {
 public:
  explicit UsedCode(KernelSource source);
  UsedCode(UsedCode&& other) noexcept;
  ~UsedCode();

  /// The source with blanks in the place of all others. Lines keep their numbers.
  KernelSource used() const;

  /// Leaves out, too, what a compiler's messages on used() are about, and no longer counts what only that mentions.
  /// Never kernels, device variables, device functions, enumerations, assertions, and members that give a type its
  /// size: where a kernel needs what is left out, it does not compile. False where nothing is found.
  bool leave_out(std::string_view messages);

 private:
  class Finder;
  std::unique_ptr<Finder> finder_;
};

}  // namespace gpulua
