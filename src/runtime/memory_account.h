#pragma once

// Accounting of one device's memory. An array's handle takes a few bytes of Lua's memory and gigabytes of the device's,
// so the device's bytes decide when Lua's collector runs.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "src/runtime/host.h"

namespace gpulua {

class Buffer;

/// Counts the bytes of a device's live buffers against a limit, and lists the buffers. Sizes are in bytes.
class MemoryAccount {
 public:
  explicit MemoryAccount(std::size_t limit) : limit_(limit) {}

  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t bytes) { limit_ = bytes; }

  /// True when an allocation of `bytes` stays within the limit.
  bool fits(std::size_t bytes) const {
    const std::size_t taken = used_ + nodes_ * node_cost;
    return bytes <= limit_ && taken <= limit_ - bytes;
  }
  /// True when an allocation of `bytes` passes the threshold for the next collection.
  bool wants_collection(std::size_t bytes) const { return used_ + bytes > threshold_; }
  /// Runs the host's collector and sets the next threshold. The threshold rises while collections take a large share of
  /// the time.
  void collect(Host& host);

  /// Adds a new buffer to the list and to the bytes used, and removes a destroyed or freed one.
  void add(Buffer& buffer);
  void remove(Buffer& buffer) noexcept;

  /// Adds memory that no array has, such as a generator's, and removes it.
  void add_other(std::size_t bytes);
  void remove_other(std::size_t bytes) noexcept;

  /// An array that has no buffer of its own, a pending operation or a view, takes memory of the host alone. Where there
  /// are many, they count against the limit, so that a script which keeps more and more of them meets it.
  static constexpr std::size_t node_cost = 512;
  void add_node() { ++nodes_; }
  void remove_node() { --nodes_; }
  std::size_t nodes() const { return nodes_; }

  /// The buffer that starts at address `memory`; null if no buffer does.
  const Buffer* find(const void* memory) const;
  /// Calls `visit` with every live buffer.
  void for_each(const std::function<void(const Buffer&)>& visit) const;
  /// "3.2 GB in 12 arrays; the largest: 1.0 GB made at script.lua:12, ..."
  std::string describe_holders() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::size_t others_ = 0;  // of used_: bytes that no array has
  std::size_t nodes_ = 0;
  std::size_t limit_;
  std::size_t step_ = std::size_t{64} << 20;
  std::size_t threshold_ = step_;
  Clock::time_point last_collection_ = Clock::now();
  Buffer* first_ = nullptr;  // every live buffer, linked through Buffer::next_
};

/// A buffer's size and origin for messages: "1.0 GB made at script.lua:12".
std::string describe(const Buffer& buffer);
/// The same with all digits of the size: "4000 bytes made at script.lua:12".
std::string describe_exactly(const Buffer& buffer);
/// A size for messages: "1.5 GB".
std::string format_bytes(std::size_t bytes);

}  // namespace gpulua
