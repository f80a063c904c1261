// A bitonic sort of 32-bit integers; the size is a power of 2.

#include "bench/cpu_device/side.h"

namespace {

void sort(int* x, long n) {
  for (long k = 2; k <= n; k *= 2)
    for (long j = k / 2; j > 0; j /= 2) {
#pragma omp parallel for
      for (long i = 0; i < n; ++i) {
        const long other = i ^ j;
        if (other <= i) continue;
        const bool rising = (i & k) == 0;
        if ((x[i] > x[other]) == rising) std::swap(x[i], x[other]);
      }
    }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto start = side.uniform<int>("start", n, -1e9, 1e9);
  std::vector<int> x;
  const auto work = [&] {
    x = start;
    sort(x.data(), n);
  };
  work();
  side.save("sorted", x);
  bench::time(work);
}
