// The sum of float32 numbers. The variant says how the threads of our blocks add theirs up: in a tree in shared memory,
// with a barrier at each level, or by shuffles. The peers' loop knows no such thing.

#include "bench/cpu_device/side.h"

namespace {

float sum_of(const float* x, long n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (long i = 0; i < n; ++i) total += x[i];
  return total;
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto x = side.uniform<float>("x", n, 0, 1);
  std::vector<float> sum(1);
  const auto work = [&] { sum[0] = sum_of(x.data(), n); };
  work();
  side.save("sum", sum);
  bench::time(work);
}
