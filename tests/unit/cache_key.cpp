#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "src/device/shared/cache.h"
#include "tests/catch.h"

using namespace gpulua;

TEST_CASE("digests", "[cache]") {
  CHECK(CacheKey().add("a").digest().size() == 32);
  CHECK(CacheKey().add("a").digest() == CacheKey().add("a").digest());
  CHECK(CacheKey().add("ab").add("c").digest() != CacheKey().add("a").add("bc").digest());
  CHECK(CacheKey().add("").add("a").digest() != CacheKey().add("a").add("").digest());
  CHECK(CacheKey().add(1).add(2).digest() != CacheKey().add(2).add(1).digest());
}

TEST_CASE("every field of a source changes its digest", "[cache]") {
  const std::vector<std::function<void(KernelSource&)>> changes{
      [](KernelSource&) {},
      [](KernelSource& source) { source.text = "x"; },
      [](KernelSource& source) { source.file = "x"; },
      [](KernelSource& source) { source.line = 2; },
      [](KernelSource& source) { source.options = {"x"}; },
      [](KernelSource& source) {
        source.options = {"x", ""};
      },
      [](KernelSource& source) {
        source.defines = {{"x", "y"}};
      },
      [](KernelSource& source) {
        source.defines = {{"y", "x"}};
      },
      [](KernelSource& source) {
        source.headers = {{"x", "y"}};
      },
      [](KernelSource& source) { source.include_dirs = {"x"}; },
      [](KernelSource& source) { source.names = {"x"}; },
  };
  std::vector<std::string> digests;
  for (const auto& change : changes) {
    KernelSource source;
    change(source);
    digests.push_back(CacheKey().add(source).digest());
  }
  std::sort(digests.begin(), digests.end());
  CHECK(std::adjacent_find(digests.begin(), digests.end()) == digests.end());
}
