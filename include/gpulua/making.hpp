#ifndef GPULUA_MAKING_HPP
#define GPULUA_MAKING_HPP

// How a State makes arrays, for gpulua.hpp, which includes this.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "gpulua.h"
#include "shape.hpp"

namespace gpulua::detail {

template <class T>
inline constexpr bool is_shared = false;
template <class T>
inline constexpr bool is_shared<std::shared_ptr<T>> = true;

/// The axes that a member of structs has itself, and its elements: those of an array, position[3].
template <class Member>
struct Axes {
  using Element = Member;
  static Shape shape(std::int64_t count) { return count; }
  static Strides strides(std::size_t bytes) { return bytes; }
};
template <class T, std::size_t length>
struct Axes<T[length]> {
  using Element = T;
  static Shape shape(std::int64_t count) { return {count, length}; }
  static Strides strides(std::size_t bytes) { return {bytes, sizeof(T)}; }
};
template <class T, std::size_t length>
struct Axes<std::array<T, length>> : Axes<T[length]> {};
template <class T, std::size_t length>
struct Axes<const std::array<T, length>> : Axes<const T[length]> {};

/// The part of State that makes arrays.
template <class State>
class MakesArrays {
 public:
  /// An array over the program's memory on a device, the state's by default: no copy, row-major. A std::vector's memory
  /// is that of the device "cpu". Nothing tells the library when the memory ends: the program keeps it until the
  /// state has ended, or until the array and all that a script has made of it are gone; with an owner the library does.
  template <class T>
  Array borrow(T* data, const Shape& shape, const char* device = nullptr) const {
    return lend(data, shape, nullptr, device, nullptr, nullptr);
  }
  /// The same, and the owner of the memory lives until the last work that uses it is done.
  template <class T>
  Array borrow(T* data, const Shape& shape, std::shared_ptr<const void> owner, const char* device = nullptr) const {
    return keep(data, shape, nullptr, std::move(owner), device);
  }
  /// One member of the structs in a std::vector, std::array, std::span or their like, which the program keeps as the
  /// memory above: borrow(bodies, &Body::mass) has an element for each, and of `float position[3]`, or a std::array, a
  /// row. `more`: the owner, the device.
  template <class Elements, class Member, class Struct, class... More,
            class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow(Elements& elements, Member Struct::*member, More&&... more) const {
    static_assert(!std::is_function_v<Member>, "a member of data has elements, &Body::mass; a function has none");
    if constexpr (can_borrow<Elements> && !std::is_function_v<Member>) {
      const std::size_t count = std::size(elements), bytes = sizeof *std::data(elements);
      using Whole = std::remove_reference_t<decltype(std::data(elements)->*member)>;
      using Element = typename Axes<Whole>::Element;
      Element* const first = count == 0 ? nullptr : reinterpret_cast<Element*>(&(std::data(elements)->*member));
      return borrow(first, Axes<Whole>::shape(to_int64(count, "borrow")), Axes<Whole>::strides(bytes),
                    std::forward<More>(more)...);
    }
    return Array();
  }
  /// Elements apart from each other, with strides in bytes: borrow(&v[0].mass, n, Strides(sizeof v[0])) is the member
  /// of structs at a pointer.
  template <class T>
  Array borrow(T* data, const Shape& shape, const Strides& strides, const char* device = nullptr) const {
    return lend(data, shape, &strides, device, nullptr, nullptr);
  }
  template <class T>
  Array borrow(T* data, const Shape& shape, const Strides& strides, std::shared_ptr<const void> owner,
               const char* device = nullptr) const {
    return keep(data, shape, &strides, std::move(owner), device);
  }
  /// The elements of a std::vector, std::array or their like, which the program keeps as the memory above: no
  /// temporary.
  template <class Elements, class = std::enable_if_t<!is_shared<std::remove_cv_t<Elements>>>>
  Array borrow(Elements& elements) const {
    if constexpr (can_borrow<Elements>) return borrow(std::data(elements), std::size(elements));
    return Array();
  }
  /// The same in a shape of as many elements. `more`: the owner, the device.
  template <class Elements, class... More, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow(Elements& elements, const Shape& shape, More&&... more) const {
    if constexpr (can_borrow<Elements>) {
      shape.check_count("borrow", std::size(elements));
      return borrow(std::data(elements), shape, std::forward<More>(more)...);
    }
    return Array();
  }
  /// The same with strides, which stay within the elements: column-major ones in {rows, columns} have
  /// Strides(sizeof(float), rows * sizeof(float)).
  template <class Elements, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow(Elements& elements, const Shape& shape, const Strides& strides, const char* device = nullptr) const {
    if constexpr (can_borrow<Elements>) {
      strides.check_range(shape, std::size(elements), sizeof *std::data(elements));
      return borrow(std::data(elements), shape, strides, device);
    }
    return Array();
  }
  /// The elements of a container that a std::shared_ptr owns, which lives until the last work that uses them is done.
  template <class Elements>
  Array borrow(const std::shared_ptr<Elements>& elements) const {
    if (elements == nullptr) throw Error(GPULUA_ARGUMENT, "[borrow] expected elements, got an empty std::shared_ptr");
    return borrow(*elements, std::size(*elements), std::shared_ptr<const void>(elements));
  }
  template <class Elements>
  Array borrow(const std::shared_ptr<Elements>& elements, const Shape& shape, const char* device = nullptr) const {
    if (elements == nullptr) throw Error(GPULUA_ARGUMENT, "[borrow] expected elements, got an empty std::shared_ptr");
    return borrow(*elements, shape, std::shared_ptr<const void>(elements), device);
  }
  template <class Elements, class Member, class Struct>
  Array borrow(const std::shared_ptr<Elements>& elements, Member Struct::*member, const char* device = nullptr) const {
    if (elements == nullptr) throw Error(GPULUA_ARGUMENT, "[borrow] expected elements, got an empty std::shared_ptr");
    return borrow(*elements, member, std::shared_ptr<const void>(elements), device);
  }
  template <class Elements, class... More, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow(const Elements&&, const More&...) const {
    static_assert(never<Elements>,
                  "the memory of a temporary ends with its statement: give borrow() a variable, or state.copy(v)");
    return Array();
  }
  template <class T, class... More>
  Array borrow(std::initializer_list<T>, const More&...) const {
    static_assert(never<T>, "the memory of {1, 2, 3} ends with its statement: state.copy({1, 2, 3}) copies it");
    return Array();
  }
  template <class T>
  Array borrow(T*, const char*, const Shape&) const {
    static_assert(never<T>, "the shape comes before the device: state.borrow(data, {4}, \"cpu\")");
    return Array();
  }
  template <class T, class Member, class Struct, class... More, class = std::enable_if_t<std::is_pointer_v<T>>>
  Array borrow(const T&, Member Struct::*, const More&...) const {
    static_assert(never<T>,
                  "a pointer does not tell how many structs there are: state.borrow(&v[0].mass, count, "
                  "gpulua::Strides(sizeof v[0])), or state.borrow(v, &Body::mass) of a container");
    return Array();
  }
  template <class T, class Owner>
  Array borrow(T*, const std::shared_ptr<Owner>&, const Shape&) const {
    static_assert(never<T>, "the shape comes before the owner: state.borrow(data, {4}, owner)");
    return Array();
  }
  /// The same for host memory on the state's device: a GPU reaches it where it is pinned or registered.
  template <class T>
  Array borrow_host(T* data, const Shape& shape) const {
    return host(data, shape, 0);
  }
  template <class Elements, class = decltype(std::size(std::declval<Elements&>()))>
  Array borrow_host(Elements& elements, const Shape& shape) const {
    shape.check_count("borrow_host", std::size(elements));
    return borrow_host(std::data(elements), shape);
  }
  /// An array with a copy of the elements on the state's device: those of a std::vector, std::array, std::span or their
  /// like, also in braces: state.copy({1.0f, 2.0f}). Of a std::vector<bool>, a mask.
  template <class Elements>
  Array copy(const Elements& elements) const {
    return copy(elements, std::size(elements));
  }
  /// The same in a shape of as many elements.
  template <class Elements, class = decltype(std::size(std::declval<const Elements&>()))>
  Array copy(const Elements& elements, const Shape& shape) const {
    shape.check_count("copy", std::size(elements));
    if constexpr (std::is_same_v<Elements, std::vector<bool>>) {
      const auto bits = std::make_unique<bool[]>(elements.size() + 1);
      std::copy(elements.begin(), elements.end(), bits.get());
      return copy(bits.get(), shape);
    } else if constexpr (is_in_row<Elements>) {
      return copy(std::data(elements), shape);
    }
    return Array();
  }
  template <class T>
  Array copy(std::initializer_list<T> elements) const {
    return copy(elements.begin(), elements.size());
  }
  template <class T>
  Array copy(std::initializer_list<T> elements, const Shape& shape) const {
    shape.check_count("copy", elements.size());
    return copy(elements.begin(), shape);
  }
  template <class T>
  Array copy(const T* data, const Shape& shape) const {
    return host(const_cast<T*>(data), shape, 1);
  }
  template <class T>
  Array zeros(const Shape& shape) const {
    gpulua_array* array = nullptr;
    check(gpulua_array_zeros(state("zeros"), dtype_of<T>(), shape.ndim(), shape.data(), &array), {"array_", "zeros"});
    return Array(array);
  }

