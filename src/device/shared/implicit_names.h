#pragma once

// The names that nvcc's own headers declare without an #include.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/device/kernel.h"
#include "src/device/shared/failing_code.h"
#include "src/device/shared/generated_text.h"

namespace gpulua {

/// A source with the lines that declare those names.
struct NamedSource {
  std::string before;  // whole lines, to be put ahead of the source's text
  KernelSource source;
};

/// Whether the source or one of its headers has the word __global__.
bool has_kernel_text(const KernelSource& source);

/// The source with all names. Most sources compile so.
NamedSource with_all_names(const KernelSource& source);

/// The other ways to compile a source, to be tried in this order. One that declares some of the names itself, in lines
/// that the preprocessor may leave out, has others: there each name ends where the source declares it. One has no
/// functions of the host, whose code may need what is not there, and the last nothing that no kernel uses.
std::vector<NamedSource> other_ways(const KernelSource& source);

/// The first way that compiles, or else the last without what fails in it beside its kernels. Where none does, throws
/// the error of the way with the fewest messages.
template <class Result>
Result first_that_compiles(const KernelSource& source, const std::function<Result(const NamedSource&)>& compile);

template <class Result>
Result first_that_compiles(const KernelSource& source, const std::function<Result(const NamedSource&)>& compile) {
  std::optional<Error> fewest;
  std::string messages;  // of the last attempt
  bool is_whole = true;
  const auto attempt = [&](const NamedSource& way) {
    std::optional<Result> result;
    try {
      result.emplace(compile(way));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::compile) throw;
      messages = error.what();
      if (is_whole && (!fewest || count_errors(error.what()) < count_errors(fewest->what()))) fewest.emplace(error);
    }
    return result;
  };
  if (auto result = attempt(with_all_names(source))) return std::move(*result);
  std::vector<NamedSource> ways = other_ways(source);
  for (const NamedSource& way : ways)
    if (auto result = attempt(way)) return std::move(*result);
  constexpr int most_rounds = 24;
  is_whole = false;  // what fails then is not the script's mistake
  const bool has_kernels = !ways.empty() && has_kernel_text(ways.back().source);
  for (int round = 0; round < most_rounds && has_kernels && drop_failing_code(ways.back().source, messages); ++round)
    if (auto result = attempt(ways.back())) return std::move(*result);
  throw Error(*fewest);
}

}  // namespace gpulua
