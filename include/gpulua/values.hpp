#ifndef GPULUA_VALUES_HPP
#define GPULUA_VALUES_HPP

// Values between C++ and Lua, for gpulua.hpp, which includes this.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <ratio>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "array.hpp"
#include "gpulua.h"
#include "refused_values.hpp"

namespace gpulua {

template <class Signature>
class Function;

/// A value of Lua's that has no type in C++, such as a table: it goes back into calls, where a function of Lua reads
/// it. A copy is the same value. state.call<double>("rawget", table, "gain") is a field.
class Object {
 public:
  Object() = delete;  // state.value<gpulua::Object>(path) gives one
  /// Takes the handle over.
  explicit Object(gpulua_function* handle) : handle_(handle) {}
  gpulua_function* handle() const noexcept { return handle_.get(); }

 private:
  detail::Handle<gpulua_function> handle_;
};

namespace detail {

template <class T>
inline constexpr bool is_function = false;
template <class Signature>
inline constexpr bool is_function<Function<Signature>> = true;

/// The function of a signature; for what is none, which the caller refuses, what stands anywhere.
template <class Signature>
using FunctionOf = std::conditional_t<std::is_function_v<Signature>, Function<Signature>, Refused>;

/// Whether a parameter of the signature could be written, which no call hands back.
template <class Signature>
inline constexpr bool has_out_parameter = false;
template <class R, class... A>
inline constexpr bool has_out_parameter<R(A...)> =
    ((std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>) || ...);

/// nullptr and a null text are nil. Texts and handles are lent.
template <class T>
gpulua_value to_value(const T& from, const char* op = "values", const Target& target = {}) {
  gpulua_value value{};
  if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    value.kind = GPULUA_BOOLEAN;
    value.as.boolean = from;
  } else if constexpr (is_character<T>) {
    static_assert(!is_character<T>, "a char is a number here: std::string(1, c) is a text of it, int(c) its number");
  } else if constexpr (std::is_integral_v<T>) {
    value.kind = GPULUA_INTEGER;
    value.as.integer = to_int64(from, op, target);
  } else if constexpr (std::is_floating_point_v<T> && sizeof(T) <= sizeof(double)) {
    value.kind = GPULUA_NUMBER;
    value.as.number = from;
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    if constexpr (std::is_pointer_v<T>)
      if (from == nullptr) return value;
    const std::string_view text = from;
    value.kind = GPULUA_TEXT;
    value.as.text = {text.data(), text.size()};
  } else if constexpr (std::is_convertible_v<const T&, const Array&>) {
    const Array& array = from;
    value.kind = GPULUA_ARRAY;
    value.as.array = checked(array.handle(), op, "an array", target);
  } else {
    constexpr bool is_object = std::is_same_v<T, Object>;
    if constexpr (is_object || is_function<T>) {
      value.kind = is_object ? GPULUA_OBJECT : GPULUA_FUNCTION;
      value.as.function = checked(from.handle(), op, is_object ? "an object" : "a function", target);
    } else {
      refuse_value<unfit_of<T>()>();
    }
  }
  return value;
}

/// Where a value of Lua's comes from, for messages.
struct Place {
  std::string_view op;
  std::string_view path = {};
  std::size_t argument = 0;             // from 1
  bool is_result = false;               // of the function at the path, if it has one
  std::string_view reason = {};         // the second result of one that gives nil and a reason, or the advice about nil
  std::size_t result = 0;               // from 1, of several that are wanted
  std::size_t results = 1;              // that there were
  gpulua_function* function = nullptr;  // whose result it is
};

inline std::string describe(const gpulua_value& value) {
  constexpr std::size_t most_text = 40;
  char number[32];
  switch (value.kind) {
    case GPULUA_NIL:
      return "nil";
    case GPULUA_BOOLEAN:
      return value.as.boolean != 0 ? "true" : "false";
    case GPULUA_NUMBER:
      std::snprintf(number, sizeof number, "%.14g", value.as.number);
      return std::string("the number ") + number;
    case GPULUA_INTEGER:
      return "the integer " + std::to_string(value.as.integer);
    case GPULUA_TEXT: {
      const std::string_view text(value.as.text.data, value.as.text.size);
      return "the text '" + std::string(text.substr(0, most_text)) + (text.size() > most_text ? "...'" : "'");
    }
    case GPULUA_ARRAY: {
      const char* const dtype = gpulua_array_dtype(value.as.array);
      return std::string("an array") + (dtype != nullptr ? std::string(" of ") + dtype : "");
    }
    case GPULUA_FUNCTION:
      return "a function";
    default: {
      const char* const object = gpulua_function_description(value.as.function);
      return object != nullptr ? object : "an object";
    }
  }
}

/// What a function that has returned nothing is called, with its place.
inline std::string describe_callee(const std::string& path, gpulua_function* function) {
  const char* const text = function != nullptr ? gpulua_function_description(function) : nullptr;
  const std::string_view what = text != nullptr ? text : "", of = what.substr(0, what.find(" of "));
  const bool has_place = of.size() < what.size();
  if (path.empty()) return std::string(of == "a function" ? what : "the script");
  return "'" + path + "'" + (has_place ? ", " + std::string(what) + "," : "");
}

/// About an object where another value is wanted.
inline std::string advice_of_object(const gpulua_value& got, bool is_result, std::size_t result,
                                    const std::string& path) {
  if (describe(got) != "a table") return is_result ? "; gpulua::Object takes it" : "";
  if (result > 0) return "; `return a, b` gives several results, `return {a, b}` one table";
  if (!is_result) return path.empty() ? "" : "; a field has a path of its own, \"" + path + ".name\"";
  return "; `return t.mean, t.n` gives fields, as a std::tuple<double, double>, and gpulua::Object takes the table, "
         "for a function of Lua: state.call<double>(\"rawget\", table, \"mean\")";
}

/// A call with a colon of what has a path with a dot: port:read(3).
inline std::string advice_of_colon(std::string_view path, const gpulua_value& first) {
  if (first.kind != GPULUA_OBJECT || path.find('.') == path.npos) return {};
  return "; a call with a colon gives the table as the first argument: write " + std::string(path) +
         "(...), with a dot";
}

/// `advice`: about a value of this kind.
[[noreturn]] inline void refuse(const char* expected, const gpulua_value& got, const Place& place,
                                const std::string& advice = {}) {
  const std::string path(place.path), reason(place.reason);
  const bool is_missing = place.is_result && std::max<std::size_t>(place.result, 1) > place.results;
  std::string where, why = advice;
  if (place.argument > 0) {
    where = " as argument " + std::to_string(place.argument);
    if (why.empty() && place.argument == 1) why = advice_of_colon(place.op, got);
  } else if (place.is_result) {
    where = place.result > 0 ? " as result " + std::to_string(place.result) : " as the result";
    if (!path.empty()) where += " of '" + path + "'";
    if (is_missing && place.results == 0) {
      const std::string callee = describe_callee(path, place.function);
      why = "; " + callee + " returned nothing: end it with `return value`";
      if (callee == "the script")
        why +=
            ". A function that it defines is called by its name: state.run(text), then state.call<double>(\"name\", "
            "arguments...)";
    } else if (is_missing)
      why = "; it gave " + std::to_string(place.results) + (place.results == 1 ? " result" : " results");
    else if (got.kind == GPULUA_NIL)
      why = reason.empty() ? "; does the function return it? A global that was never set is nil, too" : ": " + reason;
    else if (got.kind == GPULUA_FUNCTION && why.empty())
      why = "; call it in the script, f(...), or take it: gpulua::Function<double(double)> is a result, too";
    else if (got.kind == GPULUA_OBJECT && why.empty())
      why = advice_of_object(got, true, place.result, path);
  } else {
    where = " at '" + path + "'";
    if (got.kind == GPULUA_NIL) why = reason;
    if (got.kind == GPULUA_OBJECT && why.empty()) why = advice_of_object(got, false, 0, path);
  }
  throw Error(GPULUA_ARGUMENT, "[" + std::string(place.op) + "] expected " + expected + where + ", got " +
                                   (is_missing ? "none" : describe(got)) + why);
}

/// About an array where T is wanted: a script gives an argument, the program takes a result.
template <class T>
std::string advice_of_array(const Place& place) {
  constexpr bool is_boolean = std::is_same_v<T, bool>;
  const std::string what = is_boolean ? "boolean" : "number";
  if (place.argument > 0) return "; x:item() gives the " + what + " of an array of one element";
  return "; take it as gpulua::Array x: state.call<" + std::string(is_boolean ? "bool" : "double") +
         ">(\"gpu.item\", x) reads the " + what + " of one element";
}

template <class T>
T to_number(const gpulua_value& value, const Place& place) {
  if (value.kind == GPULUA_INTEGER) {
    const T number = static_cast<T>(value.as.integer);
    if (static_cast<std::int64_t>(number) != value.as.integer || (number < T{}) != (value.as.integer < 0))
      refuse("an integer that fits", value, place);
    return number;
  }
  if (value.kind != GPULUA_NUMBER)
    refuse("a number", value, place,
           value.kind == GPULUA_ARRAY  ? advice_of_array<T>(place)
           : value.kind == GPULUA_TEXT ? "; tonumber(x) in the script makes a number of it, std::string reads the text"
                                       : "");
  const double number = value.as.number;
  if constexpr (std::is_integral_v<T>) {
    constexpr double most = sizeof(T) < 8 ? static_cast<double>(std::numeric_limits<T>::max()) : 9007199254740992.0;
    const double least = std::is_signed_v<T> ? -most - (sizeof(T) < 8 ? 1 : 0) : 0;
    if (!(number >= least && number <= most) || static_cast<double>(static_cast<T>(number)) != number)
      refuse("an integer that fits", value, place, std::trunc(number) != number ? "; double reads it" : "");
  } else {
    if (std::isfinite(number) && std::abs(number) > std::numeric_limits<T>::max())
      refuse("a number that fits", value, place);
  }
  return static_cast<T>(number);
}

/// Takes the value's handle over, if it has one.
template <class T>
T from_value(const gpulua_value& value, const Place& place) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value.kind != GPULUA_BOOLEAN)
      refuse("a boolean", value, place, value.kind == GPULUA_ARRAY ? advice_of_array<T>(place) : "");
    return value.as.boolean != 0;
  } else if constexpr (is_character<T>) {
    static_assert(!is_character<T>, "a char is a number here: std::string reads a text, int a number");
  } else if constexpr (std::is_arithmetic_v<T>) {
    return to_number<T>(value, place);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (value.kind != GPULUA_TEXT)
      refuse("a text", value, place,
             value.kind == GPULUA_NUMBER ? "; double reads a number, tostring(x) makes a text of it" : "");
    return std::string(value.as.text.data, value.as.text.size);
  } else if constexpr (is_function<T>) {
    if (value.kind != GPULUA_FUNCTION) refuse("a function", value, place);
    return T(value.as.function);
  } else if constexpr (std::is_same_v<T, Object>) {
    if (value.kind != GPULUA_OBJECT) refuse("an object", value, place);
    return Object(value.as.function);
  } else {
    if constexpr (!std::is_same_v<T, Array>) refuse_result<T>();
    if (!std::is_same_v<T, Array> || value.kind != GPULUA_ARRAY)
      refuse("an array", value, place,
             value.kind == GPULUA_OBJECT && describe(value) == "a table"
                 ? "; gpu.array{1, 2, 3} makes one of a table of numbers"
                 : "");
    if constexpr (std::is_same_v<T, Array>) return Array(value.as.array);
  }
}

