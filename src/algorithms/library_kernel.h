#pragma once

// Launches of device functions that we ship (kernels/*.cuh).

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "src/array/uses.h"
#include "src/base/dtype.h"
#include "src/runtime/kernel_arguments.h"

namespace gpulua {

struct UserFunction;

/// Types of device code: an element ("float"), a pointer to elements that the kernel reads ("const float*"), and a
/// pointer to elements that it writes ("float*").
std::string device_type(DType dtype);
std::string read_pointer(DType dtype);
std::string write_pointer(DType dtype);

/// A kernel that calls one device function template, and the arguments of one launch. The first launch compiles it.
class LibraryKernel {
 public:
  /// `headers`: files of kernels/ that the function needs in addition to elements, arithmetic and indexing. `function`:
  /// the name with its template arguments. The arguments can name types that `user`, a script's code, defines.
  LibraryKernel(OpenDevice& device, std::initializer_list<std::string_view> headers, std::string function,
                const UserFunction* user = nullptr);

  /// Appends a number, whose C++ type is the type of the parameter.
  template <class T>
  requires std::integral<T> || std::floating_point<T> LibraryKernel& add(T value) {
    return add_value(type_of(value), &value, sizeof value);
  }
  /// Appends the address of an array that the kernel uses as Uses says. `type` is the parameter's type: by default a
  /// pointer to the array's elements, "const float*" or "float*". A null array has a type.
  LibraryKernel& in(const Array& array, const std::string& type = {}) {
    return add(type.empty() ? read_pointer(array->dtype) : type, uses_.in(array));
  }
  LibraryKernel& out(const Array& array, const std::string& type = {}) {
    return add(type.empty() ? write_pointer(array->dtype) : type, uses_.out(array));
  }
  LibraryKernel& overwrite(const Array& array, const std::string& type) { return add(type, uses_.overwrite(array)); }
  LibraryKernel& in_out(const Array& array, const std::string& type = {}) {
    return add(type.empty() ? write_pointer(array->dtype) : type, uses_.in_out(array));
  }
  /// Appends an address in scratch memory, whose elements are not needed after the launch.
  LibraryKernel& scratch(const std::string& type, const Array& memory, std::size_t first_byte = 0) {
    return add(type, memory->write(device_.stream()) + first_byte);
  }
  /// Appends an address in memory that is no array's.
  LibraryKernel& add(std::string_view type, const void* pointer) { return add_value(type, &pointer, sizeof pointer); }
  /// Appends the record of a fault, the script's line, two arguments, and the operation's name or the message. The
  /// results are valid only if the kernel reports no fault. Gives the record.
  const IndexFault* add_fault(const std::string& op);

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
  LibraryKernel& add_value(std::string_view type, const void* value, std::size_t bytes);
  std::string name() const;
  std::string text(unsigned threads, unsigned resident) const;

  OpenDevice& device_;
  std::vector<std::string_view> headers_;
  std::string function_;
  const UserFunction* user_;
  std::string types_;  // of the parameters, each with the end of its line: "float*\nlong long\n"
  Arguments arguments_;
  Uses uses_;
};

}  // namespace gpulua
