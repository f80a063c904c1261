#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpulua {

/// Tells a process from all others: from those of other machines, and from a later one with its number.
struct ProcessIdentity {
  std::string machine;      // as long as the machine runs; empty where the system tells none
  std::uint64_t space = 0;  // of the numbers of processes: containers have spaces of their own
  std::int64_t number = 0;
  std::uint64_t start = 0;  // the system's time at which it began

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();
/// When the process of this space that has the number now began; nothing where none has it, or it has ended.
std::optional<std::uint64_t> start_of_process(std::int64_t number);

}  // namespace gpulua
