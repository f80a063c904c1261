// C = A B in float32 for square matrices. The peers are the plain triple loop in the order i, k, j, rows in parallel,
// whatever the variant, which is the width of our tiles.

#include "bench/cpu_device/side.h"

namespace {

void matmul(const float* A, const float* B, float* C, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    std::fill(C + i * n, C + (i + 1) * n, 0.0f);
    for (long k = 0; k < n; ++k) {
      const float a = A[i * n + k];
      for (long j = 0; j < n; ++j) C[i * n + j] += a * B[k * n + j];
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  const auto A = side.uniform<float>("A", n * n, -1, 1), B = side.uniform<float>("B", n * n, -1, 1);
  std::vector<float> C(n * n);
  const auto work = [&] { matmul(A.data(), B.data(), C.data(), n); };
  work();
  side.save("C", C);
  bench::time(work);
}
