#pragma once

// Loops whose steps are recorded and repeated on the device: gpu.loop and gpu.loop_while.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/array/capture.h"

namespace gpulua {

/// A loop that carries arrays from step to step. A step calls a function with arguments() and hands its results to
/// take(). The first steps run as usual. From record() to finish(), steps are recorded, and each launch repeats them.
///
/// Within a function that is being recorded, the loop has no recording of its own: then all steps run as usual.
class DeviceLoop {
 public:
  /// `op`: the name in errors. `asks`: the function gives a condition before the arrays. `stream`: as Capture's; null
  /// within a function that is being recorded.
  DeviceLoop(OpenDevice& device, const char* op, std::span<const Array> arrays, bool asks, StreamRef stream);

  /// The carried arrays, and the number of the step, int64[], from 1.
  std::vector<Array> arguments() const;
  /// Throws Error unless the results have the types of the carried arrays.
  void take(std::span<const Array> results);

  const char* op() const { return op_; }
  bool records() const { return capture_.has_value(); }
  /// How many steps a launch should have, from the work of the first one.
  std::int64_t steps_of_launch() const;
  void record();
  void finish();
  void launch();
  /// Launches as long as the condition is true. False, and nothing queued, where the device cannot do so by itself.
  bool launch_while();
  /// The condition that the last step has given. Waits.
  bool goes_on();
  /// Ends the loop. Returns the carried arrays.
  std::vector<Array> end();
  /// Ends the loop without results: the function has failed.
  void abandon() noexcept;

 private:
  void check(std::span<const Array> results) const;
  bool is_recording() const { return shared_numbers_ != nullptr; }
  /// The numbers of the steps from `first`, counted from 0, in memory.
  Array numbers(std::int64_t first, Dims shape) const;
  void copy_back(Node& to, Node& from) const;

  OpenDevice& device_;
  const char* op_;
  std::size_t conditions_;      // 1 if the function gives one
  std::uint64_t launches_;      // of the first step
  std::int64_t steps_ = 0;      // taken so far
  Array numbers_;               // from 1; a launch moves those of the recorded steps on
  std::vector<Array> carried_;  // the condition first, null before the first step
  // What the launches write, and the same memory in the recording.
  std::vector<Array> written_, shared_;
  Array shared_numbers_;
  std::int64_t recorded_from_ = 0;
  std::optional<Capture> capture_;
};

}  // namespace gpulua
