#ifndef GPULUA_OPERATORS_HPP
#define GPULUA_OPERATORS_HPP

// Operators of arrays, for array.hpp, which includes this: they are functions of scripts. A use of one does not
// compile, and the line that the compiler shows has what does.

#include <type_traits>

#include "errors.hpp"

namespace gpulua {

class Array;

namespace detail {

template <class T>
using IfOperand = std::enable_if_t<!std::is_base_of_v<Refused, T>>;
template <class T>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<T>>;

}  // namespace detail

template <class B, class = detail::IfOperand<B>>
Array operator+(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.add", x, y)
template <class B, class = detail::IfOperand<B>>
Array operator-(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.subtract", x, y)
template <class B, class = detail::IfOperand<B>>
Array operator*(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.multiply", x, y)
template <class B, class = detail::IfOperand<B>>
Array operator/(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.divide", x, y)
template <class B, class = detail::IfOperand<B>>
Array operator%(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.mod", x, y)
template <class A, class = detail::IfNumber<A>>
Array operator+(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.add", 1.0, x)
template <class A, class = detail::IfNumber<A>>
Array operator-(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.subtract", 1.0, x)
template <class A, class = detail::IfNumber<A>>
Array operator*(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.multiply", 2.0, x)
template <class A, class = detail::IfNumber<A>>
Array operator/(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.divide", 1.0, x)
Array operator-(const Array&) = delete;     // state.call<gpulua::Array>("gpu.negative", x)
template <class B, class = detail::IfOperand<B>>
Array& operator+=(Array&, const B&) = delete;  // x = state.call<gpulua::Array>("gpu.add", x, y)
template <class B, class = detail::IfOperand<B>>
Array& operator-=(Array&, const B&) = delete;  // x = state.call<gpulua::Array>("gpu.subtract", x, y)
template <class B, class = detail::IfOperand<B>>
Array& operator*=(Array&, const B&) = delete;  // x = state.call<gpulua::Array>("gpu.multiply", x, y)
template <class B, class = detail::IfOperand<B>>
Array& operator/=(Array&, const B&) = delete;  // x = state.call<gpulua::Array>("gpu.divide", x, y)
template <class B, class = detail::IfOperand<B>>
bool operator==(const Array&, const B&) = delete;  // state.call<bool>("gpu.array_equal", x, y)
template <class B, class = detail::IfOperand<B>>
bool operator!=(const Array&, const B&) = delete;  // !state.call<bool>("gpu.array_equal", x, y)
template <class B, class = detail::IfOperand<B>>
bool operator<(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.lt", x, y)
template <class B, class = detail::IfOperand<B>>
bool operator<=(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.le", x, y)
template <class B, class = detail::IfOperand<B>>
bool operator>(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.gt", x, y)
template <class B, class = detail::IfOperand<B>>
bool operator>=(const Array&, const B&) = delete;  // state.call<gpulua::Array>("gpu.ge", x, y)
template <class A, class = detail::IfNumber<A>>
bool operator==(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.eq", x, 1.0)
template <class A, class = detail::IfNumber<A>>
bool operator!=(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.ne", x, 1.0)
template <class A, class = detail::IfNumber<A>>
bool operator<(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.gt", x, 1.0)
template <class A, class = detail::IfNumber<A>>
bool operator<=(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.ge", x, 1.0)
template <class A, class = detail::IfNumber<A>>
bool operator>(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.lt", x, 1.0)
template <class A, class = detail::IfNumber<A>>
bool operator>=(A, const Array&) = delete;  // state.call<gpulua::Array>("gpu.le", x, 1.0)
Array operator!(const Array&) = delete;     // of a mask, state.call<gpulua::Array>("gpu.logical_not", mask)
template <class B, class = detail::IfOperand<B>>
Array operator&&(const Array&, const B&) = delete;  // of masks, state.call<gpulua::Array>("gpu.logical_and", a, b)
template <class B, class = detail::IfOperand<B>>
Array operator||(const Array&, const B&) = delete;  // of masks, state.call<gpulua::Array>("gpu.logical_or", a, b)
template <class B, class = detail::IfOperand<B>>
Array operator&(const Array&, const B&) = delete;  // of masks, state.call<gpulua::Array>("gpu.logical_and", a, b)
template <class B, class = detail::IfOperand<B>>
Array operator|(const Array&, const B&) = delete;  // of masks, state.call<gpulua::Array>("gpu.logical_or", a, b)
template <class Stream>
Stream& operator<<(Stream&, const Array&) = delete;  // state.call<std::string>("tostring", x) is the array's text

}  // namespace gpulua

#endif
