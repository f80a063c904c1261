// How often each of 256 values occurs. The variant says where the atomics of our kernel go: to the result in global
// memory, or to a block's own bins in shared memory first. The peers' threads count on their own.

#include <cstdint>

#include "bench/cpu_device/side.h"

namespace {

void histogram(const std::uint8_t* values, std::uint32_t* result, long n) {
  std::uint32_t bins[256] = {};
#pragma omp parallel for reduction(+ : bins[:256])
  for (long i = 0; i < n; ++i) ++bins[values[i]];
  std::copy(bins, bins + 256, result);
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto values = side.uniform<std::uint8_t>("values", n, 0, 256);
  std::vector<std::uint32_t> bins(256);
  const auto work = [&] { histogram(values.data(), bins.data(), n); };
  work();
  side.save("bins", bins);
  bench::time(work);
}
