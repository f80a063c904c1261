// bench_init: a process that starts the device and ends. Prints the milliseconds that cuInit and the primary context
// took.

#include "bench/launch/driver.h"

int main() {
  const auto start = std::chrono::steady_clock::now();
  bench::start_device();
  std::printf("%.2f\n", bench::microseconds_since(start) / 1000);
}
