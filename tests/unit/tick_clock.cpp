// The host's time by the processor's counter.

#include "src/timeline/tick_clock.h"

#include "src/timeline/timeline.h"
#include "tests/catch.h"

using namespace gpulua;

TEST_CASE("the counter of ticks tells the time of the system's clock") {
  constexpr std::int64_t us = 1000;
  TickClock clock;
  int looks = 0;
  const std::int64_t end = host_now() + 100'000 * us;
  std::int64_t next_look = 0;
  while (host_now() < end) {
    // As the recorder does: now and then a look, many times between them.
    if (host_now() >= next_look) {
      const std::int64_t before = host_now(), looked = clock.look();
      REQUIRE(before <= looked);
      REQUIRE(looked <= host_now());
      next_look = looked + 200 * us;
      ++looks;
    }
    const std::int64_t before = host_now(), told = clock.now(), after = host_now();
    REQUIRE(told >= before - us);
    REQUIRE(told <= after + us);
  }
  REQUIRE(looks > 2);
}

TEST_CASE("long after its last look the clock of ticks looks again") {
  TickClock clock;
  clock.look();
  const std::int64_t start = host_now();
  while (host_now() < start + 1'000'000) continue;
  clock.look();
  while (host_now() < start + 5'000'000) continue;
  const std::int64_t before = host_now(), told = clock.now();
  REQUIRE(before <= told);
  REQUIRE(told <= host_now());
}
