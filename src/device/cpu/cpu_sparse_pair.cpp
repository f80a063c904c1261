#include "src/device/cpu/cpu_sparse_pair.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <complex>
#include <numeric>

#include "src/device/cpu/cpu_sparse_line.h"
#include "src/device/cpu/runtime/shared_loops.h"
#include "src/device/cpu/sorting/vector_code.h"

namespace gpulua::cpu {
namespace {

template <class T>
T times(T a, T b) {
  return a * b;
}
template <class Real>
std::complex<Real> times(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Each line of the product is found by one core, in the order of its terms.
template <class T, class Index>
class PairProduct {
 public:
  explicit PairProduct(const SparsePair& pair)
      : pair_(pair),
        a_places_(static_cast<const Index*>(pair.a_places)),
        a_starts_(static_cast<const Index*>(pair.a_starts)),
        b_places_(static_cast<const Index*>(pair.b_places)),
        b_starts_(static_cast<const Index*>(pair.b_starts)) {}

  void count() const {
    struct Nothing {};
    std::int64_t* const counts = pair_.counted_starts;
    counts[0] = 0;
    each_line<Nothing>([&](std::int64_t line, auto& sums) {
      each_entry(line,
                 [&](std::int64_t, std::int64_t first, std::int64_t terms) { sums.mark(b_places_ + first, terms); });
      counts[line + 1] = sums.size();
    });
    std::partial_sum(counts, counts + pair_.lines + 1, counts);
  }

  void multiply() const {
    const T* const a = static_cast<const T*>(pair_.a_entries);
    const T* const b = static_cast<const T*>(pair_.b_entries);
    const auto* const starts = static_cast<const Index*>(pair_.starts);
    auto* const places = static_cast<Index*>(pair_.places);
    auto* const entries = static_cast<T*>(pair_.entries);
    each_line<T>([&](std::int64_t line, auto& sums) {
      each_entry(line, [&](std::int64_t k, std::int64_t first, std::int64_t terms) {
        const T factor = a[k];
        sums.add(b_places_ + first, terms, [&](std::int64_t j) { return times(factor, b[first + j]); });
      });
      sums.write(places + starts[line], entries + starts[line]);
    });
  }

 private:
  /// Calls visit(k, first, terms) for each nonzero k of a's line, where b's nonzeros from `first` on are its terms.
  template <class Visit>
  void each_entry(std::int64_t line, const Visit& visit) const {
    for (std::int64_t k = a_starts_[line]; k < a_starts_[line + 1]; ++k) {
      const std::int64_t first = b_starts_[a_places_[k]];
      visit(k, first, b_starts_[a_places_[k] + 1] - first);
    }
  }

  /// The number of terms in a line.
  std::int64_t terms_of(std::int64_t line) const {
    std::int64_t terms = 0;
    each_entry(line, [&](std::int64_t, std::int64_t, std::int64_t count) { terms += count; });
    return terms;
  }

  /// Calls work(line, sums) with an empty WideLine or HashedLine.
  template <class Sum, class Work>
  void each_line(const Work& work) const {
    // Each core has an element for each place where all of them take no more than a few times A's memory.
    constexpr std::int64_t always_wide = 1 << 16;
    const std::int64_t cores = sharing_threads();
    if (pair_.width <= std::max(always_wide, 4 * (pair_.lines + a_starts_[pair_.lines]) / cores))
      each_line_in<WideLine<Sum, Index>>(work);
    else
      each_line_in<HashedLine<Sum, Index>>(work);
  }

  template <class Line, class Work>
  void each_line_in(const Work& work) const {
    constexpr std::int64_t least = 64;  // lines of a core at a time
    tbb::enumerable_thread_specific<Line> of_core([this] { return Line(pair_.width); });
    share_ranges(std::int64_t{0}, pair_.lines, least, [&](std::int64_t begin, std::int64_t end) {
      Line& sums = of_core.local();
      in_vectors([&] {
        for (std::int64_t line = begin; line < end; ++line) {
          sums.reset(Line::needs_room ? std::min(terms_of(line), pair_.width) : 0);
          work(line, sums);
        }
      });
    });
  }

  const SparsePair& pair_;
  const Index *a_places_, *a_starts_, *b_places_, *b_starts_;
};

/// Calls with(product) for the product of the pair's dtypes.
template <class With>
void by_type(const SparsePair& pair, const With& with) {
  const auto by_index = [&]<class T>(T) {
    if (pair.index == DType::int32)
      with(PairProduct<T, std::int32_t>(pair));
    else
      with(PairProduct<T, std::int64_t>(pair));
  };
  switch (pair.dtype) {
    case DType::float32:
      return by_index(float{});
    case DType::float64:
      return by_index(double{});
    case DType::complex64:
      return by_index(std::complex<float>{});
    default:
      return by_index(std::complex<double>{});
  }
}

}  // namespace

void count_pair(const SparsePair& pair) {
  by_type(pair, [](const auto& product) { product.count(); });
}

void multiply_pair(const SparsePair& pair) {
  by_type(pair, [](const auto& product) { product.multiply(); });
}

}  // namespace gpulua::cpu
