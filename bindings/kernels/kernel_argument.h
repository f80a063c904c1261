#pragma once

// Conversion of a Lua call's arguments to a kernel's arguments, by the kernel's C++ signature.

#include <cstddef>
#include <lua.hpp>
#include <string>
#include <vector>

#include "bindings/kernels/argument_rule.h"
#include "bindings/kernels/host_argument.h"
#include "src/runtime/buffer.h"

namespace gpulua {

struct BoundKernel;

/// Storage for the argument values of a launch. Its addresses never change, so repeated launches reuse it.
class ArgumentBlock {
 public:
  explicit ArgumentBlock(const Signature& signature);

  /// The storage of parameter `i`.
  void* value(std::size_t i) { return pointers_[i]; }
  /// The array of pointers that Device::launch takes.
  void** pointers() { return pointers_.data(); }

 private:
  // A device can use a value in place, so each slot has the strictest alignment of CUDA's own types.
  struct alignas(32) Slot {
    std::byte bytes[32];
  };
  std::vector<Slot> slots_;
  std::vector<void*> pointers_;
};

/// Reads the arguments of one call. The first is at stack index 2.
struct ArgumentReader {
  lua_State* L;
  BoundKernel& kernel;
  const StreamRef& stream;              // the stream of the launch
  std::vector<const Buffer*>& outputs;  // the buffers that the kernel is given to write
  std::vector<StagedArgument> staged;   // copies of the host arguments read so far
  std::vector<BufferRef> guarded;       // input buffers whose elements depend on checks

  /// Writes the value of parameter `i` to `value`. Throws Error "[saxpy] argument 2 (x): expected ..., got ...".
  void read(std::size_t i, void* value);
  /// Makes the buffers that the kernel may write depend on the checks of its inputs. Called after all arguments were
  /// read.
  void guard_outputs() const;
  /// Throws Error when all arrays that the kernel's text assigns are temporaries, so that the launch would have
  /// no effect. Called before the arguments are read, which evaluates them.
  void check_outputs() const;

 private:
  void read_scalar(int index, const ArgumentRule& rule, void* value) const;
  /// Reads a texture or a surface; false for another value.
  bool read_texture(int index, void* value) const;
  void read_vector(int index, const ArgumentRule& rule, void* value) const;
  void read_record(int index, const ArgumentRule& rule, void* value) const;
  void read_pointer(int index, const ArgumentRule& rule, void* value);
  void read_other_pointer(int index, const ArgumentRule& rule, void* value);
  void read_untyped(int index, const ArgumentRule& rule, void* value);
  /// True iff the kernel can take the array's first element for a pointer.
  bool takes(Node& array, const ArgumentRule& rule) const;
  /// Throws the Error about an array that the kernel cannot take.
  [[noreturn]] void refuse_array(int index, Node& array, const ArgumentRule& rule) const;
  void* address_of(Node& array, const ArgumentRule& rule);
  /// Reads an address that is not an array: gpu.null, an FFI or C pointer, a host argument. Returns false for another
  /// value.
  bool read_address(int index, const ArgumentRule& rule, void* value);
  [[noreturn]] void refuse(int index, const std::string& message) const;
};

}  // namespace gpulua
