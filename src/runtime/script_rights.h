#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>

namespace gpulua {

/// What the scripts of a context may do. All of it, unless the program that runs the scripts narrows it.
struct ScriptRights {
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  /// False: no addresses and no files, one device, and kernels from source only as the next two fields say.
  bool trusted = true;
  /// Untrusted scripts may have kernels of their own on a device that checks them.
  bool checked_kernels = false;
  /// The SHA-256 digests of sources that untrusted scripts may compile.
  std::set<std::string, std::less<>> known_sources;

  /// What one call from the host program may do: launches of kernels and recorded graphs, kernels compiled, blocks of a
  /// launch of a kernel from source.
  std::uint64_t most_launches = no_limit, most_compilations = no_limit, most_blocks = no_limit;

  /// Throws Error unless the scripts may compile device code that they bring, by the function `op`. With a text, a
  /// digest of it is enough; the text then is all that decides what is compiled.
  void check_source(const char* op, bool device_checks, const std::string* text = nullptr) const;
};

/// Counts what a call uses of its quotas.
class Spending {
 public:
  explicit Spending(const ScriptRights& rights) : rights_(rights) {}
  /// A new call.
  void begin() { launches_ = compilations_ = 0; }
  /// Since then.
  std::uint64_t launches() const { return launches_; }
  /// Count one more; throw Error beyond the quota.
  void add_launch() {
    if (++launches_ > rights_.most_launches) refuse("launch", "launches", rights_.most_launches);
  }
  void add_compilation() {
    if (++compilations_ > rights_.most_compilations) refuse("compile", "compilations", rights_.most_compilations);
  }

 private:
  [[noreturn]] static void refuse(const char* op, const char* what, std::uint64_t most);

  const ScriptRights& rights_;
  std::uint64_t launches_ = 0, compilations_ = 0;
};

}  // namespace gpulua
