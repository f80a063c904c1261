#include "src/device/cpu/cpu_labels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "src/device/cpu/runtime/shared_loops.h"

namespace gpulua::cpu {
namespace {

/// Elements of a row next to each other, from `first` to before `last`.
struct Run {
  std::int32_t first, last;
};

/// The rows before a row whose elements are its neighbours: the row at `steps` along the axes but the last, and which
/// elements there, at -1, 0 and 1 along the last axis.
struct Neighbour {
  std::vector<std::int64_t> steps;
  std::int64_t distance = 0;  // in rows; below 0
  bool along[3] = {};
};

/// Rows of the array are the elements along its last axis. The runs of inside elements in the rows are united where
/// they touch: each points at an earlier one of its part, the first at itself. Strips of rows are done at the same
/// time, and united at the end.
class Labelling {
 public:
  explicit Labelling(const PartsToLabel& parts)
      : inside_(static_cast<const std::uint8_t*>(parts.inside)),
        labels_(parts.labels),
        outer_(parts.shape.begin(), parts.shape.end() - 1),
        width_(parts.shape.back()) {
    for (const std::int64_t extent : outer_) rows_ *= extent;
    read_structure(parts.structure);
    const std::int64_t cores = sharing_threads();
    constexpr std::int64_t least = 1 << 15;  // elements of a strip
    const std::int64_t wanted = std::clamp<std::int64_t>(rows_ * width_ / least, 1, std::min(2 * cores, rows_));
    share_ = (rows_ + wanted - 1) / wanted;
    strips_.resize(static_cast<std::size_t>((rows_ + share_ - 1) / share_));
  }

  std::int64_t run() {
    each_strip([&](std::size_t strip) { find_runs(strip); });
    std::int32_t count = 0;
    for (Strip& strip : strips_) {
      for (std::int32_t& start : strip.starts) start += count;
      strip.begin = count;
      count += static_cast<std::int32_t>(strip.runs.size());
    }
    parents_.resize(static_cast<std::size_t>(count));
    each_strip([&](std::size_t strip) { unite_rows(strip, false); });
    for (std::size_t strip = 1; strip < strips_.size(); ++strip) unite_rows(strip, true);
    const std::int64_t parts = number();
    each_strip([&](std::size_t strip) { write(strip); });
    return parts;
  }

 private:
  struct Strip {
    std::vector<Run> runs;
    std::vector<std::int32_t> starts;  // the number of each row's first run, and of the run after the last one
    std::int32_t begin = 0;            // the number of the first run
  };

  template <class Work>
  void each_strip(const Work& work) {
    share_each(strips_.size(), work);
  }

  std::int64_t first_row(std::size_t strip) const { return static_cast<std::int64_t>(strip) * share_; }
  std::int64_t last_row(std::size_t strip) const { return std::min(first_row(strip + 1), rows_); }

  /// `structure`: three elements along each axis, the middle ones of which stand for the element itself.
  void read_structure(const std::vector<bool>& structure) {
    const std::size_t middle = structure.size() / 2 / 3;
    for (std::size_t row = 0; row < middle; ++row) {
      Neighbour neighbour;
      for (std::size_t i = 0; i < 3; ++i) neighbour.along[i] = structure[3 * row + i];
      neighbour.steps.resize(outer_.size());
      std::size_t rest = row;
      for (std::size_t axis = outer_.size(); axis-- > 0; rest /= 3)
        neighbour.steps[axis] = static_cast<std::int64_t>(rest % 3) - 1;
      for (std::size_t axis = 0; axis < outer_.size(); ++axis)
        neighbour.distance = neighbour.distance * outer_[axis] + neighbour.steps[axis];
      if (neighbour.along[0] || neighbour.along[1] || neighbour.along[2]) neighbours_.push_back(std::move(neighbour));
    }
    joins_along_ = structure[3 * middle];
  }

  // ---- the runs ---------------------------------------------------------------------------------------------------

  /// Bit i tells whether byte i of the eight at `bytes`, 0 or 1 each, is 1.
  static std::uint64_t bits_of(const std::uint8_t* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word * 0x0102040810204080u >> 56;
  }

  /// The next up to 64 elements as bits.
  std::uint64_t bits_at(const std::uint8_t* row, std::int64_t at) const {
    std::uint64_t bits = 0;
    const std::int64_t count = std::min<std::int64_t>(64, width_ - at);
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) bits |= bits_of(row + at + i) << i;
    for (; i < count; ++i) bits |= std::uint64_t{row[at + i]} << i;
    return bits;
  }

  void find_runs(std::size_t number) {
    Strip& strip = strips_[number];
    for (std::int64_t row = first_row(number); row < last_row(number); ++row) {
      strip.starts.push_back(static_cast<std::int32_t>(strip.runs.size()));
      const std::uint8_t* const elements = inside_ + row * width_;
      std::uint64_t before = 0;  // the last bit
      for (std::int64_t at = 0; at < width_; at += 64) {
        const std::uint64_t bits = bits_at(elements, at);
        if (joins_along_) {
          for (std::uint64_t changes = bits ^ (bits << 1 | before); changes != 0; changes &= changes - 1) {
            const auto place = static_cast<std::int32_t>(at + std::countr_zero(changes));
            if ((bits >> (place - at) & 1) != 0)
              strip.runs.push_back({place, static_cast<std::int32_t>(width_)});
            else
              strip.runs.back().last = place;
          }
          before = bits >> 63;
        } else {
          for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
            const auto place = static_cast<std::int32_t>(at + std::countr_zero(rest));
            strip.runs.push_back({place, place + 1});
          }
        }
      }
    }
    strip.starts.push_back(static_cast<std::int32_t>(strip.runs.size()));
  }

