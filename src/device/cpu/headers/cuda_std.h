// libcu++'s cuda::std: the names of the headers beside this one, and the few that only it brings.
#ifndef GPULUA_CUDA_STD
#define GPULUA_CUDA_STD
#include "gpulua/algorithm"
#include "gpulua/array"
#include "gpulua/cmath"
#include "gpulua/functional"
#include "gpulua/initializer_list"
#include "gpulua/iterator"
#include "gpulua/limits"
#include "gpulua/numeric"
#include "gpulua/tuple"
#include "gpulua/type_traits"
#include "gpulua/utility"
#include "gpulua/stdint.h"
#include "gpulua/stddef.h"

namespace cuda {
namespace std {
using namespace ::std;

// ---- templates that sources specialise in this namespace, others in std ----------------------------------------------------------

template <class T>
struct numeric_limits : ::std::numeric_limits<T> {};
template <class T>
struct numeric_limits<const T> : numeric_limits<T> {};
#define GPULUA_OWN(name)                   \
  template <class T>                       \
  struct name : ::std::name<T> {};         \
  template <class T>                       \
  constexpr bool name##_v = name<T>::value;
GPULUA_OWN(is_arithmetic) GPULUA_OWN(is_floating_point) GPULUA_OWN(is_integral) GPULUA_OWN(is_pointer) GPULUA_OWN(is_reference)
GPULUA_OWN(is_lvalue_reference) GPULUA_OWN(is_rvalue_reference) GPULUA_OWN(is_scalar) GPULUA_OWN(is_signed)
GPULUA_OWN(is_unsigned) GPULUA_OWN(is_empty) GPULUA_OWN(is_pod) GPULUA_OWN(is_trivially_copyable)
#undef GPULUA_OWN
template <class T, class = void>
struct gpulua_tuple_size {};
template <class T>
struct gpulua_tuple_size<T, void_t<decltype(sizeof(::std::tuple_size<T>))>> : ::std::tuple_size<T> {};
template <class T>
struct tuple_size : gpulua_tuple_size<T> {};
template <class T>
struct tuple_size<const T> : tuple_size<T> {};
template <class T>
constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t index, class T, class = void>
struct gpulua_tuple_element {};
template <size_t index, class T>
struct gpulua_tuple_element<index, T, void_t<decltype(sizeof(::std::tuple_element<index, T>))>> : ::std::tuple_element<index, T> {};
template <size_t index, class T>
struct tuple_element : gpulua_tuple_element<index, T> {};
template <size_t index, class T>
using tuple_element_t = typename tuple_element<index, T>::type;
template <size_t index, class T>
struct tuple_element<index, const T> {
  using type = const tuple_element_t<index, T>;
};

// ---- <bit> -----------------------------------------------------------------------------------------------------------------------

template <class To, class From>
__host__ __device__ constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
template <class T>
__host__ __device__ constexpr int popcount(T x) {
  return __builtin_popcountll(x);
}
template <class T>
__host__ __device__ constexpr int countl_zero(T x) {
  return x == 0 ? (int)sizeof(T) * 8 : __builtin_clzll(x) - 64 + (int)sizeof(T) * 8;
}
template <class T>
__host__ __device__ constexpr int countr_zero(T x) {
  return x == 0 ? (int)sizeof(T) * 8 : __builtin_ctzll(x);
}
template <class T>
__host__ __device__ constexpr int countl_one(T x) {
  return countl_zero((T)~x);
}
template <class T>
__host__ __device__ constexpr int countr_one(T x) {
  return countr_zero((T)~x);
}
template <class T>
__host__ __device__ constexpr int bit_width(T x) {
  return (int)sizeof(T) * 8 - countl_zero(x);
}
template <class T>
__host__ __device__ constexpr bool has_single_bit(T x) {
  return x != 0 && (x & (x - 1)) == 0;
}
template <class T>
__host__ __device__ constexpr T bit_floor(T x) {
  return x == 0 ? (T)0 : (T)((T)1 << (bit_width(x) - 1));
}
template <class T>
__host__ __device__ constexpr T bit_ceil(T x) {
  return x <= 1 ? (T)1 : (T)((T)1 << bit_width((T)(x - 1)));
}
template <class T>
__host__ __device__ constexpr T rotl(T x, int places) {
  constexpr int bits = (int)sizeof(T) * 8;
  return (places & (bits - 1)) == 0 ? x : (T)(x << (places & (bits - 1)) | x >> (-places & (bits - 1)));
}
template <class T>
__host__ __device__ constexpr T rotr(T x, int places) {
  return rotl(x, -places);
}

// ---- <optional> ------------------------------------------------------------------------------------------------------------------

struct nullopt_t {};
constexpr nullopt_t nullopt{};
/// The value's type has a default constructor here.
template <class T>
class optional {
  T value_{};
  bool has_ = false;

