// Both of our kernels for products of integers (kernels/matmul.cuh), on the CPU device, against a plain loop.

#include <string>
#include <vector>

#include "kernel_text.h"
#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

using namespace gpulua;

namespace {

struct Sizes {
  long long m, n, k, batch;
};

/// Runs `function` with A row-major or transposed, and the batch by strides or by addresses. Row-major B.
std::vector<int> product(const std::string& function, long long tile_rows, long long tile_columns, unsigned threads,
                         const Sizes& s, const std::vector<int>& a, const std::vector<int>& b, bool transposed,
                         bool by_address) {
  CpuTestDevice device;
  std::string text;
  for (const char* header : {"elements.cuh", "arithmetic.cuh", "matmul.cuh"}) text += kernel_text(header);
  text +=
      "extern \"C\" __global__ void k(const int* a, const int* b, int* c, long long m, long long n, long long k, "
      "long long a_row, long long a_column, long long stride_a, long long stride_b, const long long* at_a, const "
      "long long* at_b, const long long* at_c) {\n  " +
      function + "<int>(a, b, c, m, n, k, a_row, a_column, n, 1, n, stride_a, stride_b, m * n, at_a, at_b, at_c);\n}\n";
  std::vector<int> c(static_cast<std::size_t>(s.m * s.n * s.batch), -1);
  std::vector<const int*> at_a, at_b;
  std::vector<int*> at_c;
  for (long long i = 0; i < s.batch; ++i) {
    at_a.push_back(a.data() + i * s.m * s.k);
    at_b.push_back(b.data() + i * s.k * s.n);
    at_c.push_back(c.data() + i * s.m * s.n);
  }
  const long long tiles = ((s.m + tile_rows - 1) / tile_rows) * ((s.n + tile_columns - 1) / tile_columns) * s.batch;
  auto module = device.compile(text);
  device.launch(*device.kernel(module, "k"), one_dimension(static_cast<unsigned>(tiles), threads), a.data(), b.data(),
                c.data(), s.m, s.n, s.k, transposed ? 1 : s.k, transposed ? s.m : 1, s.m * s.k, s.k * s.n,
                by_address ? at_a.data() : nullptr, by_address ? at_b.data() : nullptr,
                by_address ? at_c.data() : nullptr);
  return c;
}

}  // namespace

TEST_CASE("cpu: our products of integers against a plain loop", "[cpu]") {
  for (const Sizes& s : {Sizes{1, 1, 1, 1}, Sizes{65, 67, 17, 2}, Sizes{8, 32, 40, 3}, Sizes{130, 5, 33, 1}}) {
    std::vector<int> a(static_cast<std::size_t>(s.m * s.k * s.batch)), b(static_cast<std::size_t>(s.k * s.n * s.batch));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i * 2654435761U);  // sums wrap
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int>(i % 11) - 5;
    for (const bool transposed : {false, true}) {
      std::vector<int> expected;
      for (long long i = 0; i < s.batch; ++i)
        for (long long row = 0; row < s.m; ++row)
          for (long long column = 0; column < s.n; ++column) {
            unsigned sum = 0;
            for (long long l = 0; l < s.k; ++l)
              sum += static_cast<unsigned>(a[i * s.m * s.k + (transposed ? l * s.m + row : row * s.k + l)]) *
                     static_cast<unsigned>(b[i * s.k * s.n + l * s.n + column]);
            expected.push_back(static_cast<int>(sum));
          }
      for (const bool by_address : {false, true}) {
        CHECK(product("gpulua_matmul_rows", 8, 32, 32, s, a, b, transposed, by_address) == expected);
        CHECK(product("gpulua_matmul_tiles", 64, 64, 256, s, a, b, transposed, by_address) == expected);
      }
    }
  }
}
