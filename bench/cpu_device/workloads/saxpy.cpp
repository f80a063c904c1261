// out = a x + y: the speed of memory.

#include "bench/cpu_device/side.h"

namespace {

void saxpy(float a, const float* x, const float* y, float* out, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto x = side.uniform<float>("x", n, -1, 1), y = side.uniform<float>("y", n, -1, 1);
  std::vector<float> out(n);
  const auto work = [&] { saxpy(2.5f, x.data(), y.data(), out.data(), n); };
  work();
  side.save("out", out);
  bench::time(work);
}
