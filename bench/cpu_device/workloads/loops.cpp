// Light loops, one a variant: what ordinary kernels do for an element is a few operations on a few neighbours. `size`:
// the elements of the largest array.

#include <cmath>
#include <functional>
#include <map>

#include "bench/cpu_device/side.h"

namespace {

using Floats = std::vector<float>;

struct Arrays {
  long n;
  long side;  // of a square picture or matrix of n elements
  long edge;  // of a cube of n elements
  Floats a, b, x, out;
  std::vector<int> first, columns;  // of the rows of a sparse matrix of `side` rows
};

void copy(Arrays& s) {
#pragma omp parallel for
  for (long i = 0; i < s.n; ++i) s.out[i] = s.a[i];
}

void triad(Arrays& s) {
#pragma omp parallel for
  for (long i = 0; i < s.n; ++i) s.out[i] = s.a[i] + 2.5f * s.b[i];
}

void axpy(Arrays& s) {
#pragma omp parallel for
  for (long i = 0; i < s.n; ++i) s.out[i] += 0x1p-20f * s.a[i];
}

void stencil3(Arrays& s) {
#pragma omp parallel for
  for (long i = 1; i < s.n - 1; ++i) s.out[i] = 0.25f * s.a[i - 1] + 0.5f * s.a[i] + 0.25f * s.a[i + 1];
}

void stencil7(Arrays& s) {
  const long m = s.edge;
#pragma omp parallel for
  for (long z = 1; z < m - 1; ++z)
    for (long y = 1; y < m - 1; ++y)
      for (long x = 1; x < m - 1; ++x) {
        const long i = (z * m + y) * m + x;
        s.out[i] = 0.4f * s.a[i] +
                   0.1f * (s.a[i - 1] + s.a[i + 1] + s.a[i - m] + s.a[i + m] + s.a[i - m * m] + s.a[i + m * m]);
      }
}

void jacobi(Arrays& s) {
  const long m = s.side;
#pragma omp parallel for
  for (long y = 1; y < m - 1; ++y)
    for (long x = 1; x < m - 1; ++x) {
      const long i = y * m + x;
      s.out[i] = 0.25f * (s.a[i - 1] + s.a[i + 1] + s.a[i - m] + s.a[i + m]);
    }
}

void fdtd(Arrays& s) {
  const long m = s.side;
#pragma omp parallel for
  for (long y = 1; y < m; ++y)
    for (long x = 0; x < m; ++x) s.out[y * m + x] = s.b[y * m + x] - 0.5f * (s.a[y * m + x] - s.a[(y - 1) * m + x]);
}

void normalise(Arrays& s) {  // a picture of three channels: bytes' range to zero mean
  const long m = s.n / 3;
  const float mean[] = {0.485f, 0.456f, 0.406f}, scale[] = {4.367f, 4.464f, 4.444f};
#pragma omp parallel for
  for (long c = 0; c < 3; ++c)
    for (long i = 0; i < m; ++i) s.out[c * m + i] = (s.a[c * m + i] - mean[c]) * scale[c];
}

void maxpool(Arrays& s) {
  const long m = s.side, h = m / 2;
#pragma omp parallel for
  for (long y = 0; y < h; ++y)
    for (long x = 0; x < h; ++x) {
      const float* p = &s.a[2 * y * m + 2 * x];
      const float top = p[0] > p[1] ? p[0] : p[1], below = p[m] > p[m + 1] ? p[m] : p[m + 1];
      s.out[y * h + x] = top > below ? top : below;
    }
}

void upsample(Arrays& s) {
  const long m = s.side, h = m / 2;
#pragma omp parallel for
  for (long y = 0; y < m; ++y)
    for (long x = 0; x < m; ++x) s.out[y * m + x] = s.a[y / 2 * h + x / 2];
}

void convolution(Arrays& s) {
  const long m = s.side;
#pragma omp parallel for
  for (long y = 1; y < m - 1; ++y)
    for (long x = 1; x < m - 1; ++x) {
      float sum = 0;
      for (long v = 0; v < 3; ++v)
        for (long u = 0; u < 3; ++u) sum += s.b[v * 3 + u] * s.a[(y + v - 1) * m + x + u - 1];
      s.out[y * m + x] = sum;
    }
}

void im2col(Arrays& s) {  // patches of 3 x 3 of channels of 58 x 58
  const long m = 58, h = m - 2, channels = s.n / (9 * m * m);
#pragma omp parallel for
  for (long c = 0; c < channels; ++c)
    for (long y = 0; y < h; ++y)
      for (long x = 0; x < h; ++x)
        for (long k = 0; k < 9; ++k) s.out[((c * 9 + k) * h + y) * h + x] = s.a[(c * m + y + k / 3) * m + x + k % 3];
}

void gemm(Arrays& s) {  // 256 columns
  const long m = 256, rows = s.n / m;
#pragma omp parallel for
  for (long i = 0; i < rows; ++i) {
    float* row = &s.out[i * m];
    for (long j = 0; j < m; ++j) row[j] = 0;
    for (long k = 0; k < m; ++k)
      for (long j = 0; j < m; ++j) row[j] += s.a[i * m + k] * s.b[k * m + j];
  }
}

void atax(Arrays& s) {  // the transposed matrix times a vector
  const long m = s.side;
#pragma omp parallel
  {
    Floats own(m);
#pragma omp for
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < m; ++j) own[j] += s.a[i * m + j] * s.x[i];
#pragma omp single
    for (long j = 0; j < m; ++j) s.out[j] = 0;
#pragma omp critical
    for (long j = 0; j < m; ++j) s.out[j] += own[j];
  }
}

