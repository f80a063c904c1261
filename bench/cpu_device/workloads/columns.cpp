// Each column of a square image convolved with 17 weights, zeros outside of it.

#include "bench/cpu_device/side.h"

namespace {

constexpr long radius = 8;

void convolve(const float* x, const float* weights, float* y, long n) {
#pragma omp parallel for
  for (long r = 0; r < n; ++r)
    for (long c = 0; c < n; ++c) {
      float sum = 0;
      for (long k = std::max(-radius, -r); k <= std::min(radius, n - 1 - r); ++k)
        sum += weights[radius - k] * x[(r + k) * n + c];
      y[r * n + c] = sum;
    }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto x = side.uniform<float>("x", n * n, -1, 1),
             weights = side.uniform<float>("weights", 2 * radius + 1, -1, 1);
  std::vector<float> y(n * n);
  const auto work = [&] { convolve(x.data(), weights.data(), y.data(), n); };
  work();
  side.save("y", y);
  bench::time(work);
}
