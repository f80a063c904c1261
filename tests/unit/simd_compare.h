#pragma once

// The SIMD engine of the CPU device against the scalar one: the same kernels, the same inputs, the same bits.

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

namespace gpulua {

struct SimdData {
  static constexpr unsigned elements = 4096;
  std::vector<int> ints = std::vector<int>(elements), ints_out = std::vector<int>(elements);
  std::vector<float> floats = std::vector<float>(elements), floats_out = std::vector<float>(elements);

  SimdData() {
    std::mt19937 random(7);
    for (unsigned i = 0; i < elements; ++i) {
      ints[i] = static_cast<int>(random() % 200) - 100;
      floats[i] = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 64.0f;
    }
  }
};

/// "" or the first element that differs.
template <class T>
std::string difference(const std::vector<T>& expected, const std::vector<T>& got) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::memcmp(&expected[i], &got[i], sizeof(T)) != 0)
      return "at " + std::to_string(i) + ": " + std::to_string(got[i]) + ", not " + std::to_string(expected[i]);
  return "";
}

/// Bodies use `i`, the thread's number in the grid, `n`, `a` and `x` (inputs), `b` and `y` (outputs, an element a
/// thread).
inline void compare(const std::string& body, const std::string& before = "") {
  static constexpr Dim3 shapes[][2] = {
      {{4, 1, 1}, {256, 1, 1}}, {{3, 1, 1}, {100, 1, 1}}, {{2, 2, 1}, {16, 16, 1}}, {{2, 1, 3}, {7, 5, 3}},
      {{1, 1, 1}, {1, 1, 1}},   {{2, 2, 1}, {32, 8, 1}},  {{1, 3, 1}, {64, 2, 2}},  {{2, 1, 1}, {16, 2, 2}},
      {{1, 2, 2}, {16, 3, 1}},  {{3, 2, 1}, {8, 8, 1}},   {{2, 1, 1}, {48, 2, 1}},  {{2, 3, 1}, {1, 64, 1}},
      {{1, 3, 1}, {16, 6, 3}},  {{9, 1, 1}, {33, 1, 1}},  {{3, 1, 1}, {16, 1, 1}},  {{2, 2, 1}, {24, 3, 1}}};
  const std::string text = before + R"(
    __global__ void k(const int* a, const float* x, int* b, float* y, int n) {
      const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      const int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
      )" + body + "}";
  CpuTestDevice device;
  auto scalar = device.compile(text, {}, {"--engine=scalar"});
  auto simd = device.compile(text, {}, {"--engine=simd"});
  CpuTestDevice avx2({}, "x86-64-v3");
  auto simd_avx2 = avx2.compile(text, {}, {"--engine=simd"});
  for (const auto& [grid, block] : shapes) {
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    SimdData expected, got, got_avx2;
    auto run = [&](CpuTestDevice& on, const std::shared_ptr<Module>& module, SimdData& data) {
      on.launch(*on.kernel(module, "k"), config, data.ints.data(), data.floats.data(), data.ints_out.data(),
                data.floats_out.data(), int{SimdData::elements / 2});
    };
    run(device, scalar, expected);
    run(device, simd, got);
    run(avx2, simd_avx2, got_avx2);
    INFO("block " << block.x << " x " << block.y << " x " << block.z << "\n" << body);
    CHECK(difference(expected.ints_out, got.ints_out) == "");
    CHECK(difference(expected.floats_out, got.floats_out) == "");
    CHECK(difference(expected.ints_out, got_avx2.ints_out) == "");
    CHECK(difference(expected.floats_out, got_avx2.floats_out) == "");
  }
}

}  // namespace gpulua
