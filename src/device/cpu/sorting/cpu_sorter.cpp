#include "src/device/cpu/sorting/cpu_sorter.h"

#include <mutex>
#include <type_traits>

#include "src/base/error.h"
#include "src/device/cpu/runtime/cpu_stream.h"
#include "src/device/cpu/runtime/shared_loops.h"
#include "src/device/cpu/sorting/element_order.h"
#include "src/device/cpu/sorting/radix_sort.h"
#include "src/device/cpu/sorting/row_selection.h"
#include "src/device/take_interrupt.h"

namespace gpulua::cpu {
namespace {

/// The device's pool, with which nobody works during a sort but the sort's threads.
struct SharedPool {
  MemoryPool& pool;
  std::mutex mutex{};
};

/// Memory for the time of a sort: of the thread for a short row, else from the device's pool, since a buffer that is
/// made anew for each sort costs page faults.
class Scratch {
 public:
  /// Precondition: a thread has one at a time.
  Scratch(SharedPool& shared, std::size_t bytes) : shared_(shared) {
    constexpr std::size_t short_row = 1 << 16;
    if (bytes <= short_row) {
      static thread_local const std::unique_ptr<char[]> of_thread(new char[short_row]);
      memory_ = of_thread.get();
      return;
    }
    std::lock_guard lock(shared_.mutex);
    pooled_ = memory_ = shared_.pool.allocate(bytes);
    if (memory_ == nullptr) throw Error(ErrorKind::memory, "[sort] out of memory for {} bytes of buffers", bytes);
  }
  ~Scratch() {
    if (!pooled_) return;
    std::lock_guard lock(shared_.mutex);
    shared_.pool.free(pooled_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  SharedPool& shared_;
  void* memory_;
  void* pooled_ = nullptr;
};

/// Calls with(bits), a zero of the unsigned type that has the bits of an element.
template <class With>
void with_bits(DType dtype, const With& with) {
  switch (size_of(dtype)) {
    case 1:
      return with(std::uint8_t{});
    case 2:
      return with(std::uint16_t{});
    case 4:
      return with(std::uint32_t{});
    default:
      return with(std::uint64_t{});
  }
}

/// A row and its results.
template <class Bits>
struct Row {
  const Bits* in;
  const std::uint32_t* origins;
  Bits* values;
  std::uint32_t* positions;
};

template <class Bits>
bool all_ordinary(const Chunks& chunks, const ElementOrder<Bits>& order, const Bits* in) {
  std::atomic<bool> all{true};
  chunks.each([&](std::size_t, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    bool ordinary = true;
    for (std::size_t i = first; i < last; ++i) ordinary &= mine.is_ordinary(in[i]);
    if (!ordinary) all = false;
  });
  return all;
}

/// Sorts the numbers in place, and makes elements of them.
template <class Bits>
void sort_values(const Chunks& chunks, const ElementOrder<Bits>& order, const Row<Bits>& row, Bits* other) {
  chunks.each([&](std::size_t, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    for (std::size_t i = first; i < last; ++i) row.values[i] = mine.ordinary_number(row.in[i]);
  });
  RadixSort<Bits>()(chunks, row.values, other);
  chunks.each([&](std::size_t, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    for (std::size_t i = first; i < last; ++i) row.values[i] = mine.element(row.values[i]);
  });
}

template <class Bits>
using Pair = Numbered<std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>>;

/// Sorts numbers with their positions.
template <class Bits>
void sort_positions(const Chunks& chunks, const ElementOrder<Bits>& order, const Row<Bits>& row, Pair<Bits>* pairs,
                    Pair<Bits>* other) {
  chunks.each([&](std::size_t, std::size_t first, std::size_t last) {
    const ElementOrder<Bits> mine = order;
    for (std::size_t i = first; i < last; ++i) pairs[i] = {mine.number(row.in[i]), static_cast<std::uint32_t>(i)};
  });
  RadixSort<Pair<Bits>>()(chunks, pairs, other);
  chunks.each([&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (row.positions) row.positions[i] = row.origins ? row.origins[pairs[i].position] : pairs[i].position;
      if (row.values) row.values[i] = row.in[pairs[i].position];
    }
  });
}

template <class Bits>
bool has_nan(const Chunks& chunks, const ElementOrder<Bits>& order, const Bits* in) {
  std::atomic<bool> any{false};
  chunks.each([&](std::size_t, std::size_t first, std::size_t last) {
    in_vectors([&] {
      const ElementOrder<Bits> mine = order;
      Bits found = 0;
      for (std::size_t i = first; i < last; ++i) found |= mine.is_nan(in[i]);
      if (found != 0) any = true;
    });
  });
  return any;
}

template <class Bits>
void select_in_row(const RowSelection<Bits>& row, const ElementOrder<Bits>& order,
                   const std::vector<std::size_t>& ranks, Bits* elements) {
  std::vector<std::size_t> ascending = ranks;
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  std::vector<Bits> numbers(ascending.size());
  row.find(ascending.data(), ascending.size(), numbers.data());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto place = std::lower_bound(ascending.begin(), ascending.end(), ranks[i]) - ascending.begin();
    elements[i] = order.element(numbers[static_cast<std::size_t>(place)]);
  }
}

class CpuSorter : public Sorter {
 public:
  CpuSorter(MemoryPool& memory, std::atomic<bool>& interrupted) : memory_{memory}, interrupted_(interrupted) {}

