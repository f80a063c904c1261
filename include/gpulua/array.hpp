#ifndef GPULUA_ARRAY_HPP
#define GPULUA_ARRAY_HPP

// Errors and arrays of gpulua.hpp, which includes this.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpulua.h"

namespace gpulua {

/// What failed. what() has the text, with the traceback of a script's error.
class Error : public std::runtime_error {
 public:
  Error(gpulua_status status, const std::string& text, std::exception_ptr cause = nullptr)
      : std::runtime_error(text), status_(status), cause_(std::move(cause)) {}
  gpulua_status status() const noexcept { return status_; }
  /// The exception of a bound C++ function that the script has called and whose error it has not handled: null if there
  /// was none. std::rethrow_exception(error.cause()) throws it as the class that it is of.
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  gpulua_status status_;
  std::exception_ptr cause_;
};

namespace detail {

/// False, for a static_assert that fails where its template is used.
template <class...>
inline constexpr bool never = false;

/// What a bound function has thrown, until the call that has called it returns; and the number of the exception on this
/// thread, as gpulua_fail_with() takes it.
struct Thrown {
  std::exception_ptr exception;
  std::uintptr_t number = 0;
};
inline thread_local Thrown thrown;

/// Throws for a status that is not GPULUA_OK.
inline void check(gpulua_status status) {
  const Thrown last = std::exchange(thrown, {});
  if (status == GPULUA_OK) return;
  const bool is_cause = last.exception && gpulua_error_cause() == reinterpret_cast<void*>(last.number);
  throw Error(status, gpulua_error(nullptr), is_cause ? last.exception : nullptr);
}

/// The argument with that number, from 1, for messages; empty for 0.
inline std::string argument_text(std::size_t argument) {
  return argument > 0 ? " as argument " + std::to_string(argument) : "";
}

/// The handle of an object that has one.
template <class Handle>
Handle* checked(Handle* handle, const char* op, const char* what, std::size_t argument = 0) {
  if (handle == nullptr)
    throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected " + what + argument_text(argument) +
                                     ", got one that is empty or moved from");
  return handle;
}

/// The integer, for the C interface.
template <class Integer>
std::int64_t to_int64(Integer from, const char* op, std::size_t argument = 0) {
  if constexpr (sizeof(Integer) == 8 && std::is_unsigned_v<Integer>)
    if (from > static_cast<Integer>(std::numeric_limits<std::int64_t>::max()))
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected an integer that int64_t holds" +
                                       argument_text(argument) + ", got " + std::to_string(from));
  return static_cast<std::int64_t>(from);
}

inline void retain(gpulua_array* array) noexcept {
  gpulua_array_retain(array);
}
inline void retain(gpulua_function* function) noexcept {
  gpulua_function_retain(function);
}
inline void release(gpulua_array* array) noexcept {
  gpulua_array_release(array);
}
inline void release(gpulua_function* function) noexcept {
  gpulua_function_release(function);
}

/// A handle, of which each copy is one use.
template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* handle) noexcept : handle_(handle) {}
  Handle(const Handle& other) noexcept : handle_(other.get()) {
    if (get() != nullptr) retain(get());
  }
  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle other) noexcept {
    handle_.swap(other.handle_);
    return *this;
  }
  ~Handle() = default;
  T* get() const noexcept { return handle_.get(); }

 private:
  struct Release {
    void operator()(T* handle) const noexcept { release(handle); }
  };
  std::unique_ptr<T, Release> handle_;
};

template <class T>
constexpr const char* dtype_of() {
  using U = std::remove_cv_t<T>;
  constexpr bool is_real = std::is_arithmetic_v<U> && !std::is_same_v<U, long double>;
  constexpr bool is_single = std::is_same_v<U, std::complex<float>>,
                 is_double = std::is_same_v<U, std::complex<double>>;
  static_assert(is_real || is_single || is_double, "elements are bool, integers, floats, or std::complex of floats");
  if constexpr (is_single) return "complex64";
  if constexpr (is_double) return "complex128";
  if constexpr (std::is_same_v<U, bool>) return "bool";
  if constexpr (std::is_same_v<U, float>) return "float32";
  if constexpr (std::is_same_v<U, double>) return "float64";
  if constexpr (std::is_signed_v<U>) {
    return sizeof(U) == 1 ? "int8" : sizeof(U) == 2 ? "int16" : sizeof(U) == 4 ? "int32" : "int64";
  } else {
    return sizeof(U) == 1 ? "uint8" : sizeof(U) == 2 ? "uint16" : sizeof(U) == 4 ? "uint32" : "uint64";
  }
}

}  // namespace detail

/// Elements in the processor's memory, one after the other.
template <class T>
class Span {
 public:
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t size_;
};

/// The extents of an array: an integer of any type, several in braces, {rows, columns}, or a std::vector of them.
class Shape {
 public:
  template <class... Integer, class = std::enable_if_t<(std::is_integral_v<Integer> && ...)>>
  Shape(Integer... extents) : extents_{detail::to_int64(extents, "shape")...} {}
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Shape(const std::vector<Integer>& extents) {
    for (const Integer extent : extents) extents_.push_back(detail::to_int64(extent, "shape"));
  }
  int ndim() const noexcept { return static_cast<int>(extents_.size()); }
  const std::int64_t* data() const noexcept { return extents_.data(); }

