// Forces between bodies within a cutoff, by linked cells: size^3 cells as wide as the cutoff, 8 bodies a cell on
// average. `heads` has the first body of each cell and `next` the one after each body, -1 at the end; a body walks the
// lists of the 27 cells around it, so neighbouring threads loop different numbers of times.

#include <cmath>
#include <cstdint>

#include "bench/cpu_device/side.h"

namespace {

int cell_of(float position, int cells) {
  return std::min(static_cast<int>(position), cells - 1);
}

void nbody(const float* x, const float* y, const float* z, const std::int32_t* heads, const std::int32_t* next,
           float* ax, float* ay, float* az, int cells, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    const int cx = cell_of(x[i], cells), cy = cell_of(y[i], cells), cz = cell_of(z[i], cells);
    float sx = 0, sy = 0, sz = 0;
    for (int w = std::max(cz - 1, 0); w <= std::min(cz + 1, cells - 1); ++w)
      for (int v = std::max(cy - 1, 0); v <= std::min(cy + 1, cells - 1); ++v)
        for (int u = std::max(cx - 1, 0); u <= std::min(cx + 1, cells - 1); ++u)
          for (int j = heads[(w * cells + v) * cells + u]; j >= 0; j = next[j]) {
            const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            const float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 >= 1) continue;
            const float force = (1 - r2) / (std::sqrt(r2) + 0.05f);
            sx += force * dx;
            sy += force * dy;
            sz += force * dz;
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
  const auto x = side.uniform<float>("x", n, 0, cells), y = side.uniform<float>("y", n, 0, cells),
             z = side.uniform<float>("z", n, 0, cells);

  std::vector<std::int32_t> heads(n / 8, -1), next(n);
  for (long i = 0; i < n; ++i) {
    std::int32_t& head = heads[(cell_of(z[i], cells) * cells + cell_of(y[i], cells)) * cells + cell_of(x[i], cells)];
    next[i] = head;
    head = static_cast<std::int32_t>(i);
  }
  side.save("heads", heads);
  side.save("next", next);

  std::vector<float> ax(n), ay(n), az(n);
  const auto work = [&] {
    nbody(x.data(), y.data(), z.data(), heads.data(), next.data(), ax.data(), ay.data(), az.data(), cells, n);
  };
  work();
  side.save("ax", ax);
  side.save("ay", ay);
  side.save("az", az);
  bench::time(work);
}
