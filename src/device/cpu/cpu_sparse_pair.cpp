#include "src/device/cpu/cpu_sparse_pair.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <utility>
#include <vector>

namespace gpulua::cpu {
namespace {

/// The places of a line and the sums of the terms there: a hash table with open addressing, which is used for line
/// after line.
template <class Sum>
class LineTable {
 public:
  /// Makes the table empty, with room for `terms` places.
  void reset(std::int64_t terms) {
    const std::size_t size = std::bit_ceil(static_cast<std::size_t>(2 * terms + 1));
    if (slots_.size() < size) slots_.assign(size, {-1, Sum{}});
    for (const std::size_t at : used_) slots_[at].first = -1;
    used_.clear();
    shift_ = 64 - std::countr_zero(size);
  }

  Sum& at(std::int64_t place) {
    // Fibonacci hashing: the highest bits of a product with 2^64 over the golden ratio.
    std::size_t at =
        shift_ == 64 ? 0 : static_cast<std::size_t>(static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15u >> shift_);
    const std::size_t last = (std::size_t{1} << (64 - shift_)) - 1;
    while (slots_[at].first != place) {
      if (slots_[at].first < 0) {
        slots_[at] = {place, Sum{}};
        used_.push_back(at);
        break;
      }
      at = (at + 1) & last;
    }
    return slots_[at].second;
  }

  std::size_t size() const { return used_.size(); }

  /// The places in ascending order, with their sums.
  const std::vector<std::pair<std::int64_t, Sum>>& ordered() {
    list_.clear();
    for (const std::size_t at : used_) list_.push_back(slots_[at]);
    std::sort(list_.begin(), list_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return list_;
  }

 private:
  std::vector<std::pair<std::int64_t, Sum>> slots_, list_;  // of a slot that is not used, the place is -1
  std::vector<std::size_t> used_;
  int shift_ = 64;
};

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
    each_line<Nothing>([this](std::int64_t line, LineTable<Nothing>& table) {
      for (std::int64_t k = a_starts_[line]; k < a_starts_[line + 1]; ++k)
        for (std::int64_t j = b_starts_[a_places_[k]]; j < b_starts_[a_places_[k] + 1]; ++j) table.at(b_places_[j]);
      pair_.counts[line] = static_cast<std::int64_t>(table.size());
    });
  }

  void multiply() const {
    const T* const a = static_cast<const T*>(pair_.a_entries);
    const T* const b = static_cast<const T*>(pair_.b_entries);
    const auto* const starts = static_cast<const Index*>(pair_.starts);
    auto* const places = static_cast<Index*>(pair_.places);
    auto* const entries = static_cast<T*>(pair_.entries);
    each_line<T>([&](std::int64_t line, LineTable<T>& table) {
      for (std::int64_t k = a_starts_[line]; k < a_starts_[line + 1]; ++k)
        for (std::int64_t j = b_starts_[a_places_[k]]; j < b_starts_[a_places_[k] + 1]; ++j)
          table.at(b_places_[j]) += times(a[k], b[j]);
      Index to = starts[line];
      for (const auto& [place, sum] : table.ordered()) {
        places[to] = static_cast<Index>(place);
        entries[to++] = sum;
      }
    });
  }

 private:
  /// The number of terms in a line.
  std::int64_t terms_of(std::int64_t line) const {
    std::int64_t terms = 0;
    for (std::int64_t k = a_starts_[line]; k < a_starts_[line + 1]; ++k)
      terms += b_starts_[a_places_[k] + 1] - b_starts_[a_places_[k]];
    return terms;
  }

  template <class Sum, class Work>
  void each_line(const Work& work) const {
    constexpr std::int64_t least = 64;  // lines of a core at a time
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, pair_.lines, least), [&](const auto& lines) {
      LineTable<Sum> table;
      for (std::int64_t line = lines.begin(); line < lines.end(); ++line) {
        table.reset(std::min(terms_of(line), pair_.width));
        work(line, table);
      }
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
