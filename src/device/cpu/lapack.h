#pragma once

// LAPACK's routines in libopenblas, for each of its four types, with one signature for real and complex matrices. They
// are Fortran's: arguments are passed by address, and the lengths of letters follow them. A matrix is column-major.

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "src/device/cpu/openblas.h"

namespace gpulua::cpu {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

/// The routines for one type. Each returns LAPACK's info.
template <class T>
class Lapack {
 public:
  static constexpr bool is_complex = !std::is_floating_point_v<T>;

  explicit Lapack(const OpenBlasLibrary& library) {
    constexpr bool is_double = sizeof(Real<T>) == 8;
    const std::string type(1, is_complex ? (is_double ? 'z' : 'c') : (is_double ? 'd' : 's'));
    library.find(getrf_, type + "getrf_"), library.find(getrs_, type + "getrs_");
    library.find(potrf_, type + "potrf_"), library.find(geqrf_, type + "geqrf_");
    library.find(orgqr_, type + (is_complex ? "ungqr_" : "orgqr_"));
    library.find(syevd_, type + (is_complex ? "heevd_" : "syevd_"));
    library.find(geev_, type + "geev_"), library.find(gesdd_, type + "gesdd_"), library.find(gesvd_, type + "gesvd_");
  }

  int getrf(int m, int n, T* a, int* pivots) const {
    int info = 0;
    getrf_(&m, &n, a, &m, pivots, &info);
    return info;
  }

  int getrs(char op, int n, int columns, const T* a, const int* pivots, T* b) const {
    int info = 0;
    getrs_(&op, &n, &columns, a, &n, pivots, b, &n, &info, 1);
    return info;
  }

  int potrf(char triangle, int n, T* a) const {
    int info = 0;
    potrf_(&triangle, &n, a, &n, &info, 1);
    return info;
  }

  int geqrf(int m, int n, T* a, T* factors) const {
    return with_work([&](T* work, int size, int* info) { geqrf_(&m, &n, a, &m, factors, work, &size, info); });
  }

  int orgqr(int m, int n, int k, T* a, const T* factors) const {
    return with_work([&](T* work, int size, int* info) { orgqr_(&m, &n, &k, a, &m, factors, work, &size, info); });
  }

  int syevd(char vectors, char triangle, int n, T* a, Real<T>* values) const {
    T size{};
    Real<T> real_size{};
    int int_size = 0, info = 0;
    const auto call = [&](T* work, int count, Real<T>* real, int real_count, int* ints, int int_count) {
      if constexpr (is_complex)
        syevd_(&vectors, &triangle, &n, a, &n, values, work, &count, real, &real_count, ints, &int_count, &info, 1, 1);
      else
        syevd_(&vectors, &triangle, &n, a, &n, values, work, &count, ints, &int_count, &info, 1, 1);
    };
    call(&size, -1, &real_size, -1, &int_size, -1);
    std::vector<T> work(count_of(size));
    std::vector<Real<T>> real(count_of(real_size));
    std::vector<int> ints(static_cast<std::size_t>(int_size));
    call(work.data(), static_cast<int>(work.size()), real.data(), static_cast<int>(real.size()), ints.data(), int_size);
    return info;
  }

  /// `values`: n, of a real matrix 2 n: real parts, then imaginary parts. `right`: null where no vectors are wanted.
  int geev(int n, T* a, T* values, T* right) const {
    const char none = 'N', wanted = right != nullptr ? 'V' : 'N';
    const int one = 1, step = right != nullptr ? n : 1;
    if constexpr (is_complex) {
      std::vector<Real<T>> real(2 * static_cast<std::size_t>(n));
      return with_work([&](T* work, int size, int* info) {
        geev_(&none, &wanted, &n, a, &n, values, nullptr, &one, right, &step, work, &size, real.data(), info, 1, 1);
      });
    } else {
      return with_work([&](T* work, int size, int* info) {
        geev_(&none, &wanted, &n, a, &n, values, values + n, nullptr, &one, right, &step, work, &size, info, 1, 1);
      });
    }
  }