void spmv(Arrays& s) {
#pragma omp parallel for
  for (long i = 0; i < s.side; ++i) {
    float sum = 0;
    for (int k = s.first[i]; k < s.first[i + 1]; ++k) sum += s.a[k] * s.x[s.columns[k]];
    s.out[i] = sum;
  }
}

const std::map<std::string, std::function<void(Arrays&)>> loops{
    {"copy", copy},         {"triad", triad},       {"axpy", axpy}, {"stencil3", stencil3},
    {"stencil7", stencil7}, {"jacobi", jacobi},     {"fdtd", fdtd}, {"normalise", normalise},
    {"maxpool", maxpool},   {"upsample", upsample}, {"gemm", gemm}, {"convolution", convolution},
    {"im2col", im2col},     {"atax", atax},         {"spmv", spmv}};

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  Arrays s;
  s.n = side.size();
  s.side = static_cast<long>(std::sqrt(static_cast<double>(s.n)));
  s.edge = static_cast<long>(std::cbrt(static_cast<double>(s.n)) + 1e-6);
  s.a = side.uniform<float>("a", s.n, -1, 1);
  s.b = side.uniform<float>("b", s.n, -1, 1);
  s.x = side.uniform<float>("x", s.side, -1, 1);
  s.out = Floats(s.n);
  // Rows of 8 to 39 entries, within n.
  const auto lengths = side.uniform<float>("lengths", s.side, 0, 1);
  s.first.push_back(0);
  for (long i = 0; i < s.side; ++i)
    s.first.push_back(static_cast<int>(std::min<long>(s.first.back() + 8 + static_cast<int>(32 * lengths[i]), s.n)));
  const auto places = side.uniform<float>("places", s.first.back(), 0, 1);
  for (const float place : places)
    s.columns.push_back(std::min<int>(static_cast<int>(place * s.side), static_cast<int>(s.side) - 1));
  side.save("first", s.first);
  side.save("columns", s.columns);
  const auto& loop = loops.at(side.variant());
  loop(s);
  side.save("out", s.out);
  bench::time([&] { loop(s); });
}
