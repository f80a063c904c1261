#include "src/device/cpu/cpu_sparse.h"

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "src/base/error.h"
#include "src/device/cpu/cpu_sparse_diagonal.h"
#include "src/device/cpu/cpu_sparse_pair.h"
#include "src/device/cpu/runtime/cpu_stream.h"
#include "src/device/cpu/runtime/shared_loops.h"
#include "src/device/cpu/sorting/vector_code.h"

namespace gpulua::cpu {
namespace {

template <class Entry, class Result>
Result product(Entry a, Result b) {
  return static_cast<Result>(a) * b;
}
template <class Real, class Part>
std::complex<Part> product(Real a, std::complex<Part> b) {
  return {static_cast<Part>(a) * b.real(), static_cast<Part>(a) * b.imag()};
}
// Without the check for infinities that the operator of std::complex makes.
template <class Real, class Part>
std::complex<Part> product(std::complex<Real> a, std::complex<Part> b) {
  const Part re = a.real(), im = a.imag();
  return {re * b.real() - im * b.imag(), re * b.imag() + im * b.real()};
}

/// The product of a matrix by lines. Lines and nonzeros together are divided into chunks of one size, whatever the
/// lengths of the lines and the number of cores, so each sum has one order.
template <class Entry, class Result, class Index>
class LineProduct {
 public:
  explicit LineProduct(const SparseProblem& p)
      : entries_(static_cast<const Entry*>(p.entries)),
        places_(static_cast<const Index*>(p.places)),
        ends_(static_cast<const Index*>(p.starts) + 1),
        lines_(p.lines),
        count_(p.count),
        x_(static_cast<const Result*>(p.x)),
        y_(static_cast<Result*>(p.y)),
        columns_(p.columns) {}

  void run() const {
    const std::int64_t chunks = (lines_ + count_ + chunk_size - 1) / chunk_size;
    if (columns_ != 1) {
      each(chunks, [&](std::int64_t chunk) { in_vectors([&] { multiply_rows(chunk); }); });
      return;
    }
    std::vector<Rest> rests(static_cast<std::size_t>(chunks));
    each(chunks, [&](std::int64_t chunk) {
      rests[static_cast<std::size_t>(chunk)] = x_ == nullptr ? add_up<false>(chunk) : add_up<true>(chunk);
    });
    for (const Rest& rest : rests)
      if (rest.line < lines_) y_[rest.line] += rest.sum;
  }

 private:
  static constexpr std::int64_t chunk_size = 1 << 14;

  /// The part of a line that a chunk ends with. `line`: the number of lines where there is none.
  struct Rest {
    std::int64_t line;
    Result sum;
  };

  template <class Work>
  static void each(std::int64_t chunks, const Work& work) {
    share_each(chunks, work);
  }

  /// The line in which a chunk begins: the first that does not end within the lines and nonzeros before it.
  std::int64_t first_line(std::int64_t chunk) const {
    const std::int64_t before = std::min(chunk * chunk_size, lines_ + count_);
    std::int64_t first = std::max<std::int64_t>(0, before - count_), last = std::min(before, lines_);
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (ends_[middle] < before - middle)
        first = middle + 1;
      else
        last = middle;
    }
    return first;
  }

  template <bool has_x>
  Result term(std::int64_t k) const {
    if constexpr (has_x)
      return product(entries_[k], x_[places_[k]]);
    else
      return Result(entries_[k]);
  }

  template <bool has_x>
  Result sum(std::int64_t k, std::int64_t end) const {
    Result total{};
    // Of shorter lines, many are under way at a time; a second loop, whose end is mispredicted, costs more than it
    // saves.
    if (end - k >= 256) {
      Result second{}, third{}, fourth{};
      for (; k + 4 <= end; k += 4) {
        total += term<has_x>(k), second += term<has_x>(k + 1);
        third += term<has_x>(k + 2), fourth += term<has_x>(k + 3);
      }
      total = (total + second) + (third + fourth);
    }
    for (; k < end; ++k) total += term<has_x>(k);
    return total;
  }

