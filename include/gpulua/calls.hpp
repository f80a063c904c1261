#ifndef GPULUA_CALLS_HPP
#define GPULUA_CALLS_HPP

// Functions of Lua and kernels that C++ calls, for gpulua.hpp, which includes this.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "array.hpp"
#include "gpulua.h"
#include "values.hpp"

namespace gpulua {

namespace detail {

/// What is wrong with the arguments of a call.
enum class Slip { none, deadline, count, container, address, text, enumeration, other };

/// Of one argument for its parameter; 0 and NULL are null pointers.
template <class Parameter, class Argument>
constexpr Slip slip_of() {
  using Given = std::remove_cv_t<std::remove_reference_t<Argument>>;
  using Wanted = std::remove_cv_t<std::remove_reference_t<Parameter>>;
  constexpr bool is_text = std::is_convertible_v<Argument, std::string_view>;
  if (std::is_convertible_v<Argument, Parameter> || (std::is_pointer_v<Wanted> && std::is_integral_v<Given>))
    return Slip::none;
  if (std::is_same_v<Wanted, Array> && !is_text)
    return has_size<Given> ? Slip::container : std::is_pointer_v<Given> ? Slip::address : Slip::other;
  if (std::is_arithmetic_v<Wanted> && std::is_enum_v<Given>) return Slip::enumeration;
  return std::is_arithmetic_v<Wanted> && is_text ? Slip::text : Slip::other;
}

template <class... A>
inline constexpr bool begins_with_duration = false;
template <class First, class... A>
inline constexpr bool begins_with_duration<First, A...> = is_duration<std::remove_cv_t<std::remove_reference_t<First>>>;

template <class... Parameter>
struct Parameters {
  /// Of the first argument that does not fit.
  template <class... A>
  static constexpr Slip slip() {
    Slip found = Slip::none;
    if constexpr (sizeof...(A) == sizeof...(Parameter))
      ((found = found == Slip::none ? slip_of<Parameter, A>() : found), ...);
    else
      found = Slip::count;
    return found != Slip::none && begins_with_duration<A...> ? Slip::deadline : found;
  }
};

/// Does not compile, and says why.
template <Slip slip>
Refused refuse_arguments() {
  static_assert(slip != Slip::deadline,
                "a deadline is given by within: function.within(std::chrono::milliseconds(100), arguments...)");
  static_assert(slip != Slip::count,
                "a call has as many arguments as the function's type names: "
                "state.get<double(const gpulua::Array&, double)>(path) is called with two");
  static_assert(slip != Slip::container,
                "a vector is no Array: f(state.copy(v)), or f(state.borrow(v)) over its memory");
  static_assert(slip != Slip::address,
                "an address is no Array: f(state.copy(pointer, count)), or f(state.borrow(pointer, count)) over the "
                "memory");
  static_assert(slip != Slip::text,
                "a text is no number: std::stod(text) makes one, and state.get<double(const std::string&)>(path) is a "
                "function of a text");
  static_assert(slip != Slip::enumeration, "an enum is no number: f(static_cast<int>(mode)) is a call with its number");
  static_assert(slip != Slip::other,
                "an argument does not convert to the parameter that the function's type names: values for Lua are "
                "nullptr, bool, numbers, texts, Array, Function and Object, as in "
                "state.get<double(const gpulua::Array&, double)>(path)");
  return {};
}

/// A list in braces as an argument of state.call().
template <class R, class T>
R refuse_braces() {
  static_assert(
      never<T>,
      "an argument in braces is no value: numbers go one by one, state.call<gpulua::Array>(\"gpu.reshape\", x, "
      "2, 3), state.copy({1, 2, 3}) is an array of them, and a script makes a table of values, f{...}");
  if constexpr (!std::is_void_v<R>) return Refused();
}
template <class... A>
inline constexpr bool begins_with_array = false;
template <class First, class... A>
inline constexpr bool begins_with_array<First, A...> =
    std::is_same_v<std::remove_cv_t<std::remove_reference_t<First>>, Array>;

}  // namespace detail

template <class Signature>
class Function {
  static_assert(detail::never<Signature>, "a function is named by its type: gpulua::Function<double(double)>");
};

/// A Lua function, called as a C++ function. R is void, bool, a number, std::string, Array, Function, Object or a
/// std::tuple of these, for several results.
template <class R, class... A>
class Function<R(A...)> {
  static_assert(!detail::has_out_parameter<R(A...)>,
                "a function's parameters are values or const&: results are returned, std::tuple<double, double> for "
                "several");

