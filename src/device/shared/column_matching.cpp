#include "src/device/shared/column_matching.h"

#include <cstddef>

namespace gpulua {
namespace {

class Matching {
 public:
  Matching(const std::vector<int>& rows, const std::vector<int>& starts)
      : rows_(rows), starts_(starts), columns_(starts.size() - 1) {
    column_of_.assign(columns_, -1);
    visited_by_.assign(columns_, -1);
    next_ = free_next_ = std::vector<int>(starts.begin(), starts.end() - 1);
    for (std::size_t column = 0; column < columns_; ++column)
      for (int entry = starts[column]; entry < starts[column + 1]; ++entry)
        if (at(rows, entry) == static_cast<int>(column)) column_of_[column] = static_cast<int>(column);
  }

  int first_unmatched() {
    // Columns with a row keep one, though not always this one.
    const std::vector<int> on_diagonal = column_of_;
    for (std::size_t i = 0; i < columns_; ++i)
      if (const int column = static_cast<int>(i); on_diagonal[i] != column && !add(column)) return column;
    return -1;
  }

 private:
  /// A column on the path, and the row by which the path came to it: that of its entry.
  struct Step {
    int column, row;
  };

  static const int& at(const std::vector<int>& list, int i) { return list[static_cast<std::size_t>(i)]; }
  static int& at(std::vector<int>& list, int i) { return list[static_cast<std::size_t>(i)]; }

  /// Looks for a path from the column to a free row, and gives each column on it the row that follows.
  bool add(int start) {
    std::vector<Step> path{{start, -1}};
    at(visited_by_, start) = start;
    at(next_, start) = at(starts_, start);
    while (!path.empty()) {
      const int column = path.back().column;
      if (int row = free_row(column); row >= 0) {
        for (; !path.empty(); path.pop_back()) {
          at(column_of_, row) = path.back().column;
          row = path.back().row;
        }
        return true;
      }
      if (!extend(path, column, start)) path.pop_back();
    }
    return false;
  }

  /// Rows do not become free again, so each entry is looked at once.
  int free_row(int column) {
    int& entry = at(free_next_, column);
    while (entry < at(starts_, column + 1)) {
      const int row = at(rows_, entry++);
      if (at(column_of_, row) < 0) return row;
    }
    return -1;
  }

  bool extend(std::vector<Step>& path, int column, int start) {
    int& entry = at(next_, column);
    while (entry < at(starts_, column + 1)) {
      const int row = at(rows_, entry++), other = at(column_of_, row);
      if (at(visited_by_, other) == start) continue;
      at(visited_by_, other) = start;
      at(next_, other) = at(starts_, other);
      path.push_back({other, row});
      return true;
    }
    return false;
  }

  const std::vector<int>&rows_, &starts_;
  std::size_t columns_;
  std::vector<int> column_of_;         // of each row; -1: free
  std::vector<int> visited_by_;        // the column whose path was the last to come by
  std::vector<int> next_, free_next_;  // of each column: the entry to look at next
};

}  // namespace

int unmatched_column(const std::vector<int>& rows, const std::vector<int>& starts) {
  return Matching(rows, starts).first_unmatched();
}

}  // namespace gpulua
