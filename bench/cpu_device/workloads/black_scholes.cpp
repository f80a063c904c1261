// Prices of European calls and puts. The cumulative normal distribution is the polynomial 26.2.17 of Abramowitz and
// Stegun, Handbook of Mathematical Functions. The variant is the dtype.

#include <cmath>

#include "bench/cpu_device/side.h"

namespace {

template <class T>
T cnd(T d) {
  const T k = 1 / (1 + T(0.2316419) * std::abs(d));
  const T tail =
      T(0.39894228040143267793994605993438) * std::exp(T(-0.5) * d * d) *
      (k * (T(0.31938153) + k * (T(-0.356563782) + k * (T(1.781477937) + k * (T(-1.821255978) + k * T(1.330274429))))));
  return d > 0 ? 1 - tail : tail;
}

template <class T>
void black_scholes(T* call, T* put, const T* S, const T* X, const T* years, T r, T v, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    const T root = std::sqrt(years[i]);
    const T d1 = (std::log(S[i] / X[i]) + (r + T(0.5) * v * v) * years[i]) / (v * root);
    const T d2 = d1 - v * root;
    const T discounted = X[i] * std::exp(-r * years[i]);
    call[i] = S[i] * cnd(d1) - discounted * cnd(d2);
    put[i] = discounted * (1 - cnd(d2)) - S[i] * (1 - cnd(d1));
  }
}

template <class T>
void run(bench::Side& side) {
  const long n = side.size();
  const auto S = side.uniform<T>("S", n, 5, 30), X = side.uniform<T>("X", n, 1, 100);
  const auto years = side.uniform<T>("T", n, 0.25, 10);
  std::vector<T> call(n), put(n);
  const auto work = [&] {
    black_scholes<T>(call.data(), put.data(), S.data(), X.data(), years.data(), T(0.02), T(0.30), n);
  };
  work();
  side.save("call", call);
  side.save("put", put);
  bench::time(work);
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  side.variant() == "float64" ? run<double>(side) : run<float>(side);
}