  /// Throws for a shape of more or fewer elements than a container has.
  void check_count(const char* op, std::size_t elements) const {
    std::uint64_t count = 1;
    std::string text;
    for (const std::int64_t extent : extents_) {
      count *= static_cast<std::uint64_t>(extent);
      text += (text.empty() ? "" : ",") + std::to_string(extent);
    }
    if (count != elements)
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected a shape for the " + std::to_string(elements) +
                                       " elements that there are, got (" + text + ") for " + std::to_string(count) +
                                       "; v.data() and a shape take a part of them");
  }

 private:
  std::vector<std::int64_t> extents_;
};

/// An array on a device. A copy of the object is the same array; State::copy() and gpu.copy copy elements.
class Array {
 public:
  Array() = default;
  /// Takes the handle over.
  explicit Array(gpulua_array* handle) : handle_(handle) {}
  gpulua_array* handle() const noexcept { return handle_.get(); }

  std::string_view dtype() const { return text(gpulua_array_dtype(checked())); }
  std::string_view device() const { return text(gpulua_array_device_name(checked())); }
  std::vector<std::int64_t> shape() const { return dims(gpulua_array_shape(checked())); }
  /// In bytes.
  std::vector<std::int64_t> strides() const { return dims(gpulua_array_strides(checked())); }
  std::int64_t size() const noexcept { return gpulua_array_size(handle()); }
  int ndim() const { return static_cast<int>(shape().size()); }
  template <class Index>
  void operator[](const Index&) const {
    static_assert(detail::never<Index>,
                  "x.to_vector<float>()[i] reads an element, on the cpu device x.span<float>()[i] where it is; "
                  "a script takes a part of an array: x[2]");
  }

  /// The address of the first element, on the device, for work on `reader`, a CUstream. T is the array's element. An
  /// Error where the elements do not lie in row-major order; gpulua_array_evaluate() gives the address of any array.
  template <class T = void>
  T* data(void* reader = GPULUA_NO_STREAM) const {
    static_assert(!std::is_void_v<T>, "data() is told the element's type: x.data<float>()");
    check_element<T>();
    const std::int64_t *sizes = gpulua_array_shape(handle()), *steps = gpulua_array_strides(handle());
    std::int64_t step = sizeof(T);
    for (int axis = size() > 0 ? gpulua_array_ndim(handle()) : 0; axis-- > 0; step *= sizes[axis])
      if (steps[axis] != step && sizes[axis] > 1)
        throw Error(GPULUA_ARGUMENT, "[array] expected elements in row-major order, got a stride of " +
                                         std::to_string(steps[axis]) + " bytes on axis " + std::to_string(axis + 1) +
                                         "; gpu.contiguous(x) has them so");
    void* pointer = nullptr;
    detail::check(gpulua_array_evaluate(handle(), reader, &pointer));
    return static_cast<T*>(pointer);
  }
  /// The elements of an array on the cpu device, where they are, in row-major order; an Error where they lie otherwise.
  template <class T>
  Span<T> span() const {
    if (device() != "cpu")
      throw Error(GPULUA_ARGUMENT, "[span] expected an array on cpu, got one on " + std::string(device()));
    return Span<T>(data<T>(), static_cast<std::size_t>(size()));
  }
  /// All elements, in row-major order.
  template <class T>
  std::vector<T> to_vector() const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory: read uint8_t");
    check_element<T>();
    std::vector<T> elements(static_cast<std::size_t>(size()));
    detail::check(gpulua_array_copy_to(handle(), elements.data(), elements.size() * sizeof(T)));
    return elements;
  }
  /// Of a std::vector, std::array, std::span or their like.
  template <class Elements>
  void assign(const Elements& elements) {
    assign(elements.data(), elements.size());
  }
  template <class T>
  void assign(const T* elements, std::size_t count) {
    if (!has_element<T>())
      throw Error(GPULUA_ARGUMENT, "[assign] expected elements of " + std::string(dtype()) +
                                       ", as the array's are, got " + detail::dtype_of<T>());
    detail::check(gpulua_array_copy_from(handle(), elements, count * sizeof(T)));
  }

 private:
  static std::string_view text(const char* text) {
    if (text == nullptr) throw Error(GPULUA_ARGUMENT, gpulua_error(nullptr));
    return text;
  }
  std::vector<std::int64_t> dims(const std::int64_t* first) const {
    if (first == nullptr && gpulua_array_ndim(handle()) != 0) throw Error(GPULUA_ARGUMENT, gpulua_error(nullptr));
    return std::vector<std::int64_t>(first, first + gpulua_array_ndim(handle()));
  }
  gpulua_array* checked() const { return detail::checked(handle(), "array", "an array"); }
  /// Elements of bool are read and written as bytes, too.
  template <class T>
  bool has_element() const {
    const std::string_view got = dtype();
    return got == detail::dtype_of<T>() || (got == "bool" && sizeof(T) == 1);
  }
  template <class T>
  void check_element() const {
    const std::string wanted = detail::dtype_of<T>();
    if (!has_element<T>())
      throw Error(GPULUA_ARGUMENT, "[array] expected an array of " + wanted + ", got one of " + std::string(dtype()) +
                                       "; x:astype(\"" + wanted + "\") converts it");
  }

  detail::Handle<gpulua_array> handle_;
};

}  // namespace gpulua

#endif
