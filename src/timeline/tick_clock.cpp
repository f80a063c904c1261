#include "src/timeline/tick_clock.h"

#include <cmath>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gpulua {

namespace {

constexpr double usable = 1e6;                      // ns after a look
constexpr std::int64_t rate_needs = 50'000;         // ns between the looks that give the rate, at least
constexpr std::int64_t rate_lasts = 1'000'000'000;  // ns; the system's clock is set right, and computers sleep
constexpr std::uint64_t quick = 200;                // ns for a look that nothing has interrupted

}  // namespace

bool TickClock::has_constant_rate() {
#if defined(__x86_64__)
  // "Invariant TSC" (Intel, Software Developer's Manual, volume 3, "Time-Stamp Counter"; AMD has the same bit).
  constexpr unsigned leaf = 0x80000007, invariant = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

std::int64_t TickClock::look() {
  static const bool is_usable = has_constant_rate();
  if (!is_usable) return host_now();
  // An interrupt between the clock and the counter makes the pair wrong: of some tries the quickest.
  Look found;
  std::uint64_t least = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = ticks();
    const std::int64_t host = host_now();
    const std::uint64_t took = ticks() - before;
    if (i > 0 && took >= least) continue;
    found = {host, before + took / 2};
    least = took;
    if (tick_ > 0 && (took * tick_ >> 32) < quick) break;
  }
  if (found.host - first_.host > rate_lasts) first_ = last_.host > 0 ? last_ : found;
  last_ = found;
  const auto time = static_cast<double>(found.host - first_.host);
  const auto counted = static_cast<double>(found.ticks - first_.ticks);
  if (time < rate_needs) return found.host;
  // A counter that has been reset while the computer slept has no rate.
  const bool has_rate = counted > 0.01 * time && counted < 100 * time;
  tick_ = has_rate ? static_cast<std::uint64_t>(std::ldexp(time / counted, 32)) : 0;
  usable_ticks_ = has_rate ? static_cast<std::uint64_t>(usable * counted / time) : 0;
  return found.host;
}

}  // namespace gpulua
