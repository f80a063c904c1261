// exp(x - max) / sum of each row of a matrix with 1024 columns, in float32, the sum in float64. `size`: its rows. The
// variant is how the kernel is written: a thread for each row, or a block.

#include <cmath>

#include "bench/cpu_device/side.h"

namespace {

constexpr long columns = 1024;

void softmax(const float* x, float* y, long rows) {
#pragma omp parallel for
  for (long r = 0; r < rows; ++r) {
    const float* from = x + r * columns;
    float* to = y + r * columns;
    float most = -INFINITY;
    for (long c = 0; c < columns; ++c)
      if (from[c] > most) most = from[c];
    double sum = 0;
    for (long c = 0; c < columns; ++c) {
      to[c] = std::exp(from[c] - most);
      sum += to[c];
    }
    const float scale = 1 / static_cast<float>(sum);
    for (long c = 0; c < columns; ++c) to[c] *= scale;
  }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long rows = side.size();
  const auto x = side.uniform<float>("x", rows * columns, -4, 4);
  std::vector<float> y(rows * columns);
  const auto work = [&] { softmax(x.data(), y.data(), rows); };
  work();
  side.save("y", y);
  bench::time(work);
}