  Array zeros(const Shape&) const = delete;  // zeros() is told the element's type: state.zeros<float>({rows, columns})

 private:
  gpulua_state* state(const char* op) const {
    return checked(static_cast<const State&>(*this).handle(), op, "a state");
  }

  template <class T>
  Array lend(T* data, const Shape& shape, const Strides* strides, const char* device, void (*release)(void*),
             void* user) const {
    static_assert(!std::is_const_v<T>, "scripts write to borrowed memory, and this is const: state.copy(v) copies it");
    if (strides != nullptr) strides->check_axes(shape);
    gpulua_array* array = nullptr;
    if constexpr (!std::is_const_v<T>)
      check(gpulua_array_device(state("borrow"), device, data, dtype_of<T>(), shape.ndim(), shape.data(),
                                strides != nullptr ? strides->data() : nullptr, release, user, &array),
            {"array_", "borrow"});
    return Array(array);
  }
  /// The same with an owner.
  template <class T>
  Array keep(T* data, const Shape& shape, const Strides* strides, std::shared_ptr<const void> owner,
             const char* device) const {
    auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
    const auto release = [](void* user) { delete static_cast<std::shared_ptr<const void>*>(user); };
    Array array = lend(data, shape, strides, device, release, kept.get());
    kept.release();
    return array;
  }

  template <class T>
  Array host(T* data, const Shape& shape, int copy) const {
    const char* const op = copy != 0 ? "copy" : "borrow_host";
    gpulua_array* array = nullptr;
    check(gpulua_array_host(state(op), data, dtype_of<T>(), shape.ndim(), shape.data(), nullptr, nullptr, nullptr, copy,
                            &array),
          {"array_", op});
    return Array(array);
  }
};

}  // namespace gpulua::detail

#endif
