#pragma once

// The interface between gpu.comm and what moves bytes between processes. All memory here is the host's.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/job.h"
#include "src/comm/reduce.h"
#include "src/device/collectives.h"

namespace gpulua {

/// The ranks of a job, or some of them, which call the same functions in the same order. `op` is the caller's name in
/// errors. The calls return when their work is done; when another rank has failed, or does not come in time, they throw
/// Error.
class Transport {
 public:
  Transport(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// "sockets", "MPI".
  virtual const char* name() const = 0;
  /// Sends and receives all at once, so that the order among ranks is free. Messages between two ranks arrive in order.
  /// A message has the size that its receiver expects.
  virtual void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
  /// Tags the messages from now on, so that they are not taken for those of a call with another tag.
  virtual void tag(std::uint32_t) {}
  /// Tries to tell the other ranks that this one has failed.
  virtual void fail(const std::string& message) noexcept = 0;
  /// Throws Error where another rank is known to have failed, or its process to have ended without a message.
  virtual void check(const char* /*op*/) {}
  /// Tries to tell the other ranks that this one waits in the call of this number.
  virtual void report(std::uint64_t /*calls*/) noexcept {}
  /// The ranks that have not reported a call of this number: "rank 2, 3"; empty where that is not known.
  virtual std::string missing(std::uint64_t /*calls*/) const { return {}; }

  // Collectives. The ones here consist of transfers: each rank exchanges its part with all others at once, and the
  // elements are reduced in the order of the ranks. A library with better ones overrides them.

  /// Replaces the elements by those of all ranks, reduced. All ranks get the same bits.
  virtual void all_reduce(const char* op, void* data, std::size_t count, DType dtype, Reduction reduction);
  /// Sends `bytes` from the root to all others.
  virtual void broadcast(const char* op, void* data, std::size_t bytes, int root);
  /// all: the `bytes` of rank 0, of rank 1, ...
  virtual void all_gather(const char* op, const void* part, void* all, std::size_t bytes);
  /// part: the `count` elements of `data` from rank() * count on, reduced over the ranks.
  virtual void reduce_scatter(const char* op, const void* data, void* part, std::size_t count, DType dtype,
                              Reduction reduction);
  virtual void barrier(const char* op);

  /// Each rank's text, by rank.
  std::vector<std::string> gather_texts(const char* op, const std::string& text);

 private:
  void reduce_range(const char* op, const void* data, std::span<const std::size_t> first, void* result, DType dtype,
                    Reduction reduction);

  int rank_, size_;
};

/// The ranks of `parent` in `members`, of which this process is one.
std::shared_ptr<Transport> make_subgroup(std::shared_ptr<Transport> parent, std::vector<int> members);

/// Connects this process with the others of its job. `while_waiting` is called about every 0.1 s of a wait, and may
/// throw.
std::shared_ptr<Transport> connect(const Job& job, std::function<void()> while_waiting);

}  // namespace gpulua
