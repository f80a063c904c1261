#ifndef GPULUA_ERRORS_HPP
#define GPULUA_ERRORS_HPP

// Errors of gpulua.hpp, which includes this.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "gpulua.h"

namespace gpulua {
namespace detail {

inline std::string with_causes(std::string text, const std::exception& error);

/// The text with that of the exception behind it, unless its first line is there.
inline std::string with_cause(std::string text, const std::exception_ptr& cause) {
  if (!cause) return text;
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    const std::string why = with_causes(error.what() != nullptr ? error.what() : "", error);
    if (text.find(why.substr(0, why.find('\n'))) == text.npos) text += "\ncaused by: " + why;
  } catch (...) {  // which has no text
  }
  return text;
}

/// The text of the exception with those of the exceptions that it nests, std::throw_with_nested().
inline std::string with_causes(std::string text, const std::exception& error) {
#ifdef __cpp_rtti
  if (const auto* const nested = dynamic_cast<const std::nested_exception*>(&error))
    return with_cause(std::move(text), nested->nested_ptr());
#endif
  return text;
}

}  // namespace detail

/// What failed. what() has the text, with the traceback of a script's error, and names the cause.
class Error : public std::runtime_error {
 public:
  Error(gpulua_status status, const std::string& text, std::exception_ptr cause = nullptr)
      : std::runtime_error(detail::with_cause(text, cause)), status_(status), cause_(std::move(cause)) {}
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

/// What a function gives that does not compile: it stands wherever a value may, so that the compiler says nothing more.
struct Refused {
  template <class T>
  operator T() const;
  template <class T>
  const Refused& operator=(const T&) const;
  template <class... A>
  Refused operator()(const A&...) const;
  template <class T>
  Refused operator[](const T&) const;
  const Refused* begin() const;
  const Refused* end() const;
};

template <class A, class B>
using IfRefused = std::enable_if_t<std::is_base_of_v<Refused, A> || std::is_base_of_v<Refused, B>, Refused>;
template <class A, class B>
IfRefused<A, B> operator+(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator-(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator*(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator/(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator<(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator>(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator<=(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator>=(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator==(const A&, const B&);
template <class A, class B>
IfRefused<A, B> operator!=(const A&, const B&);
template <class Stream, class B, class = std::enable_if_t<std::is_base_of_v<Refused, B>>>
Stream& operator<<(Stream&, const B&);

/// What a bound function has thrown, until the call that has called it returns; and the number of the exception on this
/// thread, as gpulua_fail_with() takes it.
struct Thrown {
  std::exception_ptr exception;
  std::uintptr_t number = 0;
};
inline thread_local Thrown thrown;

/// What messages of the C interface call it, `array_` for all functions that begin so, and what the program has called.
struct Op {
  std::string_view of_c = {}, of_cpp = {};
};

/// The message, the library's own, with the classes of this header for the handles of C.
inline std::string with_classes(std::string text) {
  constexpr std::string_view names[][2] = {
      {"a gpulua_array", "an Array"}, {"a gpulua_function", "a Function or Object"}, {"a gpulua_state", "a State"}};
  if (text.empty() || text.front() != '[') return text;
  for (const auto& [of_c, of_cpp] : names)
    for (std::size_t at = text.find(of_c); at < text.find('\n'); at = text.find(of_c, at + of_cpp.size())) {
      const char next = at + of_c.size() < text.size() ? text[at + of_c.size()] : ' ';
      if (next == ' ' || next == ',' || next == '\n') text.replace(at, of_c.size(), of_cpp);
    }
  return text;
}

/// The text of the last failure, with the names of what the program has called and of its classes.
inline std::string last_failure(const Op& op) {
  std::string text = with_classes(gpulua_error(nullptr));
  const std::size_t size = op.of_c.size(), end = text.find(']');
  if (size == 0 || end == text.npos || text.compare(0, size + 1, '[' + std::string(op.of_c)) != 0) return text;
  if (end != size + 1 && op.of_c.back() != '_') return text;
  return text.replace(1, end - 1, op.of_cpp.data(), op.of_cpp.size());
}

/// Throws for a status that is not GPULUA_OK.
inline void check(gpulua_status status, const Op& op = {}) {
  const Thrown last = std::exchange(thrown, {});
  if (status == GPULUA_OK) return;
  const bool is_cause = last.exception && gpulua_error_cause() == reinterpret_cast<void*>(last.number);
  throw Error(status, last_failure(op), is_cause ? last.exception : nullptr);
}

}  // namespace detail
}  // namespace gpulua

#endif
