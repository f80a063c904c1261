#pragma once

#include <chrono>
#include <cstdint>

namespace gpulua::embed {

class Interruption;

/// A program's states use one thread for their deadlines: the first deadline starts it, and the end of the last state
/// that has a TimerUse ends it.
class TimerUse {
 public:
  TimerUse();
  ~TimerUse();
  TimerUse(const TimerUse&) = delete;
  TimerUse& operator=(const TimerUse&) = delete;
};

/// The deadline of a call into a state, or of a part of it that a callback runs: raises Interruption::Reason::deadline
/// for the call of that generation once the time has passed, again every few milliseconds until the call returns, now
/// and then forcing the hook. Ends when the call, or the part, is over. A TimerUse lives as long.
class Deadline {
 public:
  Deadline(Interruption& interruption, std::uint64_t generation, double milliseconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Ends it. Whether the time had passed before.
  bool end() noexcept;

 private:
  friend class Timer;

  Interruption& interruption_;
  std::uint64_t generation_;
  int raises_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace gpulua::embed
