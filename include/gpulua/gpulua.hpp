#ifndef GPULUA_GPULUA_HPP
#define GPULUA_GPULUA_HPP

// gpulua.h for C++17: a header over the C interface, with no library of its own. Objects are moved, not copied. What
// fails throws gpulua::Error. docs/embedding.md has examples.
//
//   gpulua::State state;
//   state.run("function scale(x, k) return (x * k):sum():item() end");
//   auto scale = state.get<double(const gpulua::Array&, double)>("scale");
//   std::vector<float> data(1000, 1.0f);
//   double sum = scale(state.copy(data), 2.0);

#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpulua.h"

namespace gpulua {

/// What failed. what() has the text, with the traceback of a script's error.
class Error : public std::runtime_error {
 public:
  Error(gpulua_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  gpulua_status status() const noexcept { return status_; }

 private:
  gpulua_status status_;
};

namespace detail {

/// Throws for a status that is not GPULUA_OK.
inline void check(gpulua_status status) {
  if (status != GPULUA_OK) throw Error(status, gpulua_error(nullptr));
}

struct Release {
  void operator()(gpulua_array* array) const noexcept { gpulua_array_release(array); }
  void operator()(gpulua_function* function) const noexcept { gpulua_function_release(function); }
  void operator()(gpulua_state* state) const noexcept { gpulua_destroy(state); }
};

template <class T>
constexpr const char* dtype_of() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<U> && !std::is_same_v<U, long double>, "elements are bool, integers or floats");
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

/// An array on a device.
class Array {
 public:
  Array() = default;
  /// Takes the handle over.
  explicit Array(gpulua_array* handle) : handle_(handle) {}
  gpulua_array* handle() const noexcept { return handle_.get(); }

  std::string_view dtype() const { return text(gpulua_array_dtype(handle())); }
  std::string_view device() const { return text(gpulua_array_device_name(handle())); }
  std::vector<std::int64_t> shape() const { return dims(gpulua_array_shape(handle())); }
  /// In bytes.
  std::vector<std::int64_t> strides() const { return dims(gpulua_array_strides(handle())); }
  std::int64_t size() const noexcept { return gpulua_array_size(handle()); }

  /// The address of the first element, on the device, for work on `reader`, a CUstream. T is the array's element.
  template <class T>
  T* data(void* reader = GPULUA_NO_STREAM) const {
    check_element<T>();
    void* pointer = nullptr;
    detail::check(gpulua_array_evaluate(handle(), reader, &pointer));
    return static_cast<T*>(pointer);
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
  template <class T>
  void assign(const T* elements, std::size_t count) {
    check_element<T>();
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
  template <class T>
  void check_element() const {
    const std::string_view wanted = detail::dtype_of<T>(), got = dtype();
    const bool as_bytes = got == "bool" && sizeof(T) == 1;
    if (wanted != got && !as_bytes)
      throw Error(GPULUA_ARGUMENT, "[array] expected elements of " + std::string(got) + ", got " + std::string(wanted));
  }

  std::unique_ptr<gpulua_array, detail::Release> handle_;
};

namespace detail {

inline gpulua_value to_value(double number) {
  gpulua_value value{};
  value.kind = GPULUA_NUMBER;
  value.as.number = number;
  return value;
}
inline gpulua_value to_value(bool boolean) {
  gpulua_value value{};
  value.kind = GPULUA_BOOLEAN;
  value.as.boolean = boolean;
  return value;
}
template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
gpulua_value to_value(T integer) {
  static_assert(sizeof(T) < 8 || std::is_signed_v<T>, "integers fit int64_t");
  gpulua_value value{};
  value.kind = GPULUA_INTEGER;
  value.as.integer = integer;
  return value;
}
inline gpulua_value to_value(std::string_view text) {
  gpulua_value value{};
  value.kind = GPULUA_TEXT;
  value.as.text = {text.data(), text.size()};
  return value;
}
inline gpulua_value to_value(const char* text) {
  return to_value(std::string_view(text));
}
inline gpulua_value to_value(const std::string& text) {
  return to_value(std::string_view(text));
}
inline gpulua_value to_value(const Array& array) {
  gpulua_value value{};
  value.kind = GPULUA_ARRAY;
  value.as.array = array.handle();
  return value;
}

inline const char* kind_name(int kind) {
  static constexpr const char* names[] = {"nil",    "a boolean", "a number",  "an integer",
                                          "a text", "an array",  "a function"};
  return kind >= 0 && kind <= GPULUA_FUNCTION ? names[kind] : "another value";
}
[[noreturn]] inline void refuse(const char* expected, const gpulua_value& got) {
  throw Error(GPULUA_ARGUMENT, std::string("[value] expected ") + expected + ", got " + kind_name(got.kind));
}

/// Takes the value's handle over, if it has one.
template <class T>
T from_value(const gpulua_value& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value.kind != GPULUA_BOOLEAN) refuse("a boolean", value);
    return value.as.boolean != 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (value.kind == GPULUA_INTEGER) {
      const T number = static_cast<T>(value.as.integer);
      if (static_cast<std::int64_t>(number) != value.as.integer || (number < T{}) != (value.as.integer < 0))
        refuse("an integer that fits", value);
      return number;
    }
    if (value.kind != GPULUA_NUMBER) refuse("a number", value);
    if constexpr (std::is_integral_v<T>) {
      constexpr double most = sizeof(T) < 8 ? static_cast<double>(std::numeric_limits<T>::max()) : 9007199254740992.0;
      const double least = std::is_signed_v<T> ? -most - (sizeof(T) < 8 ? 1 : 0) : 0;
      if (!(value.as.number >= least && value.as.number <= most) ||
          static_cast<double>(static_cast<T>(value.as.number)) != value.as.number)
        refuse("an integer that fits", value);
    }
    return static_cast<T>(value.as.number);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (value.kind != GPULUA_TEXT) refuse("a text", value);
    return std::string(value.as.text.data, value.as.text.size);
  } else {
    static_assert(std::is_same_v<T, Array>, "values are bool, numbers, std::string and Array");
    if (value.kind != GPULUA_ARRAY) refuse("an array", value);
    return Array(value.as.array);
  }
}

inline void release(const gpulua_value& value) noexcept {
  if (value.kind == GPULUA_ARRAY) gpulua_array_release(value.as.array);
  if (value.kind == GPULUA_FUNCTION) gpulua_function_release(value.as.function);
}

}  // namespace detail

template <class Signature>
class Function;

/// A Lua function, called as a C++ function. R is void, bool, a number, std::string or Array.
template <class R, class... A>
class Function<R(A...)> {
 public:
  explicit Function(gpulua_function* handle) : handle_(handle) {}
  gpulua_function* handle() const noexcept { return handle_.get(); }

