#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "src/base/error.h"
#include "src/device/shared/curand.h"
#include "tests/catch.h"

using namespace gpulua;
using Catch::Matchers::ContainsSubstring;

namespace {

class HostStream : public Stream {};

/// cuRAND's host generators; null, with a warning, where it is not installed.
std::unique_ptr<Rng> open_or_skip() {
  try {
    return open_host_curand(Config::from_environment());
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
    WARN("skipped: " << error.what());
    return nullptr;
  }
}

struct Moments {
  double mean = 0, variance = 0;
};

template <typename T>
Moments measure(const std::vector<T>& values) {
  Moments moments;
  const auto count = static_cast<double>(values.size());
  for (T value : values) moments.mean += value / count;
  for (T value : values) moments.variance += (value - moments.mean) * (value - moments.mean) / count;
  return moments;
}

template <typename T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::float32 : DType::float64;

template <typename T>
std::vector<T> uniform(RngGenerator& generator, std::size_t count) {
  HostStream stream;
  std::vector<T> values(count, T(-1));
  generator.uniform(dtype_of<T>, values.data(), count, stream);
  return values;
}

template <typename T>
std::vector<T> normal(RngGenerator& generator, std::size_t count, double mean, double stddev) {
  HostStream stream;
  std::vector<T> values(count, T(1000));
  generator.normal(dtype_of<T>, values.data(), count, mean, stddev, stream);
  return values;
}

template <typename T>
void check_distributions(RngGenerator& generator) {
  const auto flat = uniform<T>(generator, 100'000);
  CHECK(std::all_of(flat.begin(), flat.end(), [](T value) { return value > 0 && value <= 1; }));
  CHECK(measure(flat).mean == Approx(0.5).margin(0.005));
  CHECK(measure(flat).variance == Approx(1.0 / 12).margin(0.002));

  const Moments bell = measure(normal<T>(generator, 100'001, 3, 2));
  CHECK(bell.mean == Approx(3).margin(0.03));
  CHECK(bell.variance == Approx(4).margin(0.1));
}

}  // namespace

// mt19937 is left out: its host generator takes seconds before the first number.
TEST_CASE("each cuRAND generator has the distributions it promises", "[curand]") {
  const auto rng = open_or_skip();
  if (rng == nullptr) return;
  for (const char* algorithm : {"xorwow", "mrg32k3a", "mtgp32", "philox4_32_10"}) {
    INFO(algorithm);
    const auto generator = rng->create(algorithm, 42);
    check_distributions<float>(*generator);
    check_distributions<double>(*generator);
  }
  CHECK(rng->create("mt19937", 42) != nullptr);
}

TEST_CASE("a cuRAND seed fixes the sequence, which goes on from call to call", "[curand]") {
  const auto rng = open_or_skip();
  if (rng == nullptr) return;
  const auto first = rng->create("xorwow", 7), second = rng->create("xorwow", 7), other = rng->create("xorwow", 8);
  const auto values = uniform<float>(*first, 1000);
  CHECK(values == uniform<float>(*second, 1000));
  CHECK(values != uniform<float>(*other, 1000));
  const auto next = uniform<float>(*first, 1000);
  CHECK(next != values);
  const auto both = uniform<float>(*rng->create("xorwow", 7), 2000);
  CHECK(std::equal(next.begin(), next.end(), both.begin() + 1000));
}

TEMPLATE_TEST_CASE("cuRAND makes any count of normal values", "[curand]", float, double) {
  const auto rng = open_or_skip();
  if (rng == nullptr) return;
  for (std::size_t count : {0, 1, 3, 1001}) {
    const auto odd = rng->create("philox4_32_10", 3), even = rng->create("philox4_32_10", 3);
    const auto values = normal<TestType>(*odd, count, 0, 1);
    for (TestType value : values) REQUIRE(std::abs(value) < 10);
    if (count == 0) continue;
    const auto longer = normal<TestType>(*even, count + 1, 0, 1);
    CHECK(std::equal(values.begin(), values.end(), longer.begin()));
    CHECK(normal<TestType>(*odd, count, 0, 1) != values);
  }
}

TEST_CASE("cuRAND refuses what it does not have", "[curand]") {
  const auto rng = open_or_skip();
  if (rng == nullptr) return;
  CHECK_THROWS_WITH(rng->create("xorwov", 1), ContainsSubstring("expected one of philox, xorwow, mrg32k3a"));
  HostStream stream;
  int value = 0;
  CHECK_THROWS_WITH(rng->create("xorwow", 1)->uniform(DType::int32, &value, 1, stream),
                    ContainsSubstring("expected float32 or float64, got int32"));
}
