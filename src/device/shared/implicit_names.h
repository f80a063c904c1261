#pragma once

// The names that nvcc's own headers declare without an #include.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/device/kernel.h"
#include "src/device/shared/compile_messages.h"
#include "src/device/shared/used_code.h"

namespace gpulua {

/// A source with the lines that declare those names.
struct NamedSource {
  std::string before;  // whole lines, to be put ahead of the source's text
  KernelSource source;
  bool takes_host_code = false;  // of what is there all may be device code
};

/// Whether the source or one of its headers has the word __global__.
bool has_kernel_text(const KernelSource& source);

/// The source with all names. Most sources compile so.
NamedSource with_all_names(const KernelSource& source);

/// What kernels use of a source that compiles in no other way. Each attempt leaves out the declarations at which the
/// compiler stopped in the last one, such as those of hosts that need what is not there.
class ReducedSource {
 public:
  ReducedSource(std::string before, KernelSource source) : before_(std::move(before)), used_(std::move(source)) {}

  NamedSource way() const { return {before_, used_.used(), true}; }
  /// False where the compiler stopped at what has to stay.
  bool leave_out(const CompileError& error) { return used_.leave_out(error.messages()); }

 private:
  std::string before_;
  UsedCode used_;
};

/// The other ways to compile a source, to be tried in this order. One that declares some of the names itself, in lines
/// that the preprocessor may leave out, has others: there each name ends where the source declares it. One has no
/// functions of the host, whose code may need what is not there, and the last nothing that no kernel uses.
struct OtherWays {
  std::vector<NamedSource> ways;
  std::optional<ReducedSource> last;
};
OtherWays other_ways(const KernelSource& source);

/// The first way that compiles, or else the last without what fails in it beside its kernels. Where none does, throws
/// the error of the way with the fewest messages.
template <class Result>
Result first_that_compiles(const KernelSource& source, const std::function<Result(const NamedSource&)>& compile);

template <class Result>
Result first_that_compiles(const KernelSource& source, const std::function<Result(const NamedSource&)>& compile) {
  std::optional<CompileError> fewest, last;
  const auto attempt = [&](const NamedSource& way) {
    std::optional<Result> result;
    try {
      result.emplace(compile(way));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::compile) throw;
      const auto* whole = dynamic_cast<const CompileError*>(&error);
      last.emplace(error.what(), whole == nullptr ? "" : whole->messages());
    }
    return result;
  };
  const auto note_last = [&] {
    if (!fewest || count_errors(last->what()) < count_errors(fewest->what())) fewest = last;
  };
  if (auto result = attempt(with_all_names(source))) return std::move(*result);
  note_last();
  OtherWays others = other_ways(source);
  for (const NamedSource& way : others.ways) {
    if (auto result = attempt(way)) return std::move(*result);
    note_last();
  }
  constexpr int most = 30;  // an attempt takes about a second
  for (int i = 0; others.last && i < most; ++i) {
    if (auto result = attempt(others.last->way())) return std::move(*result);
    if (i == 0) note_last();  // the others are about less than the source
    if (!others.last->leave_out(*last)) break;
  }
  throw Error(*fewest);
}

}  // namespace gpulua