  void sort(const RowsToOrder& rows, const OrderedRows& out, Stream& stream) override {
    queue(stream, [=, this] { with_bits(rows.dtype, [&](auto zero) { sort_rows<decltype(zero)>(rows, out); }); });
  }

  void partition(const RowsToOrder& rows, std::int64_t rank, std::int64_t count, const OrderedRows& out,
                 Stream& stream) override {
    queue(stream, [=, this] { part_rows(rows, rank, count, out); });
  }

  void select(const RowsToOrder& rows, const std::int64_t* ranks, std::int64_t count, bool nan_rows, void* out,
              Stream& stream) override {
    queue(stream, [=, this] { select_in_rows(rows, ranks, count, nan_rows, out); });
  }

 private:
  void part_rows(const RowsToOrder& rows, std::int64_t rank, std::int64_t count, const OrderedRows& out) {
    with_bits(rows.dtype, [&](auto zero) {
      using Bits = decltype(zero);
      const ElementOrder<Bits> order(rows.dtype, rows.descending);
      each_row<Bits>(rows, count, out, [&](const Chunks& chunks, const Row<Bits>& row) {
        const auto at = static_cast<std::size_t>(rank);
        Bits key;
        RowSelection<Bits>(chunks, order, row.in).find(&at, 1, &key);
        part_by(chunks, order, row.in, key, static_cast<std::size_t>(count), row.values, row.positions);
      });
    });
  }

  void select_in_rows(const RowsToOrder& rows, const std::int64_t* ranks, std::int64_t count, bool nan_rows,
                      void* out) {
    OrderedRows values;
    values.values = out;
    with_bits(rows.dtype, [&](auto zero) {
      using Bits = decltype(zero);
      const ElementOrder<Bits> order(rows.dtype, rows.descending);
      each_row<Bits>(rows, count, values, [&](const Chunks& chunks, const Row<Bits>& row) {
        const std::int64_t at = (row.in - static_cast<const Bits*>(rows.in)) / rows.size;
        const std::vector<std::size_t> wanted(ranks + at * count, ranks + (at + 1) * count);
        if (nan_rows && has_nan(chunks, order, row.in))
          std::fill_n(row.values, count, order.element(std::numeric_limits<Bits>::max()));
        else
          select_in_row(RowSelection<Bits>(chunks, order, row.in), order, wanted, row.values);
      });
    });
  }

  template <class Bits>
  void sort_rows(const RowsToOrder& rows, const OrderedRows& out) {
    const ElementOrder<Bits> order(rows.dtype, rows.descending);
    each_row<Bits>(rows, rows.size, out, [&](const Chunks& chunks, const Row<Bits>& row) {
      if (row.positions == nullptr && all_ordinary(chunks, order, row.in)) {
        const Scratch other(memory_, chunks.size() * sizeof(Bits));
        return sort_values(chunks, order, row, other.as<Bits>());
      }
      const std::size_t size = chunks.size();
      const Scratch pairs(memory_, 2 * size * sizeof(Pair<Bits>));
      sort_positions(chunks, order, row, pairs.as<Pair<Bits>>(), pairs.as<Pair<Bits>>() + size);
    });
  }

  /// Calls work(chunks, row) for each row: for some rows at a time, or, where rows are long and few, with chunks of one
  /// that the cores share. `count`: the length of a row of results.
  template <class Bits, class Work>
  void each_row(const RowsToOrder& rows, std::int64_t count, const OrderedRows& out, const Work& work) {
    const auto row = [&](std::int64_t i) {
      return Row<Bits>{static_cast<const Bits*>(rows.in) + i * rows.size,
                       rows.origins ? rows.origins + i * rows.size : nullptr,
                       out.values ? static_cast<Bits*>(out.values) + i * count : nullptr,
                       out.positions ? out.positions + i * count : nullptr};
    };
    const auto size = static_cast<std::size_t>(rows.size);
    const Chunks shared = Chunks::over_cores(size);
    if (rows.rows < static_cast<std::int64_t>(shared.count())) {
      for (std::int64_t i = 0; i < rows.rows; ++i) {
        take_interrupt(interrupted_, "sort");
        work(shared, row(i));
      }
      return;
    }
    // Less work than this is done sooner by one core.
    constexpr std::int64_t worth_sharing = 1 << 13;
    share_ranges(std::int64_t{0}, rows.rows, (worth_sharing + rows.size - 1) / rows.size,
                 [&](std::int64_t begin, std::int64_t end) {
                   take_interrupt(interrupted_, "sort");
                   for (std::int64_t i = begin; i < end; ++i) work(Chunks(size), row(i));
                 });
  }

  SharedPool memory_;
  std::atomic<bool>& interrupted_;
};

}  // namespace

std::unique_ptr<Sorter> make_sorter(MemoryPool& memory, std::atomic<bool>& interrupted) {
  return std::make_unique<CpuSorter>(memory, interrupted);
}

}  // namespace gpulua::cpu
