#include "src/timeline/tick_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "src/timeline/timeline.h"

namespace gpulua {

namespace {

constexpr std::int64_t lasts = 1'000'000;           // ns after a look
constexpr std::int64_t rate_needs = 50'000;         // ns between the looks that give the rate, at least
constexpr std::int64_t rate_lasts = 1'000'000'000;  // ns; the system's clock is set right, and computers sleep
constexpr double quick = 200;                       // ns for a look that nothing has interrupted

#if defined(__x86_64__)
std::int64_t ticks() {
  return static_cast<std::int64_t>(__rdtsc());
}

bool has_constant_rate() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned leaf = 0x80000007, invariant = 1u << 8;  // Intel's manual, volume 3, "Invariant TSC"
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
}
#elif defined(__aarch64__)
std::int64_t ticks() {
  std::int64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}

bool has_constant_rate() {
  return true;
}
#else
std::int64_t ticks() {
  return 0;
}

bool has_constant_rate() {
  return false;
}
#endif

}  // namespace

std::int64_t TickClock::look() {
  static const bool is_usable = has_constant_rate();
  if (!is_usable) return host_now();
  // An interrupt between the clock and the counter makes the pair wrong: of some tries the quickest.
  Look found;
  std::int64_t least = 0;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t before = ticks(), host = host_now(), took = ticks() - before;
    if (i > 0 && took >= least) continue;
    found = {host, before + took / 2};
    least = took;
    if (tick_ > 0 && static_cast<double>(took) * tick_ < quick) break;
  }
  if (found.host - first_.host > rate_lasts) first_ = last_.host > 0 ? last_ : found;
  const std::int64_t time = found.host - first_.host, counted = found.ticks - first_.ticks;
  if (time >= rate_needs) tick_ = counted > 0 ? static_cast<double>(time) / static_cast<double>(counted) : 0;
  last_ = found;
  return found.host;
}

std::int64_t TickClock::now() const {
  if (!(tick_ > 0)) return host_now();
  const auto since = static_cast<std::int64_t>(static_cast<double>(ticks() - last_.ticks) * tick_);
  return since >= 0 && since < lasts ? last_.host + since : host_now();
}

}  // namespace gpulua