  R operator()(A... arguments) const { return call(0, arguments...); }
  /// Ends with an Error of GPULUA_DEADLINE after so many milliseconds.
  R within(double milliseconds, A... arguments) const { return call(milliseconds, arguments...); }

 private:
  template <class... B>
  R call(double milliseconds, B&... arguments) const {
    const gpulua_value in[sizeof...(B) + 1] = {detail::to_value(arguments)..., gpulua_value{}};
    gpulua_value out{};
    std::size_t count = std::is_void_v<R> ? 0 : 1;
    detail::check(gpulua_call(handle(), in, sizeof...(B), &out, &count, milliseconds));
    if constexpr (!std::is_void_v<R>) {
      try {
        return detail::from_value<R>(out);
      } catch (...) {
        detail::release(out);
        throw;
      }
    }
  }

  std::unique_ptr<gpulua_function, detail::Release> handle_;
};

/// A state: scripts, devices, arrays. Objects made from it may outlive it; their use is an Error then.
class State {
 public:
  State() : State(defaults()) {}
  explicit State(const gpulua_options& options) {
    gpulua_state* state = nullptr;
    detail::check(gpulua_create(&options, &state));
    handle_.reset(state);
  }
  static gpulua_options defaults() {
    gpulua_options options;
    gpulua_options_init(&options, sizeof options);
    return options;
  }
  gpulua_state* handle() const noexcept { return handle_.get(); }

  void run(std::string_view text, const std::string& name = "script") {
    detail::check(gpulua_run(handle(), text.data(), text.size(), name.c_str()));
  }
  /// The function at the path: get<double(const Array&, double)>("model.step").
  template <class Signature>
  Function<Signature> get(const std::string& path) const {
    gpulua_function* function = nullptr;
    detail::check(gpulua_get(handle(), path.c_str(), &function));
    return Function<Signature>(function);
  }
  template <class T>
  T value(const std::string& path) const {
    gpulua_value value{};
    detail::check(gpulua_get_value(handle(), path.c_str(), &value));
    try {
      return detail::from_value<T>(value);
    } catch (...) {
      detail::release(value);
      throw;
    }
  }
  template <class T>
  void set(const std::string& path, const T& value) {
    const gpulua_value converted = detail::to_value(value);
    detail::check(gpulua_set(handle(), path.c_str(), &converted));
  }
  /// Makes a C++ function a Lua function: bind<double(double)>("port.read", [](double x) { return 2 * x; }). What it
  /// throws becomes the script's error. The state keeps it.
  template <class Signature, class F>
  void bind(const std::string& path, F function) {
    auto bound = std::make_unique<Bound<Signature, F>>(std::move(function));
    detail::check(gpulua_register(handle(), path.c_str(), &Bound<Signature, F>::run, bound.get()));
    bound_.push_back(std::move(bound));
  }

