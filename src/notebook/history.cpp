#include "src/notebook/history.h"

#include <fnmatch.h>

#include <algorithm>

namespace gpulua {
namespace {

nl::json reply(nl::json entries) {
  return {{"status", "ok"}, {"history", std::move(entries)}};
}

}  // namespace

void History::store_inputs_impl(int, int, const std::string& input, const std::string&) {
  cells_.push_back(input);
}

/// Session, line and code; with `output` a pair of code and result, whose result is not kept.
nl::json History::entry(std::size_t index, bool output) const {
  const nl::json code = cells_[index];
  return {0, index + 1, output ? nl::json{code, nullptr} : code};
}

nl::json History::get_tail_impl(int count, bool, bool output) const {
  nl::json entries = nl::json::array();
  const std::size_t shown = std::min(cells_.size(), static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t i = cells_.size() - shown; i < cells_.size(); ++i) entries.push_back(entry(i, output));
  return reply(entries);
}

nl::json History::get_range_impl(int, int start, int stop, bool, bool output) const {
  nl::json entries = nl::json::array();
  for (int line = std::max(start, 1); line < stop && line <= static_cast<int>(cells_.size()); ++line)
    entries.push_back(entry(static_cast<std::size_t>(line - 1), output));
  return reply(entries);
}

nl::json History::search_impl(const std::string& pattern, bool, bool output, int count, bool unique) const {
  std::vector<std::size_t> found;  // the last first
  for (std::size_t i = cells_.size(); i-- > 0 && static_cast<int>(found.size()) < count;) {
    const auto is_same = [&](std::size_t other) { return cells_[other] == cells_[i]; };
    if (fnmatch(pattern.c_str(), cells_[i].c_str(), 0) == 0 && !(unique && std::ranges::any_of(found, is_same)))
      found.push_back(i);
  }
  nl::json entries = nl::json::array();
  for (auto i = found.rbegin(); i != found.rend(); ++i) entries.push_back(entry(*i, output));
  return reply(entries);
}

}  // namespace gpulua
