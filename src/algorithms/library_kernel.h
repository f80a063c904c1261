#pragma once

// Launches of device functions that we ship (kernels/*.cuh).

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "src/base/dtype.h"
#include "src/runtime/kernel_arguments.h"
#include "src/runtime/open_device.h"

namespace gpulua {

struct UserFunction;

/// A kernel that calls one device function template, and the arguments of one launch. The first launch compiles it.
class LibraryKernel {
 public:
  /// `headers`: files of kernels/ that the function needs in addition to elements, arithmetic and indexing. `function`:
  /// the name with its template arguments. The arguments can name types that `user`, a script's code, defines.
  LibraryKernel(OpenDevice& device, std::initializer_list<std::string_view> headers, std::string function,
                const UserFunction* user = nullptr);

  /// Appends an argument. A number's C++ type is the type of the parameter; for a pointer, `type` names it: "const
  /// float*".
  template <class T>
  requires std::integral<T> || std::floating_point<T> LibraryKernel& add(T value) {
    return add_value(type_of(value), &value, sizeof value);
  }
  LibraryKernel& add(const std::string& type, const void* pointer) { return add_value(type, &pointer, sizeof pointer); }

  /// Queues the launch on the device's current stream. `threads`: threads per block. `resident`: minimum resident
  /// blocks per multiprocessor, for which the compiler limits the registers of a thread; 0: the compiler chooses.
  /// `shared`: bytes of dynamic shared memory.
  void launch(std::int64_t blocks, unsigned threads, unsigned resident = 0, std::size_t shared = 0);

 private:
  static const char* type_of(bool) { return "bool"; }
  static const char* type_of(float) { return "float"; }
  static const char* type_of(double) { return "double"; }
  static const char* type_of(std::int32_t) { return "int"; }
  static const char* type_of(std::uint32_t) { return "unsigned int"; }
  static const char* type_of(std::int64_t) { return "long long"; }
  LibraryKernel& add_value(const std::string& type, const void* value, std::size_t bytes);
  std::string name() const;
  std::string text(unsigned threads, unsigned resident) const;

  OpenDevice& device_;
  std::vector<std::string_view> headers_;
  std::string function_;
  const UserFunction* user_;
  std::string parameters_, names_;  // "float* a0, long long a1", "a0, a1"
  int count_ = 0;
  Arguments arguments_;
};

/// Types of device code: an element ("float"), a pointer to elements that the kernel reads ("const float*"), and a
/// pointer to elements that it writes ("float*").
std::string device_type(DType dtype);
std::string read_pointer(DType dtype);
std::string write_pointer(DType dtype);

}  // namespace gpulua
