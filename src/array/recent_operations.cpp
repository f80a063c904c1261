#include "src/array/recent_operations.h"

#include <algorithm>

namespace gpulua {

namespace {

// A stretch below `shortest_stretch` may be chance: a line that does the same to three arrays is no loop. One of
// `long_stretch` leaves no doubt.
constexpr std::uint64_t shortest_stretch = 8, long_stretch = 256;

}  // namespace

std::uint64_t RecentOperations::stretch(std::uint64_t period, std::uint64_t most) const {
  std::uint64_t count = 0;
  while (count < most && signature(last_ - count) == signature(last_ - count - period)) ++count;
  return count;
}

std::uint64_t RecentOperations::period(std::uint64_t first, std::uint64_t most_cost, std::uint64_t known) const {
  const std::uint64_t count = std::min(last_ - first + 1, std::uint64_t{2} * longest);
  std::uint64_t best = 0, best_stretch = 0;
  for (std::uint64_t period = 1; period <= longest && 2 * period <= count; ++period) {
    if (cost_since(last_ - period + 1) > most_cost) break;
    const std::uint64_t enough = std::max(period, long_stretch);
    const std::uint64_t found = stretch(period, std::min(enough, count - period));
    const std::uint64_t least = period == known ? period : std::max(period, shortest_stretch);
    if (found < least || found <= best_stretch) continue;
    if (found == enough) return period;
    best = period;
    best_stretch = found;
  }
  return best;
}

bool RecentOperations::repeats(std::uint64_t number, std::uint64_t period) const {
  const std::uint64_t after = last_ - number;
  if (after > signatures_.size()) return false;
  return after <= period || stretch(period, after - period) == after - period;
}

std::uint64_t RecentOperations::digest(std::uint64_t number, std::uint64_t count) const {
  std::uint64_t result = count;
  for (std::uint64_t i = 1; i <= count; ++i) result = (result ^ signature(number + i)) * 0x9e3779b97f4a7c15 + i;
  return result;
}

}  // namespace gpulua
