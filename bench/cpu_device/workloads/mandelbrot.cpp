// Escape times of [-2, 1] x [-1, 1], up to 200, in float64: size rows, half as many columns again. Where rounding
// decides (a loop may or may not be contracted to fused multiply-adds) the sides may differ: in one point of a
// thousand.

#include <cstdint>

#include "bench/cpu_device/side.h"

namespace {

constexpr int most = 200;

std::uint8_t escape_time(double re, double im) {
  double x = 0, y = 0;
  for (int i = 0; i < most; ++i) {
    const double next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
    if (x * x + y * y >= 4) return i;
  }
  return most;
}

void mandelbrot(std::uint8_t* image, long height, long width) {
  const double dx = 3.0 / width, dy = 2.0 / height;
#pragma omp parallel for schedule(dynamic)
  for (long row = 0; row < height; ++row)
    for (long column = 0; column < width; ++column)
      image[row * width + column] = escape_time(-2 + column * dx, -1 + row * dy);
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long height = side.size(), width = height * 3 / 2;
  std::vector<std::uint8_t> image(height * width);
  const auto work = [&] { mandelbrot(image.data(), height, width); };
  work();
  side.save("image", image);
  bench::time(work);
}