 public:
  Function() = delete;  // state.get<double(double)>(path) or state.load<double(double)>(text) gives one
  template <class Text, class = std::enable_if_t<std::is_constructible_v<std::string_view, const Text&> &&
                                                 !std::is_null_pointer_v<Text>>>
  explicit Function(const Text&) = delete;  // state.get<double(double)>(path) or state.load<double(double)>(text) does
  /// Takes the handle over. `path`: what messages call it.
  explicit Function(gpulua_function* handle, std::string path = {}) : handle_(handle), path_(std::move(path)) {}
  gpulua_function* handle() const noexcept { return handle_.get(); }

  R operator()(A... arguments) const { return detail::call<R>(handle(), path_, 0, arguments...); }
  template <class... B, detail::Slip slip = detail::Parameters<A...>::template slip<B...>(),
            class = std::enable_if_t<slip != detail::Slip::none>>
  detail::Refused operator()(B&&...) const {
    return detail::refuse_arguments<slip>();
  }
  template <class T, class... B,
            class = std::enable_if_t<std::is_arithmetic_v<T> && detail::begins_with_array<A..., T>>>
  detail::Refused operator()(std::initializer_list<T>, B&&...) const {
    static_assert(detail::never<T>, "a list is no Array: f(state.copy({1, 2, 3}))");
    return {};
  }
  /// Ends with an Error of GPULUA_DEADLINE after that time, a std::chrono::duration.
  template <class Time>
  R within(const Time& time, A... arguments) const {
    const double milliseconds = detail::milliseconds(time);
    if (!(milliseconds > 0))
      throw Error(GPULUA_DEADLINE, "[call] expected a deadline of more than 0 ms, got " + std::to_string(milliseconds) +
                                       ": it has passed");
    return detail::call<R>(handle(), path_, milliseconds, arguments...);
  }
  template <class Time, class... B, detail::Slip slip = detail::Parameters<A...>::template slip<B...>(),
            class = std::enable_if_t<slip != detail::Slip::none>>
  detail::Refused within(const Time&, B&&...) const {
    return detail::refuse_arguments<slip>();
  }

 private:
  detail::Handle<gpulua_function> handle_;
  std::string path_;
};

/// A kernel with its grid and blocks, which runs when it is called with its arguments, as often as it is. Its arguments
/// are checked against its signature: arrays and numbers. One that is dropped and was never called is a warning, in the
/// state's next call.
class Launch {
 public:
  Launch() = delete;  // kernel.over(count) or kernel.with(grid, block) gives one
  explicit Launch(Object launch) : launch_(std::move(launch)) {}
  template <class... A>
  void operator()(const A&... arguments) const {
    detail::call<void>(launch_.handle(), {}, 0, arguments...);
  }

 private:
  Object launch_;
};

struct Size {
  std::int64_t x = 1, y = 1, z = 1;
};

/// A kernel of CUDA C++.
class Kernel {
 public:
  Kernel() = delete;  // state.kernel(source, name) or state.kernel_file(path, name) gives one
  template <class... A>
  void operator()(const A&...) const {
    static_assert(detail::never<A...>,
                  "a launch has a size: kernel.over(count)(arguments...), or kernel.with(grid, block)(arguments...)");
  }
  /// At least one thread for each of `count` items.
  [[nodiscard]] Launch over(std::int64_t count) const { return launch(count); }
  template <class... A>
  Launch over(std::int64_t, const A&...) const {
    static_assert(detail::never<A...>,
                  "over(count) chooses the blocks itself; kernel.with({blocks}, {threads}) takes both, of which "
                  "{x, y, z} are the axes");
    return launch(0);
  }
  [[nodiscard]] Launch with(Size grid, Size block) const {
    return launch(grid.x, grid.y, grid.z, block.x, block.y, block.z);
  }
  /// For a kernel with an extern __shared__ array; 0: that array is empty.
  [[nodiscard]] Launch with(Size grid, Size block, std::int64_t shared_bytes) const {
    return launch(grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes);
  }
  template <class A, class B, class... C, class = std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B>>>
  Launch with(A, B, const C&...) const {
    static_assert(detail::never<A, B>, "sizes are in braces: kernel.with({blocks}, {threads})");
    return launch(0);
  }

 private:
  friend class State;
  template <class... A>
  Launch launch(A... numbers) const {
    return Launch(detail::call<Object>(launches_.handle(), {}, 0, numbers...));
  }
  explicit Kernel(Function<void()> launches) : launches_(std::move(launches)) {}

  Function<void()> launches_;  // gives the launch of a count, or of a grid
};

}  // namespace gpulua

#endif
