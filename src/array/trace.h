#pragma once

// A recorded evaluation, for gpu.fuse. eval/recording.cpp implements the interface.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/array/array_handle.h"
#include "src/base/scalar.h"

namespace gpulua {

/// The kernels that a function of arrays has run, recorded so that they can run again with other arrays.
class Trace {
 public:
  virtual ~Trace() = default;

  /// The function has made `array`, whose elements are not initialised.
  virtual void allocated(const Array& array) = 0;
  /// `number` is a pending number, which each replay gets anew from `next`, in the order of these calls.
  virtual void renew(const Array& number, std::function<Scalar()> next) = 0;

  /// Evaluates the function's results and ends the recording.
  virtual void finish(std::span<const Array> results) = 0;
  /// True where nothing has run: a replay does nothing.
  virtual bool is_empty() const = 0;
  /// Discards the recording.
  virtual void abandon() noexcept = 0;
  /// Runs the kernels with other inputs in memory, and gives the results. The inputs have the layouts of those of the
  /// trace, the offsets modulo `offset_modulus`, and lie in one buffer where those did, at the same distances.
  virtual std::vector<Array> replay(std::span<const Array> inputs) = 0;

  static constexpr std::int64_t offset_modulus = 8;
};

}  // namespace gpulua