  // Not inlined: its loops have all registers.
  template <bool has_x>
  [[gnu::noinline]] Rest add_up(std::int64_t chunk) const {
    const std::int64_t first = first_line(chunk), last = first_line(chunk + 1);
    std::int64_t k = chunk * chunk_size - first;
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t end = ends_[line];
      y_[line] = sum<has_x>(k, end);
      k = end;
    }
    const std::int64_t end = std::min((chunk + 1) * chunk_size, lines_ + count_) - last;
    return k < end ? Rest{last, sum<has_x>(k, end)} : Rest{lines_, Result{}};
  }

  /// The rows of Y that belong to the chunk.
  void multiply_rows(std::int64_t chunk) const {
    const std::int64_t first = first_line(chunk), last = first_line(chunk + 1);
    for (std::int64_t line = first; line < last; ++line) {
      std::int64_t column = 0;
      for (; columns_ - column >= 16; column += 16) multiply_columns<16>(line, column);
      if ((columns_ & 8) != 0) multiply_columns<8>(line, column), column += 8;
      if ((columns_ & 4) != 0) multiply_columns<4>(line, column), column += 4;
      if ((columns_ & 2) != 0) multiply_columns<2>(line, column), column += 2;
      if ((columns_ & 1) != 0) multiply_columns<1>(line, column);
    }
  }

  /// Computes `count` elements of a row of Y, whose sums stay in registers.
  template <int count>
  void multiply_columns(std::int64_t line, std::int64_t column) const {
    Result sums[count] = {};
    for (std::int64_t k = ends_[line - 1]; k < ends_[line]; ++k) {
      const Entry entry = entries_[k];
      const Result* const x = x_ + static_cast<std::int64_t>(places_[k]) * columns_ + column;
      for (int i = 0; i < count; ++i) sums[i] += product(entry, x[i]);
    }
    std::copy_n(sums, count, y_ + line * columns_ + column);
  }

  const Entry* entries_;
  const Index* places_;
  const Index* ends_;  // ends_[-1] is the start of the first line
  std::int64_t lines_, count_;
  const Result* x_;
  Result* y_;
  std::int64_t columns_;
};

class CpuSparse : public Sparse {
 public:
  void multiply(const SparseProblem& problem, Stream& stream) override {
    queue(stream, [problem] {
      if (problem.index == DType::int32)
        by_entry<std::int32_t>(problem);
      else
        by_entry<std::int64_t>(problem);
    });
  }

  void take_diagonal(const SparseDiagonal& problem, Stream& stream) override {
    queue(stream, [problem] { cpu::take_diagonal(problem); });
  }

  void count_pair(const SparsePair& pair, Stream& stream) override {
    queue(stream, [pair] { cpu::count_pair(pair); });
  }
  void multiply_pair(const SparsePair& pair, Stream& stream) override {
    queue(stream, [pair] { cpu::multiply_pair(pair); });
  }

 private:
  template <class Index>
  static void by_entry(const SparseProblem& p) {
    switch (p.entry) {
      case DType::float32:
        return by_result<float, Index, float, double, std::complex<float>, std::complex<double>>(p);
      case DType::float64:
        return by_result<double, Index, double, std::complex<double>>(p);
      case DType::complex64:
        return by_result<std::complex<float>, Index, std::complex<float>, std::complex<double>>(p);
      default:
        return by_result<std::complex<double>, Index, std::complex<double>>(p);
    }
  }

  template <class Entry, class Index, class... Results>
  static void by_result(const SparseProblem& p) {
    const bool found = ((p.dtype == dtype_of<Results> && (LineProduct<Entry, Results, Index>(p).run(), true)) || ...);
    if (!found) throw Error("[sparse] no product in {}", name(p.dtype));
  }

  template <class T>
  static constexpr DType dtype_of = std::is_same_v<T, float>                 ? DType::float32
                                    : std::is_same_v<T, double>              ? DType::float64
                                    : std::is_same_v<T, std::complex<float>> ? DType::complex64
                                                                             : DType::complex128;
};

}  // namespace

std::unique_ptr<Sparse> make_sparse() {
  return std::make_unique<CpuSparse>();
}

}  // namespace gpulua::cpu
