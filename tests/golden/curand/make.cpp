// Writes numbers.lua: what cuRAND gives for numbers.h on the host, and the first numbers of its host API's generators.
// ../make.py compiles and runs it.
#define QUALIFIERS static inline
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "numbers.h"

namespace {

constexpr int threads = 8;

void print(unsigned int x) {
  std::printf("%u", x);
}
void print(double x) {
  std::printf("%.17g", x);
}

/// A row for each thread.
template <class T>
void table(const char* name, int count, void (*fill)(int, T*)) {
  std::printf("  %s = {\n", name);
  for (int i = 0; i < threads; ++i) {
    std::vector<T> row(count);
    fill(i, row.data());
    std::printf("    { ");
    for (T x : row) print(x), std::printf(", ");
    std::printf("},\n");
  }
  std::printf("  },\n");
}

template <class State>
void tables(const char* generator) {
  auto name = [text = std::string(), generator](const char* what) mutable {
    text = std::string(generator) + "_" + what;
    return text.c_str();
  };
  table<unsigned int>(name("integers"), 10, integers<State>);
  table<double>(name("uniforms"), 8, uniforms<State>);
  table<double>(name("normals"), 12, normals<State>);
  table<double>(name("normal_doubles"), 12, normal_doubles<State>);
  table<unsigned int>(name("poissons"), 45, poissons<State>);
}

void check(curandStatus_t status) {
  if (status == CURAND_STATUS_SUCCESS) return;
  std::fprintf(stderr, "make: cuRAND's error %d\n", static_cast<int>(status));
  std::exit(1);
}

/// The host API's numbers for seed 1234: two rounds of the first `threads` sequences, each of which gives `together`
/// numbers in a round; the second round begins `round` numbers behind the first.
void host_table(const char* name, curandRngType_t type, int round, int together) {
  curandGenerator_t generator;
  check(curandCreateGeneratorHost(&generator, type));
  check(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  std::vector<unsigned int> numbers(round + threads * together);
  check(curandGenerate(generator, numbers.data(), numbers.size()));
  check(curandDestroyGenerator(generator));
  std::printf("  %s = {\n", name);
  for (int i = 0; i < threads; ++i) {
    std::printf("    { ");
    for (int start : {0, round})
      for (int k = 0; k < together; ++k) std::printf("%u, ", numbers[start + i * together + k]);
    std::printf("},\n");
  }
  std::printf("  },\n");
}

}  // namespace

int main() {
  std::printf("-- Written by make.cpp with cuRAND %d.%d.%d.\nreturn {\n", CURAND_VER_MAJOR, CURAND_VER_MINOR,
              CURAND_VER_PATCH);
  host_table("xorwow_host", CURAND_RNG_PSEUDO_XORWOW, 4096, 1);
  host_table("mrg32k3a_host", CURAND_RNG_PSEUDO_MRG32K3A, 81920, 1);
  host_table("philox_host", CURAND_RNG_PSEUDO_PHILOX4_32_10, 65536 * 4, 4);
  tables<curandStateXORWOW_t>("xorwow");
  tables<curandStatePhilox4_32_10_t>("philox");
  tables<curandStateMRG32k3a_t>("mrg32k3a");
  table<unsigned int>("mrg32k3a_subsequences", 2, subsequences);
  table<double>("philox_fours", 16, fours);
  table<double>("philox_four_doubles", 14, four_doubles);
  table<unsigned int>("philox_poisson_fours", 24, poisson_fours);
  std::printf("}\n");
}
