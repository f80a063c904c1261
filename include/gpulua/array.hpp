#ifndef GPULUA_ARRAY_HPP
#define GPULUA_ARRAY_HPP

// Arrays of gpulua.hpp, which includes this.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "gpulua.h"
#include "methods.hpp"
#include "shape.hpp"

namespace gpulua {
namespace detail {

/// The handle of an object that has one.
template <class Handle>
Handle* checked(Handle* handle, const char* op, const char* what, const Target& target = {}) {
  if (handle == nullptr)
    throw Error(GPULUA_ARGUMENT,
                std::string("[") + op + "] expected " + what + target.text() + ", got one that is empty or moved from");
  return handle;
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

template <class T, class = void>
inline constexpr bool has_size = false;
template <class T>
inline constexpr bool has_size<T, std::void_t<decltype(std::size(std::declval<const T&>()))>> = true;
template <class T, class = void>
inline constexpr bool has_data = false;
template <class T>
inline constexpr bool has_data<T, std::void_t<decltype(std::data(std::declval<T&>()))>> = true;

/// Whether the elements of a container lie one after the other; does not compile where they do not.
template <class Elements>
inline constexpr bool is_in_row = [] {
  constexpr bool is_bits = std::is_same_v<std::remove_cv_t<Elements>, std::vector<bool>>;
  static_assert(
      has_data<Elements> || is_bits,
      "elements lie one after the other, as in a std::vector, std::array or std::span, or at a pointer with a "
      "shape");
  return has_data<Elements> && !is_bits;
}();

/// The same for borrow().
template <class Elements>
inline constexpr bool can_borrow = [] {
  static_assert(!std::is_same_v<std::remove_cv_t<Elements>, std::vector<bool>>,
                "std::vector<bool> has no elements in memory: state.copy(v) makes a mask of it; an array of a "
                "std::vector<std::uint8_t> is of numbers, of which m:astype(\"bool\") in the script makes a mask");
  return is_in_row<Elements>;
}();

template <class T>
constexpr const char* dtype_of() {
  using U = std::remove_cv_t<T>;
  constexpr bool is_real = std::is_arithmetic_v<U> && !std::is_same_v<U, long double>;
  constexpr bool is_single = std::is_same_v<U, std::complex<float>>,
                 is_double = std::is_same_v<U, std::complex<double>>;
  constexpr bool is_row = has_size<U>, is_struct = std::is_class_v<U> && !is_row && !is_single && !is_double;
  static_assert(!is_row,
                "elements lie one after the other: rows go into one std::vector, state.copy(v, {rows, columns})");
  static_assert(!is_struct,
                "one member of structs makes an array: state.borrow(v, &Body::mass), or at a pointer "
                "state.borrow(&v[0].mass, count, gpulua::Strides(sizeof v[0]))");
  static_assert(is_real || is_single || is_double || is_row || is_struct,
                "elements are bool, integers, floats, or std::complex of floats");
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

/// Elements of an array in the processor's memory, one after the other. It keeps the array, and so its memory until the
/// end of the State.
template <class T>
class Span {
 public:
  Span() = delete;  // x.span<float>() gives one
  Span(T* data, std::size_t size, detail::Handle<gpulua_array> array)
      : data_(data), size_(size), array_(std::move(array)) {}
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t size_;
  detail::Handle<gpulua_array> array_;
};

/// An array on a device. A copy of the object is the same array; State::copy() and gpu.copy copy elements.
class Array : public detail::MethodsOfScripts {
 public:
  Array() = default;
  /// Takes the handle over.
  explicit Array(gpulua_array* handle) : handle_(handle) {}
  template <class Elements, class... More, class = std::enable_if_t<detail::has_size<Elements>>>
  explicit Array(const Elements&, const More&...) = delete;  // state.copy(v) or state.borrow(v) makes an array
  gpulua_array* handle() const noexcept { return handle_.get(); }

  std::string_view dtype() const { return dtype_for("dtype"); }
  std::string_view device() const { return device_for("device"); }
  std::vector<std::int64_t> shape() const { return dims(gpulua_array_shape(checked("shape")), "shape"); }
  /// In bytes.
  std::vector<std::int64_t> strides() const { return dims(gpulua_array_strides(checked("strides")), "strides"); }
  std::int64_t size() const {
    const std::int64_t elements = gpulua_array_size(checked("size"));
    if (elements < 0) throw closed("size");
    return elements;
  }
  int* begin() const = delete;  // for (float y : x.span<float>()), or x.to_vector<float>() on any device
  int* end() const;             // never defined: the compiler names begin() alone
  int ndim() const { return static_cast<int>(shape().size()); }
  template <class Index>
  detail::Refused operator[](const Index&) const {
    static_assert(detail::never<Index>,
                  "x.to_vector<float>()[i] reads an element, on the cpu device x.span<float>()[i] where it is; "
                  "a script takes a part of an array: x[2]");
    return {};
  }

  /// The address of the first element, on the device, for work on `reader`, a CUstream. T is the array's element. An
  /// Error where the elements do not lie in row-major order; gpulua_array_evaluate() gives the address of any array.
  template <class T = void>
  T* data(void* reader = GPULUA_NO_STREAM) const& {
    static_assert(!std::is_void_v<T>, "data() is told the element's type: x.data<float>()");
    return address<T>("data", reader);
  }
  template <class T = void>
  T* data(void* = GPULUA_NO_STREAM) const&& {
    static_assert(
        detail::never<T>,
        "the memory of a temporary array ends with its statement: keep the array in a variable, x.data<float>(), "
        "or take x.span<float>(), which keeps it");
    return nullptr;
  }
  /// The elements of an array on the cpu device, where they are, in row-major order; an Error where they lie otherwise.
  template <class T>
  Span<T> span() const {
    if (const std::string_view where = device_for("span"); where != "cpu")
      throw Error(GPULUA_ARGUMENT, "[span] expected an array on cpu, got one on " + std::string(where) +
                                       "; x.to_vector copies the elements from any device");
    return Span<T>(address<T>("span", GPULUA_NO_STREAM), static_cast<std::size_t>(size()), handle_);
  }
  detail::Refused span() const = delete;  // span() is told the element's type: x.span<float>()
  /// All elements, in row-major order.
  template <class T>
  std::vector<T> to_vector() const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory: read uint8_t");
    check_element<T>("to_vector");
    std::vector<T> elements(static_cast<std::size_t>(size()));
    detail::check(gpulua_array_copy_to(handle(), elements.data(), elements.size() * sizeof(T)),
                  {"array_", "to_vector"});
    return elements;
  }
  detail::Refused to_vector() const = delete;  // to_vector() is told the element's type: x.to_vector<float>()
  /// Of a std::vector, std::array, std::span or their like.
  template <class Elements>
  void assign(const Elements& elements) {
    assign(elements.data(), elements.size());
  }
  template <class T>
  void assign(const T* elements, std::size_t count) {
    if (!has_element<T>("assign"))
      throw Error(GPULUA_ARGUMENT,
                  "[assign] expected elements of " + std::string(dtype()) + ", as the array's are, got " +
                      detail::dtype_of<T>() + "; a container of the array's element, or " +
                      "state.call<gpulua::Array>(\"gpu.astype\", state.copy(v), \"" + std::string(dtype()) + "\")");
    if (count != static_cast<std::size_t>(size()))
      throw Error(GPULUA_ARGUMENT, "[assign] expected " + std::to_string(size()) + " elements, as the array has, got " +
                                       std::to_string(count));
    detail::check(gpulua_array_copy_from(handle(), elements, count * sizeof(T)), {"array_", "assign"});
  }

 private:
  /// What a function of an array whose state was destroyed throws.
  static Error closed(const char* op) { return Error(GPULUA_ARGUMENT, detail::last_failure({"array_", op})); }
  static std::string_view text(const char* text, const char* op) {
    if (text == nullptr) throw closed(op);
    return text;
  }
  std::string_view dtype_for(const char* op) const { return text(gpulua_array_dtype(checked(op)), op); }
  std::string_view device_for(const char* op) const { return text(gpulua_array_device_name(checked(op)), op); }
  std::vector<std::int64_t> dims(const std::int64_t* first, const char* op) const {
    if (first == nullptr && gpulua_array_ndim(handle()) != 0) throw closed(op);
    return std::vector<std::int64_t>(first, first + gpulua_array_ndim(handle()));
  }
  gpulua_array* checked(const char* op) const { return detail::checked(handle(), op, "an array"); }
  template <class T>
  T* address(const char* op, void* reader) const {
    check_element<T>(op);
    const std::int64_t *sizes = gpulua_array_shape(handle()), *steps = gpulua_array_strides(handle());
    std::int64_t step = sizeof(T);
    for (int axis = size() > 0 ? gpulua_array_ndim(handle()) : 0; axis-- > 0; step *= sizes[axis])
      if (steps[axis] != step && sizes[axis] > 1)
        throw Error(GPULUA_ARGUMENT, '[' + std::string(op) +
                                         "] expected elements in row-major order, got a stride of " +
                                         std::to_string(steps[axis]) + " bytes on axis " + std::to_string(axis + 1) +
                                         "; gpu.contiguous(x) has them so");
    void* pointer = nullptr;
    detail::check(gpulua_array_evaluate(handle(), reader, &pointer), {"array_", op});
    return static_cast<T*>(pointer);
  }
  /// Elements of bool are read and written as bytes, too.
  template <class T>
  bool has_element(const char* op) const {
    const std::string_view got = dtype_for(op);
    return got == detail::dtype_of<T>() || (got == "bool" && sizeof(T) == 1);
  }
  /// "; write x.to_vector<float>() for these elements, or ".
  std::string advice_of_element(const char* op) const {
    constexpr std::string_view types[][2] = {{"bool", "std::uint8_t"},
                                             {"int8", "std::int8_t"},
                                             {"int16", "std::int16_t"},
                                             {"int32", "std::int32_t"},
                                             {"int64", "std::int64_t"},
                                             {"uint8", "std::uint8_t"},
                                             {"uint16", "std::uint16_t"},
                                             {"uint32", "std::uint32_t"},
                                             {"uint64", "std::uint64_t"},
                                             {"float32", "float"},
                                             {"float64", "double"},
                                             {"complex64", "std::complex<float>"},
                                             {"complex128", "std::complex<double>"}};
    for (const auto& [dtype_, type] : types)
      if (dtype_ == dtype()) return std::string("; x.") + op + "<" + std::string(type) + ">() reads these, ";
    return "; C++ has no such type: ";
  }
  template <class T>
  void check_element(const char* op) const {
    const std::string wanted = detail::dtype_of<T>();
    if (!has_element<T>(op))
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected an array of " + wanted + ", got one of " +
                                       std::string(dtype()) + advice_of_element(op) +
                                       "state.call<gpulua::Array>(\"gpu.astype\", x, \"" + wanted +
                                       "\") gives an array of " + wanted);
  }

  detail::Handle<gpulua_array> handle_;
};

}  // namespace gpulua

#include "operators.hpp"

#endif