  /// `vectors`: 'N' none, 'S' the first min(m, n), 'A' all. By gesvd where gesdd does not converge.
  int svd(char vectors, int m, int n, T* a, Real<T>* values, T* left, T* right) const {
    const int k = std::min(m, n), left_step = vectors == 'N' ? 1 : m;
    const int right_step = vectors == 'N' ? 1 : vectors == 'A' ? n : k;
    const std::vector<T> kept(a, a + static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    std::vector<int> ints(8 * static_cast<std::size_t>(k));
    const auto small = static_cast<std::size_t>(k), large = static_cast<std::size_t>(std::max(m, n));
    std::vector<Real<T>> real(is_complex ? std::max(5 * small * (small + 1), 2 * small * (large + small + 1)) : 0);
    const int info = with_work([&](T* work, int size, int* result) {
      if constexpr (is_complex)
        gesdd_(&vectors, &m, &n, a, &m, values, left, &left_step, right, &right_step, work, &size, real.data(),
               ints.data(), result, 1);
      else
        gesdd_(&vectors, &m, &n, a, &m, values, left, &left_step, right, &right_step, work, &size, ints.data(), result,
               1);
    });
    if (info <= 0) return info;
    std::ranges::copy(kept, a);
    return with_work([&](T* work, int size, int* result) {
      if constexpr (is_complex)
        gesvd_(&vectors, &vectors, &m, &n, a, &m, values, left, &left_step, right, &right_step, work, &size,
               real.data(), result, 1, 1);
      else
        gesvd_(&vectors, &vectors, &m, &n, a, &m, values, left, &left_step, right, &right_step, work, &size, result, 1,
               1);
    });
  }

 private:
  using Size = const int*;
  using Letter = const char*;
  using Length = std::size_t;
  template <class RealFunction, class ComplexFunction>
  using Either = std::conditional_t<is_complex, ComplexFunction, RealFunction>;

  static std::size_t count_of(T size) { return static_cast<std::size_t>(std::max(std::real(size), Real<T>(1))); }

  /// Calls call(work, size, info): first with the size -1, to learn the size, then with the work area.
  template <class Call>
  static int with_work(const Call& call) {
    T size{};
    int info = 0;
    call(&size, -1, &info);
    if (info != 0) return info;
    std::vector<T> work(count_of(size));
    call(work.data(), static_cast<int>(work.size()), &info);
    return info;
  }

  void (*getrf_)(Size m, Size n, T* a, Size lda, int* pivots, int* info);
  void (*getrs_)(Letter op, Size n, Size columns, const T* a, Size lda, const int* pivots, T* b, Size ldb, int* info,
                 Length);
  void (*potrf_)(Letter triangle, Size n, T* a, Size lda, int* info, Length);
  void (*geqrf_)(Size m, Size n, T* a, Size lda, T* factors, T* work, Size size, int* info);
  void (*orgqr_)(Size m, Size n, Size k, T* a, Size lda, const T* factors, T* work, Size size, int* info);
  Either<void (*)(Letter vectors, Letter triangle, Size n, T* a, Size lda, Real<T>* values, T* work, Size size,
                  int* ints, Size ints_size, int* info, Length, Length),
         void (*)(Letter vectors, Letter triangle, Size n, T* a, Size lda, Real<T>* values, T* work, Size size,
                  Real<T>* real, Size real_size, int* ints, Size ints_size, int* info, Length, Length)>
      syevd_;
  Either<void (*)(Letter left, Letter right, Size n, T* a, Size lda, T* real_parts, T* imaginary_parts, T* vl,
                  Size ldvl, T* vr, Size ldvr, T* work, Size size, int* info, Length, Length),
         void (*)(Letter left, Letter right, Size n, T* a, Size lda, T* values, T* vl, Size ldvl, T* vr, Size ldvr,
                  T* work, Size size, Real<T>* real, int* info, Length, Length)>
      geev_;
  Either<void (*)(Letter vectors, Size m, Size n, T* a, Size lda, Real<T>* values, T* u, Size ldu, T* v, Size ldv,
                  T* work, Size size, int* ints, int* info, Length),
         void (*)(Letter vectors, Size m, Size n, T* a, Size lda, Real<T>* values, T* u, Size ldu, T* v, Size ldv,
                  T* work, Size size, Real<T>* real, int* ints, int* info, Length)>
      gesdd_;
  Either<void (*)(Letter left, Letter right, Size m, Size n, T* a, Size lda, Real<T>* values, T* u, Size ldu, T* v,
                  Size ldv, T* work, Size size, int* info, Length, Length),
         void (*)(Letter left, Letter right, Size m, Size n, T* a, Size lda, Real<T>* values, T* u, Size ldu, T* v,
                  Size ldv, T* work, Size size, Real<T>* real, int* info, Length, Length)>
      gesvd_;
};

}  // namespace gpulua::cpu
