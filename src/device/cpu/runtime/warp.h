#pragma once

// Operations between the lanes of a warp where each thread has a fiber of its own.

#include <cstdint>
#include <string>

namespace gpulua::cpu {

enum class WarpOperation : std::uint8_t { barrier, shuffle, ballot };

/// Lanes meet by mask: an operation waits for all lanes in its mask that have not exited. The last lane to arrive
/// computes all results, so a lane may go on to its next operation before the others have read theirs.
class Warp {
 public:
  struct Call {
    WarpOperation operation;
    unsigned mask;
    unsigned value;        // a ballot's: the predicate
    unsigned source_lane;  // a shuffle's
  };

  /// Starts with these lanes; none of them waits.
  void start(unsigned lanes) {
    alive_ = lanes;
    waiting_ = 0;
  }
  /// The lane starts an operation. Returns the lanes that can go on, `lane` among them; 0 while others are missing.
  /// Precondition: the call's mask contains the lane.
  unsigned arrive(unsigned lane, const Call& call);
  /// The lane exits. Returns the lanes that can go on because of it.
  unsigned exit(unsigned lane);
  /// The result of the lane's last operation.
  unsigned result(unsigned lane) const { return results_[lane]; }

  /// True while a lane waits.
  bool stuck() const { return waiting_ != 0; }
  /// The lanes that one of the waiting lanes waits for, for messages.
  std::string describe() const;

 private:
  /// Completes the operation of the lane if all lanes of its group have arrived.
  unsigned complete(unsigned lane);
  unsigned group_there(const Call& call, unsigned group) const;

  unsigned alive_ = 0, waiting_ = 0;
  Call calls_[32];
  unsigned results_[32];
};

}  // namespace gpulua::cpu