 public:
  typedef T value_type;
  constexpr optional() = default;
  __host__ __device__ constexpr optional(nullopt_t) {}
  template <class U = T, class = enable_if_t<is_convertible<U, T>::value && !is_same<decay_t<U>, optional>::value>>
  __host__ __device__ constexpr optional(U&& value) : value_(static_cast<U&&>(value)), has_(true) {}
  __host__ __device__ constexpr bool has_value() const { return has_; }
  __host__ __device__ constexpr explicit operator bool() const { return has_; }
  __host__ __device__ constexpr T& operator*() { return value_; }
  __host__ __device__ constexpr const T& operator*() const { return value_; }
  __host__ __device__ constexpr T* operator->() { return &value_; }
  __host__ __device__ constexpr const T* operator->() const { return &value_; }
  __device__ T& value() {
    if (!has_) __trap();
    return value_;
  }
  template <class U>
  __host__ __device__ constexpr T value_or(U&& other) const {
    return has_ ? value_ : static_cast<T>(static_cast<U&&>(other));
  }
  template <class... Arguments>
  __host__ __device__ T& emplace(Arguments&&... arguments) {
    has_ = true;
    return value_ = T(static_cast<Arguments&&>(arguments)...);
  }
  __host__ __device__ void reset() { *this = optional(); }
};
template <class T>
__host__ __device__ constexpr optional<decay_t<T>> make_optional(T&& value) {
  return optional<decay_t<T>>(static_cast<T&&>(value));
}

// ---- <span> ----------------------------------------------------------------------------------------------------------------------

constexpr size_t dynamic_extent = (size_t)-1;
/// The number of elements is kept also where `extent` says it.
template <class T, size_t extent = dynamic_extent>
class span {
  T* data_ = nullptr;
  size_t size_ = 0;

 public:
  typedef T element_type;
  typedef remove_cv_t<T> value_type;
  typedef size_t size_type;
  typedef T* iterator;
  constexpr span() = default;
  __host__ __device__ constexpr span(T* data, size_t size) : data_(data), size_(size) {}
  __host__ __device__ constexpr span(T* first, T* last) : data_(first), size_((size_t)(last - first)) {}
  template <size_t count>
  __host__ __device__ constexpr span(T (&array)[count]) : data_(array), size_(count) {}
  template <class U, size_t count>
  __host__ __device__ constexpr span(array<U, count>& array) : data_(array.data()), size_(count) {}
  template <class U, size_t count, class = enable_if_t<is_convertible<U (*)[], T (*)[]>::value>>
  __host__ __device__ constexpr span(const span<U, count>& other) : data_(other.data()), size_(other.size()) {}
  __host__ __device__ constexpr T* data() const { return data_; }
  __host__ __device__ constexpr size_t size() const { return size_; }
  __host__ __device__ constexpr size_t size_bytes() const { return size_ * sizeof(T); }
  __host__ __device__ constexpr bool empty() const { return size_ == 0; }
  __host__ __device__ constexpr T& operator[](size_t i) const { return data_[i]; }
  __host__ __device__ constexpr T& front() const { return data_[0]; }
  __host__ __device__ constexpr T& back() const { return data_[size_ - 1]; }
  __host__ __device__ constexpr T* begin() const { return data_; }
  __host__ __device__ constexpr T* end() const { return data_ + size_; }
  __host__ __device__ constexpr span<T> first(size_t count) const { return {data_, count}; }
  __host__ __device__ constexpr span<T> last(size_t count) const { return {data_ + size_ - count, count}; }
  __host__ __device__ constexpr span<T> subspan(size_t offset, size_t count = dynamic_extent) const {
    return {data_ + offset, count == dynamic_extent ? size_ - offset : count};
  }
};
}  // namespace std

// ---- <cuda/functional> -------------------------------------------------------------------------------------------------------------

template <class T = void>
struct maximum {
  template <class U, class V>
  __host__ __device__ constexpr typename std::common_type<U, V>::type operator()(const U& a, const V& b) const {
    return a < b ? b : a;
  }
};
template <class T = void>
struct minimum {
  template <class U, class V>
  __host__ __device__ constexpr typename std::common_type<U, V>::type operator()(const U& a, const V& b) const {
    return b < a ? b : a;
  }
};
}  // namespace cuda
#endif
