#pragma once

// The ranks of a job, and the memory of their devices: what moves elements from one to the other.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "src/base/dtype.h"

namespace gpulua {

class Stream;

/// How the elements of all ranks become one.
enum class Reduction : std::uint8_t { sum, prod, max, min };

/// A message. `kind` tells the elements that are sent from others of as many bytes, where the way of the messages has
/// room for it; 0 for bytes alone.
struct Outgoing {
  int to;
  const void* memory;
  std::size_t bytes;
  std::uint32_t kind = 0;
};
struct Incoming {
  int from;
  void* memory;
  std::size_t bytes;
  std::uint32_t kind = 0;
};

/// This rank among some of a job, for work on the memory of its device. All of them make the same calls in the same
/// order. `op` is the caller's name in errors. Counts of 0 are allowed.
class Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// True when the calls return with their work done. Then the caller waits for the stream before. Otherwise the work
  /// is queued on the stream.
  virtual bool waits() const = 0;
  /// Whether reductions take elements of this dtype. All take integers of 32 bits and more, and real and complex
  /// numbers.
  virtual bool reduces(DType dtype) const = 0;

  /// out: the elements of all ranks, reduced. It may be `in`. All ranks get the same bits.
  virtual void all_reduce(const char* op, const void* in, void* out, std::size_t count, DType dtype,
                          Reduction reduction, Stream& stream) = 0;
  /// part: the `count` elements from rank() * count on, reduced over the ranks.
  virtual void reduce_scatter(const char* op, const void* in, void* part, std::size_t count, DType dtype,
                              Reduction reduction, Stream& stream) = 0;
  /// Sends `bytes` from the root to all others.
  virtual void broadcast(const char* op, void* data, std::size_t bytes, int root, Stream& stream) = 0;
  /// all: the `bytes` of rank 0, of rank 1, ...
  virtual void all_gather(const char* op, const void* part, void* all, std::size_t bytes, Stream& stream) = 0;
  /// Sends and receives all at once. Messages between two ranks arrive in order; a message has the size that its
  /// receiver expects.
  virtual void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                        Stream& stream) = 0;

  /// False while work of this communicator is queued.
  virtual bool done() { return true; }
  /// Why the work that is queued will never end, as far as this rank knows; empty: it may.
  virtual std::string failure() { return {}; }
  /// Ends the work that is queued, wherever it waits. Later calls throw Error.
  virtual void abort() noexcept {}

 private:
  int rank_, size_;
};

/// Copies the messages of this rank to itself: the first one sent is the first one received. Throws Error unless they
/// are as many, of the same sizes.
void copy_own(const char* op, int rank, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
              const std::function<void(void* to, const void* from, std::size_t bytes)>& copy);

/// A library of a device's vendor that moves elements between devices of its kind.
class CollectiveLibrary {
 public:
  virtual ~CollectiveLibrary() = default;
  /// "NCCL 2.28.9". All ranks need the same.
  virtual const std::string& name() const = 0;
  /// What the ranks of a new communicator have in common; one of them makes it.
  virtual std::string make_id() = 0;
  /// This rank's part of the communicator with that id. Returns at once; the first work waits for the other ranks.
  /// `while_waiting` is called about every 0.1 s of a wait in a call, and may throw.
  virtual std::shared_ptr<Communicator> join(const std::string& id, int rank, int size,
                                             std::function<void()> while_waiting) = 0;
};

}  // namespace gpulua
