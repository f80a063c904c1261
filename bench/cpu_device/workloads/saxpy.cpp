// out = a x + y: the speed of memory.

#include "bench/cpu_device/side.h"

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto x = side.uniform<float>("x", n, -1, 1), y = side.uniform<float>("y", n, -1, 1);
  std::vector<float> out(n);
  const auto work = [&] {
    const float a = 2.5f;
#pragma omp parallel for
    for (long i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
  };
  work();
  side.save("out", out);
  bench::time(work);
}
