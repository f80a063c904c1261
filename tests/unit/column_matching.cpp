#include "src/device/shared/column_matching.h"
#include "tests/catch.h"

#include <cstdint>
#include <random>

using gpulua::unmatched_column;

namespace {

/// The greatest number of columns with rows of their own, by trying all ways: for each set of rows, how many of the
/// first columns can have them.
int most_matched(int n, const std::vector<int>& rows, const std::vector<int>& starts) {
  std::vector<int> best(std::size_t{1} << n, -1);
  best[0] = 0;
  for (int column = 0; column < n; ++column)
    for (std::size_t set = best.size(); set-- > 0;)
      for (int entry = starts[column]; best[set] >= 0 && entry < starts[column + 1]; ++entry)
        if (const std::size_t with = set | (std::size_t{1} << rows[entry]); with != set)
          best[with] = std::max(best[with], best[set] + 1);
  return *std::max_element(best.begin(), best.end());
}

}  // namespace

TEST_CASE("Columns find rows of their own") {
  CHECK(unmatched_column({0, 1, 2}, {0, 1, 2, 3}) == -1);
  CHECK(unmatched_column({1, 2, 0}, {0, 1, 2, 3}) == -1);
  CHECK(unmatched_column({}, {0, 0, 0}) == 0);
  CHECK(unmatched_column({0, 0}, {0, 1, 2}) == 1);
  // The path to the last column's row goes through all others.
  CHECK(unmatched_column({0, 1, 1, 2, 2, 3, 0}, {0, 2, 4, 6, 7}) == -1);
}

TEST_CASE("Columns have rows of their own exactly if there is a way") {
  std::mt19937 random(5);
  int full = 0;
  for (int round = 0; round < 3000; ++round) {
    const int n = 1 + static_cast<int>(random() % 7);
    std::vector<int> rows, starts{0};
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row)
        if (random() % 10 < 3) rows.push_back(row);
      starts.push_back(static_cast<int>(rows.size()));
    }
    const bool possible = most_matched(n, rows, starts) == n;
    full += possible;
    REQUIRE((unmatched_column(rows, starts) == -1) == possible);
  }
  REQUIRE(full > 100);
  REQUIRE(full < 2900);
}
