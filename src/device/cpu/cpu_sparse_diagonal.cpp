#include "src/device/cpu/cpu_sparse_diagonal.h"

#include <complex>

#include "src/device/cpu/sorting/chunks.h"

namespace gpulua::cpu {
namespace {

template <class Entry, class Index>
void take(const SparseDiagonal& p) {
  const auto* const entries = static_cast<const Entry*>(p.entries);
  const auto* const places = static_cast<const Index*>(p.places);
  const auto* const starts = static_cast<const Index*>(p.starts) + p.first;
  auto* const y = static_cast<Entry*>(p.y);
  Chunks::over_cores(static_cast<std::size_t>(p.count)).each([&](std::size_t, std::size_t first, std::size_t last) {
    std::int64_t k = starts[first];
    for (std::size_t line = first; line < last; ++line) {
      const auto place = static_cast<Index>(p.first + static_cast<std::int64_t>(line) + p.offset);
      const std::int64_t end = starts[line + 1];
      Entry sum{};
      for (; k < end; ++k)
        if (places[k] == place) sum += entries[k];
      y[line] = sum;
    }
  });
}

template <class Index>
void by_entry(const SparseDiagonal& p) {
  switch (p.entry) {
    case DType::float32:
      return take<float, Index>(p);
    case DType::float64:
      return take<double, Index>(p);
    case DType::complex64:
      return take<std::complex<float>, Index>(p);
    default:
      return take<std::complex<double>, Index>(p);
  }
}

}  // namespace

void take_diagonal(const SparseDiagonal& problem) {
  if (problem.index == DType::int32)
    by_entry<std::int32_t>(problem);
  else
    by_entry<std::int64_t>(problem);
}

}  // namespace gpulua::cpu
