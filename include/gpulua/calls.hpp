#ifndef GPULUA_CALLS_HPP
#define GPULUA_CALLS_HPP

// Functions of Lua and kernels that C++ calls, for gpulua.hpp, which includes this.

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "array.hpp"
#include "gpulua.h"
#include "values.hpp"

namespace gpulua {

/// A Lua function, called as a C++ function. R is void, bool, a number, std::string, Array, Function, Object or a
/// std::tuple of these, for several results.
template <class R, class... A>
class Function<R(A...)> {
  static_assert(!detail::has_out_parameter<R(A...)>,
                "a function's parameters are values or const&: results are returned, std::tuple<double, double> for "
                "several");

 public:
  /// Takes the handle over. `path`: what messages call it.
  explicit Function(gpulua_function* handle, std::string path = {}) : handle_(handle), path_(std::move(path)) {}
  gpulua_function* handle() const noexcept { return handle_.get(); }

  R operator()(A... arguments) const { return detail::call<R>(handle(), path_, 0, arguments...); }
  template <class Time, class... B, class = std::enable_if_t<detail::is_duration<Time>>>
  R operator()(const Time&, const B&...) const {
    static_assert(detail::never<Time>,
                  "a deadline is given by within: function.within(std::chrono::milliseconds(100), arguments...)");
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

 private:
  detail::Handle<gpulua_function> handle_;
  std::string path_;
};

/// A kernel with its grid and blocks, which runs when it is called with its arguments, as often as it is. Its arguments
/// are checked against its signature: arrays and numbers.
class Launch {
 public:
  explicit Launch(Function<void()> function) : function_(std::move(function)) {}
  template <class... A>
  void operator()(const A&... arguments) const {
    detail::call<void>(function_.handle(), {}, 0, arguments...);
  }

 private:
  Function<void()> function_;
};

struct Size {
  std::int64_t x = 1, y = 1, z = 1;
};

/// A kernel of CUDA C++.
class Kernel {
 public:
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
    return Launch(detail::call<Function<void()>>(launches_.handle(), {}, 0, numbers...));
  }
  explicit Kernel(Function<void()> launches) : launches_(std::move(launches)) {}

  Function<void()> launches_;  // gives the launch function of a count, or of a grid
};

}  // namespace gpulua

#endif
