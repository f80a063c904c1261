// Forces between bodies within a cutoff, in size^3 cells as wide as the cutoff, 8 bodies a cell on average. Bodies are
// sorted by their cells, of which `starts` has the first bodies, and one more number; a body walks 9 rows of up to 3
// cells around it, each of a length of its own, so neighbouring threads loop different numbers of times.

#include <cmath>
#include <cstdint>
#include <numeric>

#include "bench/cpu_device/side.h"

namespace {

int cell_of(float position, int cells) {
  return std::min(static_cast<int>(position), cells - 1);
}

void nbody(const float* x, const float* y, const float* z, const std::int32_t* starts, float* ax, float* ay, float* az,
           int cells, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    const int cx = cell_of(x[i], cells), cy = cell_of(y[i], cells), cz = cell_of(z[i], cells);
    float sx = 0, sy = 0, sz = 0;
    for (int w = std::max(cz - 1, 0); w <= std::min(cz + 1, cells - 1); ++w)
      for (int v = std::max(cy - 1, 0); v <= std::min(cy + 1, cells - 1); ++v) {
        const int row = (w * cells + v) * cells;
        const int end = starts[row + std::min(cx + 1, cells - 1) + 1];
        for (int j = starts[row + std::max(cx - 1, 0)]; j < end; ++j) {
          const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
          const float r2 = dx * dx + dy * dy + dz * dz;
          if (r2 >= 1) continue;
          const float force = (1 - r2) / (std::sqrt(r2) + 0.05f);
          sx += force * dx;
          sy += force * dy;
          sz += force * dz;
        }
      }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const int cells = static_cast<int>(side.size());
  const long n = 8L * cells * cells * cells;
  std::vector<float> x(n), y(n), z(n);
  std::vector<std::int32_t> starts(n / 8 + 1);
  {
    const auto rx = side.uniform<float>("rx", n, 0, cells), ry = side.uniform<float>("ry", n, 0, cells),
               rz = side.uniform<float>("rz", n, 0, cells);
    auto cell = [&](long i) {
      return (cell_of(rz[i], cells) * cells + cell_of(ry[i], cells)) * cells + cell_of(rx[i], cells);
    };
    for (long i = 0; i < n; ++i) ++starts[cell(i) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::int32_t> places(starts);
    for (long i = 0; i < n; ++i) {
      const std::int32_t place = places[cell(i)]++;
      x[place] = rx[i], y[place] = ry[i], z[place] = rz[i];
    }
  }
  side.save("x", x);
  side.save("y", y);
  side.save("z", z);
  side.save("starts", starts);

  std::vector<float> ax(n), ay(n), az(n);
  const auto work = [&] {
    nbody(x.data(), y.data(), z.data(), starts.data(), ax.data(), ay.data(), az.data(), cells, n);
  };
  work();
  side.save("ax", ax);
  side.save("ay", ay);
  side.save("az", az);
  bench::time(work);
}
