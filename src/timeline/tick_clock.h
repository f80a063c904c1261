#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "src/timeline/timeline.h"

namespace gpulua {

/// The host's clock (host_now()), read by the processor's counter of ticks.
///
/// A look at the system's clock takes up to 80 ns after other code: what it needs lies in pages of their own. The
/// counter is one instruction. It tells the time since the last look, which is at most a millisecond ago, so that it
/// does not matter that its rate is known to some 100 ppm, and that the system's clock is set right now and then. Times
/// are exact to 1 us.
class TickClock {
 public:
  /// Looks at the system's clock.
  std::int64_t look();
  /// The time, without a look where the last one is new enough.
  std::int64_t now() const {
    const std::uint64_t since = ticks() - last_.ticks;
    return since < usable_ticks_ ? last_.host + static_cast<std::int64_t>(since * tick_ >> 32) : host_now();
  }

 private:
  struct Look {
    std::int64_t host = 0;
    std::uint64_t ticks = 0;
  };

  static std::uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
  }
  static bool has_constant_rate();

  Look first_, last_;               // the rate is that between them
  std::uint64_t tick_ = 0;          // ns / 2^32
  std::uint64_t usable_ticks_ = 0;  // after the last look; 0: the rate is not known
};

}  // namespace gpulua