  // ---- the parts --------------------------------------------------------------------------------------------------

  std::int32_t first_of(std::int32_t run) {
    while (parents_[run] != run) run = parents_[run] = parents_[parents_[run]];
    return run;
  }

  void unite(std::int32_t a, std::int32_t b) {
    a = first_of(a), b = first_of(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

  /// The numbers of a row's runs, and the runs from the first on.
  struct RowRuns {
    std::int32_t first, last;
    const Run* runs;
  };
  RowRuns runs_of(std::int64_t row) const {
    const Strip& strip = strips_[static_cast<std::size_t>(row / share_)];
    const std::int32_t* const starts = strip.starts.data() + row % share_;
    return {starts[0], starts[1], strip.runs.data() + (starts[0] - strip.begin)};
  }

  /// Unites the runs of `row` with those of `other` whose elements are from `low` to `high` beside theirs. Where these
  /// differ, there is an element between two runs of the row.
  void unite_runs(const RowRuns& row, const RowRuns& other, std::int32_t low, std::int32_t high) {
    std::int32_t a = row.first, b = other.first;
    while (a < row.last && b < other.last) {
      const Run x = row.runs[a - row.first], y = other.runs[b - other.first];
      const std::int32_t first = x.first + low, last = x.last + high;
      if (first < y.last && y.first < last) unite(a, b);
      const bool ends_first = last <= y.last;
      a += ends_first;
      b += !ends_first;
    }
  }

  /// Unites the strip's runs with those of rows before theirs: in the strip, or in the strips before it.
  void unite_rows(std::size_t number, bool before) {
    const std::int64_t first = first_row(number), last = last_row(number);
    if (!before) {
      const std::int32_t begin = strips_[number].begin;
      for (std::size_t i = 0; i < strips_[number].runs.size(); ++i)
        parents_[begin + static_cast<std::int32_t>(i)] = begin + static_cast<std::int32_t>(i);
    }
    for (const Neighbour& neighbour : neighbours_)
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t other = row + neighbour.distance;
        if (before && other >= first) break;
        if ((other < first) != before || !is_inside(row, neighbour)) continue;
        const RowRuns own = runs_of(row), there = runs_of(other);
        const bool* const along = neighbour.along;
        if (joins_along_ && along[0] && along[1] && along[2])
          unite_runs(own, there, -1, 1);
        else
          for (std::int32_t step = -1; step <= 1; ++step)
            if (along[step + 1]) unite_runs(own, there, step, step);
      }
  }

  bool is_inside(std::int64_t row, const Neighbour& neighbour) const {
    for (std::size_t axis = outer_.size(); axis-- > 0; row /= outer_[axis]) {
      const std::int64_t at = row % outer_[axis] + neighbour.steps[axis];
      if (at < 0 || at >= outer_[axis]) return false;
    }
    return true;
  }

  // ---- the labels -------------------------------------------------------------------------------------------------

  /// The numbers of the parts take the place of the parents.
  std::int64_t number() {
    std::int32_t parts = 0;
    for (std::size_t run = 0; run < parents_.size(); ++run) {
      const auto parent = static_cast<std::size_t>(parents_[run]);
      parents_[run] = parent == run ? ++parts : parents_[parent];
    }
    return parts;
  }

  void write(std::size_t strip) const {
    for (std::int64_t row = first_row(strip); row < last_row(strip); ++row) {
      std::int32_t* const labels = labels_ + row * width_;
      const RowRuns own = runs_of(row);
      std::int32_t at = 0;
      for (std::int32_t run = own.first; run < own.last; ++run) {
        const Run place = own.runs[run - own.first];
        for (; at < place.first; ++at) labels[at] = 0;
        for (; at < place.last; ++at) labels[at] = parents_[run];
      }
      for (; at < width_; ++at) labels[at] = 0;
    }
  }

  const std::uint8_t* inside_;
  std::int32_t* labels_;
  std::vector<std::int64_t> outer_;  // the extents of the axes but the last
  std::int64_t width_, rows_ = 1, share_ = 1;
  std::vector<Neighbour> neighbours_;
  bool joins_along_ = false;  // neighbours along the last axis are of one part
  std::vector<Strip> strips_;
  std::vector<std::int32_t> parents_;  // of the runs of all strips, by their numbers
};

class CpuLabeller : public Labeller {
 public:
  std::int64_t label(const PartsToLabel& parts, Stream&) override { return Labelling(parts).run(); }
};

}  // namespace

std::unique_ptr<Labeller> make_labeller() {
  return std::make_unique<CpuLabeller>();
}

}  // namespace gpulua::cpu
