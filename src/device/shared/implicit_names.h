#pragma once

// The names that nvcc's own headers declare without an #include.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/device/kernel.h"
#include "src/device/shared/generated_text.h"

namespace gpulua {

/// A source with the lines that declare those names.
struct NamedSource {
  std::string before;  // whole lines, to be put ahead of the source's text
  KernelSource source;
};

/// The ways to compile a source, to be tried in this order. The first brings all names. A source that declares some of
/// them itself, in lines that the preprocessor may leave out, has others: there each name ends where the source
/// declares it. The last has no functions of the host, whose code may need what is not there.
std::vector<NamedSource> named_sources(const KernelSource& source);

/// The first of several ways that compiles. Where none does, throws the error of the way with the fewest messages.
template <class Result>
Result first_that_compiles(const std::vector<NamedSource>& ways,
                           const std::function<Result(const NamedSource&)>& compile);

template <class Result>
Result first_that_compiles(const std::vector<NamedSource>& ways,
                           const std::function<Result(const NamedSource&)>& compile) {
  std::optional<Error> fewest;
  for (const NamedSource& way : ways) try {
      return compile(way);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::compile) throw;
      if (!fewest || count_errors(error.what()) < count_errors(fewest->what())) fewest.emplace(error);
    }
  throw Error(*fewest);
}

}  // namespace gpulua
