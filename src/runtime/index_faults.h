#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

/// What a kernel has found, from 1.
enum class FaultKind : std::uint32_t {
  index = 1,              // an index of an index array is out of range
  singular,               // the matrix has no inverse
  zero_diagonal,          // the triangular matrix has none
  pivot,                  // an exchange of rows goes out of range
  not_positive_definite,  // it has no Cholesky factor
  not_converged,          // its eigenvalues, or singular values, were not found
  wrong_place,            // an index of a sparse matrix is out of range
  wrong_first_start,      // the indptr of a sparse matrix does not begin with 1,
  falling_start,          // decreases,
  wrong_end,              // or does not end after its last nonzero
  invalid_number,         // an element of a parameter is none of the valid numbers
};

/// The record in which a kernel stores the first index of an index array that is out of range, or the first matrix that
/// a decomposition has failed for. kernels/indexed.cuh has the same struct.
struct IndexFault {
  std::uint32_t found;         // a FaultKind; 0: nothing
  std::int32_t axis;           // from 1. Of a matrix: SolverProblem::info
  std::int64_t index, extent;  // of a matrix: its number in the batch, from 1, and the batch's size
  const char* chunk;           // with `line`: the Origin of the operation
  std::int64_t line;
  const char* op;  // of a matrix: the operation's name in the message
  // Of a sparse matrix: the position of `index` in its array, from 1; extent is the number of rows or columns, or the
  // indptr before it or expected here. Of a parameter: the position of the element, whose double `index` has the bits
  // of; `axis` is the array's number of axes and `op` the message up to what was expected.
  std::int64_t at;
};

/// Validity of the elements that an operation computed. It is open until the kernel has run.
struct Check {
  enum class State : std::uint8_t { open, passed, failed } state = State::open;
  std::string why{};    // of a failed check: the message for each later read of the elements
  bool is_told = true;  // the next wait throws the failure, too
};
using CheckRef = std::shared_ptr<const Check>;

/// The fault records of a device's kernels. They are in pinned memory, so that the host reads them without a copy.
class IndexFaults {
 public:
  explicit IndexFaults(Device& device) : device_(device) {}
  ~IndexFaults();
  IndexFaults(const IndexFaults&) = delete;
  IndexFaults& operator=(const IndexFaults&) = delete;

  struct Watch {
    CheckRef check;
    IndexFault* word;
  };
  /// A check and its record, for one operation of a kernel that is queued next on `stream`. When a stream's records are
  /// used up, later operations share the last one.
  Watch watch(const StreamRef& stream);
  /// The kernels that were queued on `stream`, which records a graph, are about to run again. Returns their checks;
  /// new ones replace those that have failed.
  std::vector<CheckRef> rearm(const StreamRef& stream);
  /// True while kernels are queued that may report something.
  bool any_open() const;
  /// From now on waits do not throw what was reported, or what queued kernels report. Reads of their results still do.
  void mute() noexcept;
  /// The text, in memory that lives as long as this object: for IndexFault::op.
  const char* lasting(const std::string& text) { return texts_.insert(text).first->c_str(); }
  /// The kernels of `stream`, which recorded a graph, run for the last time, as part of the work of `other`.
  void hand_over(const StreamRef& stream, const StreamRef& other) noexcept;
  /// The kernels of the stream will not run again.
  void release(const StreamRef& stream) noexcept;
  /// Reads the records after a wait for all work of `stream`, or, when it is null, for a part of a stream's work.
  void read(const Stream* stream);
  /// Throws Error for the faults that were read since the last call, each of them a line of the message.
  void tell();

 private:
  /// The records of one stream's kernels.
  struct Lane {
    StreamRef stream;  // null while no check is open
    volatile IndexFault* words;
    std::vector<std::shared_ptr<Check>> open;  // open[i]'s word is words[i]
  };

  Lane& lane_of(const StreamRef& stream);

  Device& device_;
  std::vector<Lane> lanes_;
  std::vector<CheckRef> unreported_;
  std::set<std::string> texts_;
};

}  // namespace gpulua
