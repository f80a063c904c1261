#pragma once

// The accounting of one device's memory. A script's handles are a few bytes to its collector and gigabytes to the
// device, so the device's bytes decide when the collector runs.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "src/runtime/host.h"

namespace gpulua {

class Buffer;

class MemoryAccount {
 public:
  explicit MemoryAccount(std::size_t limit) : limit_(limit) {}

  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t bytes) { limit_ = bytes; }

  bool fits(std::size_t bytes) const { return bytes <= limit_ && used_ <= limit_ - bytes; }
  /// True when so much was allocated since the last collection that another one pays.
  bool wants_collection(std::size_t bytes) const { return used_ + bytes > threshold_; }
  /// Runs the collector and sets the next threshold: it moves away while collecting takes a large share of the time.
  void collect(Host& host);

  void add(Buffer& buffer);
  void remove(Buffer& buffer) noexcept;

  /// The buffer that starts at `memory`; null: none.
  const Buffer* find(const void* memory) const;
  /// Calls `visit` with every live buffer.
  void for_each(const std::function<void(const Buffer&)>& visit) const;
  /// "3.2 GB in 12 arrays; the largest: 1.0 GB made at script.lua:12, ..."
  std::string describe_holders() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::size_t limit_;
  std::size_t step_ = std::size_t{64} << 20;
  std::size_t threshold_ = step_;
  Clock::time_point last_collection_ = Clock::now();
  Buffer* first_ = nullptr;  // every live buffer, linked through Buffer::next_
};

/// "1.0 GB made at script.lua:12", for messages.
std::string describe(const Buffer& buffer);
/// "1.5 GB", for messages.
std::string format_bytes(std::size_t bytes);

}  // namespace gpulua
