#pragma once

// Operations between the lanes of a warp where each thread has a fiber of its own.

#include <cstdint>
#include <string>

namespace gpulua::cpu {

enum class WarpOperation : std::uint8_t { barrier, shuffle, ballot };

/// Lanes meet by mask: those that a mask names and that have not exited. As each result is made when the last lane of a
/// group comes, a lane may go on to its next operation before the others have read theirs.
class Warp {
 public:
  struct Call {
    WarpOperation operation;
    unsigned mask;
    unsigned value;        // a ballot's: the predicate
    unsigned source_lane;  // a shuffle's
  };

  /// The lanes that there are; none of them waits.
  void start(unsigned lanes) {
    alive_ = lanes;
    waiting_ = 0;
  }
  /// Returns the lanes that can go on, `lane` among them, now that it waits too; none while others are missing.
  /// Precondition: the call's mask names the lane.
  unsigned arrive(unsigned lane, const Call& call);
  /// Returns the lanes that can go on now that this one has exited.
  unsigned exit(unsigned lane);
  /// What the lane's last operation gave.
  unsigned result(unsigned lane) const { return results_[lane]; }

  /// True while a lane waits.
  bool stuck() const { return waiting_ != 0; }
  /// Whom one of the waiting lanes waits for, as a message says it.
  std::string describe() const;

 private:
  /// Completes the operation that the lane waits in if its group is there.
  unsigned complete(unsigned lane);
  unsigned group_there(const Call& call, unsigned group) const;

  unsigned alive_ = 0, waiting_ = 0;
  Call calls_[32];
  unsigned results_[32];
};

}  // namespace gpulua::cpu
