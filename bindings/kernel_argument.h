#pragma once

// From the values of a Lua call to the values a kernel is launched with, by the kernel's C++ signature.

#include <cstddef>
#include <lua.hpp>
#include <string>
#include <vector>

#include "bindings/argument_rule.h"
#include "bindings/host_argument.h"

namespace gpulua {

struct BoundKernel;

/// The values of a launch's arguments, in memory that stays where it is: a launch can fill and pass it again and again.
class ArgumentBlock {
 public:
  explicit ArgumentBlock(const Signature& signature);

  /// Where the value of parameter `i` goes.
  void* value(std::size_t i) { return pointers_[i]; }
  /// As Device::launch takes them.
  void** pointers() { return pointers_.data(); }

 private:
  // A device may use a value where it lies, so it has the strictest alignment of CUDA's own types.
  struct alignas(32) Slot {
    std::byte bytes[32];
  };
  std::vector<Slot> slots_;
  std::vector<void*> pointers_;
};

/// Reads the arguments of one call; the first stands at index 2.
struct ArgumentReader {
  lua_State* L;
  const BoundKernel& kernel;
  const StreamRef& stream;             // of the launch
  std::vector<StagedArgument> staged;  // the host arguments read so far
  std::vector<BufferRef> guarded;      // what the kernel reads whose elements depend on checks

  /// Writes the value of parameter `i` to `value`. Throws Error "[saxpy] argument 2 (x): expected ..., got ...".
  void read(std::size_t i, void* value);
  /// All arguments were read: what the kernel may write depends on what it reads.
  void guard_outputs() const;

 private:
  void read_scalar(int index, const ArgumentRule& rule, void* value) const;
  void read_vector(int index, const ArgumentRule& rule, void* value) const;
  void read_record(int index, const ArgumentRule& rule, void* value) const;
  void read_pointer(int index, const ArgumentRule& rule, void* value);
  void read_other_pointer(int index, const ArgumentRule& rule, void* value);
  void read_untyped(int index, const ArgumentRule& rule, void* value);
  /// True iff the kernel can take the array's first element for a pointer.
  bool takes(Node& array, const ArgumentRule& rule) const;
  /// Says why it cannot.
  [[noreturn]] void refuse_array(int index, Node& array, const ArgumentRule& rule) const;
  void* address_of(Node& array, const ArgumentRule& rule);
  /// Takes what stands for an address without being an array: gpu.null, an FFI or C pointer, a host argument.
  bool read_address(int index, const ArgumentRule& rule, void* value);
  [[noreturn]] void refuse(int index, const std::string& message) const;
};

}  // namespace gpulua
