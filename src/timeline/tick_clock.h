#pragma once

#include <cstdint>

namespace gpulua {

/// The host's clock (host_now()), read by the processor's counter of ticks.
///
/// A look at the system's clock takes 25 ns in a loop and up to 80 ns after other code: its code and data lie in pages
/// of their own. The counter is one instruction. It tells the time since the last look at the system's clock, at most a
/// millisecond ago, so that neither an error of its rate nor one that is set right matters: times are exact to 1 us.
class TickClock {
 public:
  /// Looks at the system's clock.
  std::int64_t look();
  /// The time, without a look where the last one is new enough and the processor has such a counter.
  std::int64_t now() const;

 private:
  struct Look {
    std::int64_t host = 0, ticks = 0;
  };

  Look first_, last_;  // the rate is that between them
  double tick_ = 0;    // ns; 0: not known
};

}  // namespace gpulua