inline void retain(const gpulua_value& value) noexcept {
  if (value.kind == GPULUA_ARRAY) retain(value.as.array);
  if (value.kind == GPULUA_FUNCTION || value.kind == GPULUA_OBJECT) retain(value.as.function);
}
inline void release(const gpulua_value& value) noexcept {
  if (value.kind == GPULUA_ARRAY) release(value.as.array);
  if (value.kind == GPULUA_FUNCTION || value.kind == GPULUA_OBJECT) release(value.as.function);
}

/// from_value(), which releases the handle on an exception.
template <class R>
R take(const gpulua_value& value, const Place& place) {
  try {
    return from_value<R>(value, place);
  } catch (...) {
    release(value);
    throw;
  }
}

/// The results of a call, whose handles it releases unless they are taken.
template <std::size_t count>
struct Results {
  Results() = default;
  ~Results() {
    for (const gpulua_value& value : values) release(value);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// One that was taken is nil. `wanted`: its number, from 1, where several are wanted.
  template <class T>
  T take(std::size_t i, std::string_view path, std::size_t wanted = 0) {
    const gpulua_value value = std::exchange(values[i], {});
    const bool has_reason = i + 1 < count && values[i + 1].kind == GPULUA_TEXT;
    const std::string_view reason =
        has_reason ? std::string_view(values[i + 1].as.text.data, values[i + 1].as.text.size) : std::string_view();
    return detail::take<T>(value, {"call", path, 0, true, reason, wanted, given, called});
  }
  template <class... T, std::size_t... I>
  std::tuple<T...> take_all(std::string_view path, std::tuple<T...>*, std::index_sequence<I...>) {
    return {take<T>(I, path, I + 1)...};
  }

  std::size_t given = count;  // how many there are
  gpulua_value values[count] = {};
  gpulua_function* called = nullptr;
};

template <class Time>
double milliseconds(const Time& time) {
  static_assert(is_duration<Time>,
                "a time comes first, as a std::chrono::duration: function.within(std::chrono::milliseconds(100), "
                "arguments...)");
  if constexpr (is_duration<Time>)
    return std::chrono::duration<double, std::milli>(time).count();
  else
    return 0;
}

template <class T>
inline constexpr std::size_t tuple_size = 0;
template <class... T>
inline constexpr std::size_t tuple_size<std::tuple<T...>> = sizeof...(T);

/// `path`: what messages call the function; may be empty. A second result is the reason why the first one is nil, as
/// Lua has it.
template <class R, class... A>
R call(gpulua_function* function, std::string_view path, double milliseconds, const A&... arguments) {
  [[maybe_unused]] std::size_t argument = 0;
  const gpulua_value in[sizeof...(A) + 1] = {to_value(arguments, "call", Target{++argument})..., gpulua_value{}};
  Results<(tuple_size<R> > 2 ? tuple_size<R> : 2)> out;
  gpulua_function* const called = out.called = checked(function, "call", "a function");
  if constexpr (std::is_void_v<R>)
    check(gpulua_call(called, in, sizeof...(A), nullptr, nullptr, milliseconds));
  else
    check(gpulua_call(called, in, sizeof...(A), out.values, &out.given, milliseconds));
  if constexpr (tuple_size < R >> 0)
    return out.take_all(path, static_cast<R*>(nullptr), std::make_index_sequence<tuple_size<R>>());
  else if constexpr (!std::is_void_v<R>)
    return out.template take<R>(0, path);
}

}  // namespace detail
}  // namespace gpulua

#endif
