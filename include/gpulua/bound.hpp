#ifndef GPULUA_BOUND_HPP
#define GPULUA_BOUND_HPP

// C++ functions that scripts call, for gpulua.hpp, which includes this.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "gpulua.h"
#include "values.hpp"

namespace gpulua {
namespace detail {

struct AnyBound {
  virtual ~AnyBound() = default;
};

/// Whether the function takes the signature's arguments and gives its result.
template <class Signature, class F>
inline constexpr bool fits = false;
template <class R, class... A, class F>
inline constexpr bool fits<R(A...), F> = std::is_invocable_r_v<R, F&, std::decay_t<A>...>;

/// Makes the exception that is being handled the error of the callback that runs.
inline gpulua_status fail_with_current(gpulua_state* state, const char* text) {
  static thread_local std::uintptr_t thrown_so_far = 0;
  thrown = {std::current_exception(), ++thrown_so_far};
  return gpulua_fail_with(state, text, reinterpret_cast<void*>(thrown.number));
}

/// The same for one that has a text.
inline gpulua_status fail_with_current(gpulua_state* state, const std::string& name, const std::exception& error) {
  const char* const text = error.what();
  const bool has_text = text != nullptr && *text != 0;
  const std::string own = has_text ? text : "[" + name + "] has thrown an exception whose what() is empty";
  return fail_with_current(state, with_causes(own, error).c_str());
}

/// Runs the callback, whose error is what it throws.
template <class Body>
gpulua_status run_callback(gpulua_state* state, const std::string& name, Body body) {
  const Thrown before = std::exchange(thrown, {});
  try {
    body();
    thrown = before;  // which a call in the callback has taken for its own
    return GPULUA_OK;
  } catch (const Error& error) {
    const gpulua_status failed = fail_with_current(state, name, error);
    return failed == GPULUA_RUNTIME && error.status() != GPULUA_OK ? error.status() : failed;
  } catch (const std::exception& error) {
    return fail_with_current(state, name, error);
  } catch (...) {
    const std::string text = "[" + name +
                             "] expected exceptions that are std::exception, whose what() the script gets, got "
                             "another; throw std::runtime_error(text)";
    return fail_with_current(state, text.c_str());
  }
}

using Lines = std::function<void(std::string_view line)>;

/// The program's callbacks of gpulua_options, of which print may throw.
struct Callbacks final : AnyBound {
  /// What the program has given is called by what stands in the options afterwards; a function that is not empty in
  /// place of what the options have.
  Callbacks(gpulua_options& options, Lines print_, Lines log_)
      : given(options), print(std::move(print_)), log(std::move(log_)) {
    options.user = this;
    if (print)
      options.print = [](void* self, const char* text, std::size_t size) {
        const auto& all = *static_cast<const Callbacks*>(self);
        run_callback(all.state, "print", [&] { all.print({text, size}); });
      };
    else if (options.print != nullptr)
      options.print = [](void* self, const char* text, std::size_t size) {
        const auto& all = *static_cast<const Callbacks*>(self);
        run_callback(all.state, "print", [&] { all.given.print(all.given.user, text, size); });
      };
    if (log)
      options.log = [](void* self, int, const char* text) { static_cast<const Callbacks*>(self)->log(text); };
    else if (options.log != nullptr)
      options.log = [](void* self, int level, const char* text) {
        const auto& all = *static_cast<const Callbacks*>(self);
        all.given.log(all.given.user, level, text);
      };
    if (options.allocate != nullptr)
      options.allocate = [](void* self, void* block, std::size_t old_size, std::size_t size) {
        const auto& all = *static_cast<const Callbacks*>(self);
        return all.given.allocate(all.given.user, block, old_size, size);
      };
  }
  gpulua_options given;
  Lines print, log;
  gpulua_state* state = nullptr;
};

/// What gpulua_register() gets for State::bind().
template <class Signature, class F>
struct Bound;
template <class R, class... A, class F>
struct Bound<R(A...), F> final : AnyBound {
  static constexpr std::size_t most_results = 16;
  static_assert(tuple_size<R> <= most_results, "a bound function gives 16 results at most");

  Bound(std::string path_, F function_) : path(std::move(path_)), function(std::move(function_)) {}

  static gpulua_status run(gpulua_state* state, void* user, const gpulua_value* in, std::size_t in_count,
                           gpulua_value* out, std::size_t* out_count) {
    auto& bound = *static_cast<Bound*>(user);
    return run_callback(state, bound.path, [&] {
      if (in_count != sizeof...(A)) bound.refuse_count(in, in_count);
      *out_count = std::is_void_v<R> ? 0 : tuple_size<R> > 0 ? tuple_size<R> : 1;
      bound.call(in, out, std::index_sequence_for<A...>());
    });
  }

 private:
  [[noreturn]] void refuse_count(const gpulua_value* in, std::size_t count) const {
    throw Error(GPULUA_ARGUMENT, "[" + path + "] expected " + std::to_string(sizeof...(A)) +
                                     (sizeof...(A) == 1 ? " argument, got " : " arguments, got ") +
                                     std::to_string(count) + (count > 0 ? advice_of_colon(path, in[0]) : ""));
  }

  template <std::size_t... I>
  void call([[maybe_unused]] const gpulua_value* in, [[maybe_unused]] gpulua_value* out, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      std::apply(function, arguments(in, std::index_sequence<I...>()));
    } else {
      texts.clear();
      R result = std::apply(function, arguments(in, std::index_sequence<I...>()));
      if constexpr (tuple_size < R >> 0)
        give_all(result, out, std::make_index_sequence<tuple_size<R>>());
      else
        give_all(std::tie(result), out, std::index_sequence<0>());
    }
  }

  /// In their order: the first that does not fit is the one that a message names.
  template <std::size_t... I>
  std::tuple<std::decay_t<A>...> arguments([[maybe_unused]] const gpulua_value* in, std::index_sequence<I...>) const {
    return std::tuple<std::decay_t<A>...>{argument<std::decay_t<A>>(in[I], I + 1)...};
  }

  /// A text is lent for the call, as the argument's handle is: an Array, Function or Object takes one of its own.
  template <class T>
  T argument(const gpulua_value& value, std::size_t position) const {
    const Place place{path, {}, position};
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (value.kind != GPULUA_TEXT) refuse("a text", value, place);
      return {value.as.text.data, value.as.text.size};
    } else if constexpr (std::is_same_v<T, const char*>) {
      return value.kind == GPULUA_NIL ? nullptr : argument<std::string_view>(value, position).data();
    } else {
      retain(value);
      return take<T>(value, place);
    }
  }

  template <class Values, std::size_t... I>
  void give_all(Values&& values, gpulua_value* out, std::index_sequence<I...>) {
    texts.reserve(sizeof...(I));  // so that they stay where they are
    ((out[I] = give(std::get<I>(values))), ...);
    (retain(out[I]), ...);
  }
  template <class T>
  gpulua_value give(T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      return to_value(texts.emplace_back(std::move(value)));  // lives until the next call
    else
      return to_value(value, path.c_str());
  }

  std::string path;
  F function;
  std::vector<std::string> texts;
};

}  // namespace detail
}  // namespace gpulua

#endif
