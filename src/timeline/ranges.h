#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/device/plugin.h"
#include "src/timeline/timeline.h"

namespace gpulua {

/// The named ranges of a script, which nest: in traces, and for the tools of the devices' makers.
class Ranges {
 public:
  struct Open {
    std::string name;
    std::int64_t begin;    // host's time
    std::uint64_t number;  // 0: it was pushed
    std::uint32_t thread;
  };

  Ranges(Timeline& timeline, const std::vector<std::unique_ptr<DevicePlugin>>& plugins)
      : timeline_(timeline), plugins_(plugins) {}
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  /// Begins a range. Throws Error, in the name of `op`, when very many are open.
  void push(std::string_view name, const char* op);
  /// Ends the innermost range. Throws Error when it is not one of push(): none is open, or one of a running function.
  void pop();
  /// The range of a function that runs. leave() ends it, with the ranges that it has left open; it does nothing for a
  /// range that another one has ended so.
  std::uint64_t enter(std::string_view name, const char* op);
  void leave(std::uint64_t number);
  /// Ends all ranges.
  void close() noexcept;

  /// True in a function whose range enter() has begun.
  bool in_function() const {
    return std::ranges::any_of(open_, [](const Open& range) { return range.number != 0; });
  }
  /// The ranges that are open, the innermost last.
  std::span<const Open> open() const { return open_; }

 private:
  void begin(std::string_view name, std::uint64_t number, const char* op);
  void end_innermost();

  Timeline& timeline_;
  const std::vector<std::unique_ptr<DevicePlugin>>& plugins_;
  std::vector<Open> open_;
  std::uint64_t numbers_ = 0;
};

}  // namespace gpulua
