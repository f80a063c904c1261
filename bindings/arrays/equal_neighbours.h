#pragma once

// Numbers of a script's list that differ as doubles and are equal in float32.

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace gpulua {

/// Looks at the numbers of nested lists for neighbours that float32 makes equal although their difference means
/// something: dates in days, seconds of a clock, coordinates. Neighbours are those in an innermost list, and in a
/// list of lists those in a column. A difference means something where
/// - it is more than the rounding of a few operations, 1e-12 of the numbers: 0.1 + 0.2 and 0.3 are equal;
/// - the numbers of the list or column lie within a quarter of the greatest of them: samples of a sine, too, are equal
///   beside its peak, but float32 has millions of values for the range of those.
class EqualNeighbours {
 public:
  /// The next number of the list, at `position` in the nested lists.
  void note(double number, const std::vector<int>& position);

  /// Ends a list that is in `depth` others. Does nothing where it has no numbers.
  void end(std::size_t depth);

  /// "elements 1 and 2, 2460000.12345 and 2460000.12456," of the first such list; empty: there is none.
  const std::string& text() const { return text_; }

 private:
  /// Two numbers, and the positions of them in the list of all.
  struct Pair {
    double first, second;
    std::vector<int> first_position, second_position;
  };

  /// What the numbers of a list or a column have been so far.
  class Line {
   public:
    void note(double number, const std::vector<int>& position, std::size_t axis);
    /// Sets `text` to the first pair whose difference means something, if there is one.
    void end(std::string& text) const;

   private:
    std::optional<Pair> found_;
    double least_ = std::numeric_limits<double>::infinity(), greatest_ = -std::numeric_limits<double>::infinity();
    std::optional<double> last_;
  };

  std::string text_;
  Line row_;
  std::vector<Line> columns_;
};

}  // namespace gpulua
