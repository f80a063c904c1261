#include "src/timeline/ranges.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "src/base/error.h"

namespace gpulua {

void Ranges::push(std::string_view name, const char* op) {
  begin(name, 0, op);
}

std::uint64_t Ranges::enter(std::string_view name, const char* op) {
  begin(name, ++numbers_, op);
  return numbers_;
}

void Ranges::begin(std::string_view name, std::uint64_t number, const char* op) {
  constexpr std::size_t most_open = 1000;
  if (open_.size() >= most_open)
    throw Error(
        "[{}] expected at most {} open ranges, got another one, '{}', in '{}'; each range_push needs a range_pop, "
        "which "
        "gpu.annotate(name, fn, ...) does by itself",
        op, most_open, name, open_.back().name);
  open_.push_back({std::string(name), host_now(), number, this_thread()});
  for (const auto& plugin : plugins_) plugin->push_range(open_.back().name.c_str());
}

void Ranges::pop() {
  if (open_.empty()) throw Error("[range_pop] expected an open range, got none: each range_pop ends one range_push");
  if (open_.back().number != 0)
    throw Error(
        "[range_pop] expected a range that range_push has begun in the function of gpu.annotate, got '{}', which ends "
        "with that function",
        open_.back().name);
  end_innermost();
}

void Ranges::leave(std::uint64_t number) {
  if (std::ranges::find(open_, number, &Open::number) == open_.end()) return;
  while (open_.back().number != number) end_innermost();
  end_innermost();
}

void Ranges::end_innermost() {
  const Open range = std::move(open_.back());
  open_.pop_back();
  for (const auto& plugin : plugins_) plugin->pop_range();
  if (!timeline_.on()) return;
  TimelineEntry entry;
  entry.kind = TimelineEntry::Kind::range;
  entry.name = timeline_.name(range.name);
  entry.host_begin = range.begin;
  entry.host_end = host_now();
  timeline_.add(std::move(entry));
}

void Ranges::close() noexcept {
  try {
    while (!open_.empty()) end_innermost();
  } catch (const std::exception&) {  // no memory for an entry of the trace
  }
}

}  // namespace gpulua
