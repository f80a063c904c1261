#ifndef GPULUA_REFUSED_VALUES_HPP
#define GPULUA_REFUSED_VALUES_HPP

// Types of C++ that are no values of Lua, for gpulua.hpp, which includes this.

#include <chrono>
#include <complex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "array.hpp"

namespace gpulua {

class Kernel;
class Launch;

namespace detail {

template <class T, class = void>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<T, std::void_t<typename T::mapped_type>> = true;

template <class T>
inline constexpr bool is_character = std::is_same_v<T, char> || std::is_same_v<T, wchar_t> ||
#ifdef __cpp_char8_t
                                     std::is_same_v<T, char8_t> ||
#endif
                                     std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

template <class T>
inline constexpr bool is_duration = false;
template <class Number, class Period>
inline constexpr bool is_duration<std::chrono::duration<Number, Period>> = true;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// std::optional, and what has its members.
template <class T, class = void>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool
    is_optional<T, std::void_t<typename T::value_type, decltype(std::declval<const T&>().has_value())>> = true;

template <class T, class = void>
inline constexpr bool is_smart_pointer = false;
template <class T>
inline constexpr bool
    is_smart_pointer<T, std::void_t<typename T::element_type, decltype(std::declval<const T&>().get())>> = true;

/// A lambda, a std::function and the like; of a generic lambda, which has no one type, false.
template <class T, class = void>
inline constexpr bool is_callable =
    std::is_function_v<T> || std::is_member_pointer_v<T> || std::is_function_v<std::remove_pointer_t<T>>;
template <class T>
inline constexpr bool is_callable<T, std::void_t<decltype(&T::operator())>> = true;

/// Whether the elements of a container can be those of an array.
template <class T, class = void>
inline constexpr bool has_numbers = true;
template <class T>
inline constexpr bool has_numbers<T, std::void_t<typename T::value_type>> =
    std::is_arithmetic_v<typename T::value_type> || is_complex<typename T::value_type>;

/// What a type is that is no value of Lua.
enum class Unfit {
  callable,
  address,
  smart_pointer,
  map,
  optional,
  numbers,
  items,
  enumeration,
  duration,
  complex,
  launch,
  kernel,
  other
};

template <class T>
constexpr Unfit unfit_of() {
  if (is_callable<T>) return Unfit::callable;
  if (std::is_pointer_v<T>) return Unfit::address;
  if (is_smart_pointer<T>) return Unfit::smart_pointer;
  if (is_map<T>) return Unfit::map;
  if (is_optional<T>) return Unfit::optional;
  if (has_size<T>) return has_numbers<T> ? Unfit::numbers : Unfit::items;
  if (std::is_enum_v<T>) return Unfit::enumeration;
  if (is_duration<T>) return Unfit::duration;
  if (is_complex<T>) return Unfit::complex;
  if (std::is_same_v<T, Launch>) return Unfit::launch;
  return std::is_same_v<T, Kernel> ? Unfit::kernel : Unfit::other;
}

/// Does not compile, and says what gives such a value to Lua.
template <Unfit unfit>
void refuse_value() {
  static_assert(unfit != Unfit::callable,
                "a function is no value: state.bind() makes a C++ function one of Lua's, "
                "state.bind<double(double)>(path, function)");
  static_assert(unfit != Unfit::address,
                "an address is no value: state.borrow(pointer, count) makes an Array over the memory, for what a "
                "script or a kernel writes there, and state.copy(pointer, count) one of a copy");
  static_assert(unfit != Unfit::smart_pointer,
                "a pointer is no value: *pointer is what it points to, and state.borrow(data, {4}, owner) makes an "
                "Array over memory that a std::shared_ptr owns");
  static_assert(unfit != Unfit::map, "a table is set field by field: state.set(\"settings.gain\", 2.5)");
  static_assert(unfit != Unfit::optional,
                "an optional is no value: *optional is its value, and nullptr is nil where it has none");
  static_assert(unfit != Unfit::numbers,
                "a vector is no value: state.copy(v) makes an Array of it, state.borrow(v) one over its memory");
  static_assert(unfit != Unfit::items,
                "a container of what is no number becomes a table, item by item: state.set(\"names[1]\", names[0])");
  static_assert(unfit != Unfit::enumeration,
                "an enum is no value for Lua: static_cast<int>(mode) is its number, a text its name");
  static_assert(unfit != Unfit::duration,
                "a time is no value: a deadline is given by function.within(std::chrono::milliseconds(100), "
                "arguments...), and time.count() is a number");
  static_assert(unfit != Unfit::complex,
                "a complex number is no value: state.copy(&z, 1) makes an Array of one element");
  static_assert(unfit != Unfit::launch,
                "a launch is called in C++, launch(arguments...): state.bind<void(gpulua::Array)>(path, [=](const "
                "gpulua::Array& x) { launch(x); }) makes it a function of Lua");
  static_assert(unfit != Unfit::kernel,
                "a kernel is called in C++, kernel.over(count)(arguments...): state.bind() makes a function that does "
                "so one of Lua's");
  static_assert(unfit != Unfit::other,
                "a struct is no value: its members go one by one, state.set(\"settings.gain\", settings.gain); values "
                "for Lua are nullptr, bool, numbers, texts, Array, Function and Object");
}

/// The same for what Lua gives.
template <class T>
void refuse_result() {
  constexpr Unfit unfit = unfit_of<T>();
  constexpr bool is_text = std::is_convertible_v<T, std::string_view>;
  constexpr bool is_table = unfit == Unfit::map || (unfit == Unfit::items && !is_text);
  static_assert(!is_text, "a text is read as a std::string, which keeps it");
  static_assert(unfit != Unfit::enumeration,
                "an enum is read as its number: static_cast<Mode>(state.value<int>(path)), and int in the type of a "
                "function");
  static_assert(unfit != Unfit::optional,
                "nil is no optional: `return x or 0` in the script gives a value for it, and gpulua::Object takes a "
                "table");
  static_assert(unfit != Unfit::callable,
                "a function of Lua is read as gpulua::Function<double(double)>, which a std::function takes");
  static_assert(!is_table,
                "a table is read field by field, state.value<double>(\"settings.gain\"), and gpulua::Object takes it "
                "whole");
  static_assert(
      is_text || is_table || unfit == Unfit::enumeration || unfit == Unfit::optional || unfit == Unfit::callable,
      "values are bool, numbers, std::string, Array, Function and Object, results std::tuple of these, too: "
      "call<gpulua::Array>(path).to_vector<double>() reads the elements of an array, and a function takes "
      "them as bind<double(gpulua::Array)>, whose x.to_vector<float>() is the vector");
}

}  // namespace detail
}  // namespace gpulua

#endif
