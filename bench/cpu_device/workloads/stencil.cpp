// y[i] = (x[i - 1] + 2 x[i] + x[i + 1]) / 4, with the neighbours of the ends clamped.

#include "bench/cpu_device/side.h"

namespace {

void stencil(const float* x, float* y, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = 0.25f * x[std::max(i - 1, 0l)] + 0.5f * x[i] + 0.25f * x[std::min(i + 1, n - 1)];
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto x = side.uniform<float>("x", n, -1, 1);
  std::vector<float> y(n);
  const auto work = [&] { stencil(x.data(), y.data(), n); };
  work();
  side.save("y", y);
  bench::time(work);
}