  /// An array over the program's memory; row-major.
  template <class T>
  Array borrow(T* data, const std::vector<std::int64_t>& shape, const char* device = nullptr) const {
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_device(handle(), device, data, detail::dtype_of<T>(), static_cast<int>(shape.size()),
                                      shape.data(), nullptr, nullptr, nullptr, &array));
    return Array(array);
  }
  /// An array with a copy of the elements on the state's device.
  template <class T>
  Array copy(const std::vector<T>& elements) const {
    return copy(elements.data(), {static_cast<std::int64_t>(elements.size())});
  }
  template <class T>
  Array copy(const T* data, const std::vector<std::int64_t>& shape) const {
    gpulua_array* array = nullptr;
    detail::check(gpulua_array_host(handle(), const_cast<T*>(data), detail::dtype_of<T>(),
                                    static_cast<int>(shape.size()), shape.data(), nullptr, nullptr, nullptr, 1,
                                    &array));
    return Array(array);
  }
  template <class T>
  Array zeros(const std::vector<std::int64_t>& shape) const {
    gpulua_array* array = nullptr;
    detail::check(
        gpulua_array_zeros(handle(), detail::dtype_of<T>(), static_cast<int>(shape.size()), shape.data(), &array));
    return Array(array);
  }

  void sync() { detail::check(gpulua_sync(handle())); }
  void collect(double milliseconds = 0) { detail::check(gpulua_collect(handle(), milliseconds)); }
  void set_stream(void* cu_stream) { detail::check(gpulua_set_stream(handle(), cu_stream)); }
  /// Any thread.
  void interrupt() noexcept { gpulua_interrupt(handle()); }

 private:
  struct AnyBound {
    virtual ~AnyBound() = default;
  };
  template <class Signature, class F>
  struct Bound;
  template <class R, class... A, class F>
  struct Bound<R(A...), F> final : AnyBound {
    explicit Bound(F function_) : function(std::move(function_)) {}

    static gpulua_status run(gpulua_state* state, void* user, const gpulua_value* in, std::size_t in_count,
                             gpulua_value* out, std::size_t* out_count) {
      try {
        if (in_count != sizeof...(A))
          throw Error(GPULUA_ARGUMENT, "[call] expected " + std::to_string(sizeof...(A)) + " arguments, got " +
                                           std::to_string(in_count));
        *out_count = std::is_void_v<R> ? 0 : 1;
        static_cast<Bound*>(user)->call(in, out, std::index_sequence_for<A...>());
        return GPULUA_OK;
      } catch (const std::exception& error) {
        return gpulua_fail(state, error.what());
      } catch (...) {
        return gpulua_fail(state, "an exception that is no std::exception");
      }
    }

    template <std::size_t... I>
    void call([[maybe_unused]] const gpulua_value* in, [[maybe_unused]] gpulua_value* out, std::index_sequence<I...>) {
      // The arguments' handles are lent for the call; an Array takes one of its own.
      const auto read = [](const gpulua_value& value, auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        if (value.kind == GPULUA_ARRAY && std::is_same_v<T, Array>) gpulua_array_retain(value.as.array);
        return detail::from_value<T>(value);
      };
      if constexpr (std::is_void_v<R>) {
        function(read(in[I], static_cast<std::decay_t<A>*>(nullptr))...);
      } else {
        R result = function(read(in[I], static_cast<std::decay_t<A>*>(nullptr))...);
        if constexpr (std::is_same_v<R, std::string>) {
          text = std::move(result);  // lives until the next call
          *out = detail::to_value(text);
        } else {
          *out = detail::to_value(result);
          if (out->kind == GPULUA_ARRAY) gpulua_array_retain(out->as.array);
        }
      }
    }

    F function;
    std::string text;
  };

  std::vector<std::unique_ptr<AnyBound>> bound_;
  std::unique_ptr<gpulua_state, detail::Release> handle_;  // destroyed first: scripts may call what is bound
};

}  // namespace gpulua

#endif
