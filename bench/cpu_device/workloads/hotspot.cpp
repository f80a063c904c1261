// The heat of a chip, in float32: steps of an explicit scheme on a square grid whose edges are closed.

#include "bench/cpu_device/side.h"

namespace {

constexpr int steps = 8;
constexpr float across = 0.1f, along = 0.2f, up = 0.05f, around = 80;

void step(const float* power, const float* from, float* to, long n) {
#pragma omp parallel for
  for (long r = 0; r < n; ++r) {
    const float *above = from + std::max(r - 1, 0l) * n, *here = from + r * n,
                *below = from + std::min(r + 1, n - 1) * n;
    for (long c = 0; c < n; ++c) {
      const float left = here[std::max(c - 1, 0l)], right = here[std::min(c + 1, n - 1)];
      to[r * n + c] = here[c] + power[r * n + c] + (above[c] + below[c] - 2 * here[c]) * along +
                      (left + right - 2 * here[c]) * across + (around - here[c]) * up;
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto power = side.uniform<float>("power", n * n, 0, 1), start = side.uniform<float>("start", n * n, 60, 90);
  std::vector<float> heat[2] = {start, start};
  const auto work = [&] {
    step(power.data(), start.data(), heat[1].data(), n);
    for (int k = 1; k < steps; ++k) step(power.data(), heat[k & 1].data(), heat[(k & 1) ^ 1].data(), n);
  };
  work();
  side.save("heat", heat[steps & 1]);
  bench::time(work);
}
