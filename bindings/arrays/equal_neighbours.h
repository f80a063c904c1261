#pragma once

// Numbers of a script's list that differ as doubles and are equal in float32.

#include <optional>
#include <string>
#include <vector>

namespace gpulua {

/// Looks at the numbers of nested lists, one innermost list after the other, for neighbours that float32 makes equal
/// although their difference means something: dates in days, seconds of a clock, coordinates. A difference means
/// something where
/// - it is more than the rounding of a few operations, 1e-12 of the numbers: 0.1 + 0.2 and 0.3 are equal;
/// - the list's numbers lie within a quarter of the greatest of them: samples of a sine, too, are equal beside its
///   peak, but float32 has millions of values for the range of those.
class EqualNeighbours {
 public:
  /// Begins a list.
  void begin();

  /// The next number of the list, at `position` in the nested lists.
  void note(double number, const std::vector<int>& position);

  /// Ends the list. Does nothing where it has no numbers.
  void end();

  /// "elements 1 and 2, 2460000.12345 and 2460000.12456," of the first such list; empty: there is none.
  const std::string& text() const { return text_; }

 private:
  struct Pair {
    double first, second;
    std::vector<int> position;  // of the second
  };
  std::string text_;
  std::optional<Pair> found_;
  double least_ = 0, greatest_ = 0;
  std::optional<double> last_;
};

}  // namespace gpulua
