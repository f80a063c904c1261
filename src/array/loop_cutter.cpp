#include "src/array/loop_cutter.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "src/array/node.h"
#include "src/array/operation_count.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

// Costs. A loop is cut when an expression exceeds the first. Where no loop is seen yet, expressions may grow up to the
// second, and no step of a loop costs more than that.
constexpr std::uint32_t cost_of_a_loop = 128, most_cost = 384;
// Cheaper expressions are evaluated when they are read, even if they contain a step of a loop.
constexpr std::uint32_t little_cost = 64;
// Operations from one search for a loop to the next.
constexpr std::uint64_t pause_of_search = 8;
// Bounds the memory when a script keeps making new loops.
constexpr std::size_t most_places = 1024;

/// Sets a flag while it lives.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  ~Flag() { flag_ = false; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

 private:
  bool& flag_;
};

}  // namespace

void LoopCutter::note(Node& node) {
  const Pending& pending = *node.pending();
  std::uint64_t since = recent_.last() + 1;
  for (const Array& input : pending.inputs)
    if (input->pending() && input->number != 0) since = std::min(since, input->pending()->since);
  node.set_since(since);
  std::uint64_t signature = std::bit_cast<std::uintptr_t>(pending.origin.chunk);
  const auto add = [&](std::uint64_t word) { signature = (std::rotl(signature, 23) ^ word) * 0x9e3779b97f4a7c15; };
  add(static_cast<std::uint64_t>(pending.origin.line) << 8 | static_cast<std::uint64_t>(node.dtype));
  add(pending.op ? std::bit_cast<std::uintptr_t>(pending.op.get())
                 : std::bit_cast<std::uintptr_t>(pending.reducer.get()));
  node.number = recent_.note(signature, pending.cost);
}

void LoopCutter::limit(Node& node) {
  const auto operations = node.pending()->operations;
  if (operations <= cost_of_a_loop) return;
  // The expression has none but the operations since its oldest one.
  const std::uint64_t first = node.pending()->since;
  if (const std::uint64_t most = recent_.cost_since(first); most <= cost_of_a_loop)
    return node.set_operations(static_cast<std::uint32_t>(most));
  if (operations <= most_cost && !may_look(first)) return;
  Node* const nodes[] = {&node};
  std::uint32_t cost = count_operations(nodes, most_cost);
  if (cost > cost_of_a_loop && may_look(first) && cut(node.device().evaluator().pending(), first)) {
    if (!node.pending()) return;
    cost = count_operations(nodes, most_cost);
  }
  if (cost > most_cost) {
    evaluated_ = recent_.last();
    return evaluate(node);
  }
  node.set_operations(cost);
}

bool LoopCutter::cut(const PendingNodes& pending, std::uint64_t first_operation) {
  first_operation = std::max(first_operation, evaluated_ + 1);
  const bool goes_on = loop_.period != 0 && recent_.repeats(loop_.place, loop_.period);
  const std::uint64_t period = recent_.period(first_operation, most_cost, goes_on ? loop_.period : 0);
  looked_ = recent_.last();
  next_look_ = recent_.last() + pause_of_search;
  if (period == 0) return false;
  std::uint64_t place = find_place(period);
  if (place == 0) {
    // Operations whose results nobody can read any more read values, too, until they are collected.
    pending.newest()->device().collect();
    const std::vector<Read> reads = find_reads(pending, recent_.last() - period + 1);
    place = choose_place(reads, period);
    if (places_.size() == most_places) places_.clear();
    Ages& ages = places_[recent_.digest(place, period)];
    for (const auto& [age, bytes] : find_passing(reads, place, period)) ages.push_back(age);
  }
  const std::uint64_t digest = recent_.digest(place, period);
  const bool every_step = digest == loop_.digest && place == loop_.place + period;
  loop_ = {place, period, digest, every_step, places_[digest]};
  const std::vector<Array> carried = find_carried(pending, find_reads(pending, place + 1));
  if (carried.empty()) return false;
  cut_at_place(carried, [](std::span<const Array> arrays) { evaluate(arrays); });
  return true;
}

std::vector<LoopCutter::Read> LoopCutter::find_reads(const PendingNodes& pending, std::uint64_t first) {
  std::vector<Read> reads;
  for (Node* node = pending.newest(); node; node = PendingNodes::before(*node)) {
    if (node->number == 0) continue;  // a number
    if (node->number < first) break;
    for (const Array& input : node->pending()->inputs)
      if (input->pending() && input->number != 0)
        reads.push_back({input->number, node->number, static_cast<std::int64_t>(input->nbytes())});
  }
  return reads;
}

std::map<std::uint64_t, std::int64_t> LoopCutter::find_passing(std::span<const Read> reads, std::uint64_t place,
                                                               std::uint64_t period) {
  std::map<std::uint64_t, std::int64_t> passing;
  for (const Read& read : reads) {
    const std::uint64_t age = (place % period + period - read.value % period) % period;
    if (age < read.reader - read.value) passing[age] = read.bytes;
  }
  return passing;
}

std::vector<Array> LoopCutter::find_carried(const PendingNodes& pending, std::span<const Read> reads) const {
  std::unordered_set<std::uint64_t> older;
  for (const Read& read : reads)
    if (read.value + loop_.period <= loop_.place) older.insert(read.value);
  std::vector<Array> values;
  for (Node* node = pending.newest(); node; node = PendingNodes::before(*node)) {
    if (node->number == 0 || node->number > loop_.place) continue;
    const std::uint64_t age = loop_.place - node->number;
    if (age >= loop_.period && older.empty()) break;
    if (age < loop_.period ? std::ranges::find(loop_.ages, age) == loop_.ages.end() : older.erase(node->number) == 0)
      continue;
    // Kernels read a rolled array from its source.
    Node* const value = node->pending()->roll ? node->pending()->inputs.front().get() : node;
    if (value->pending()) values.emplace_back(value);
  }
  std::ranges::reverse(values);
  return values;
}

void LoopCutter::cut_at_place(std::span<const Array> carried, const Evaluate& evaluate) {
  evaluated_ = loop_.place;
  next_look_ = loop_.place + 2 * loop_.period;
  const Flag flag(evaluating_);
  evaluate(carried);
}

bool LoopCutter::has_step() const {
  return recent_.last() - loop_.place >= loop_.period && recent_.remembers(loop_.place) &&
         recent_.digest(loop_.place, loop_.period) == loop_.digest;
}

void LoopCutter::finish_steps(std::span<Node* const> nodes, const Evaluate& evaluate) {
  if (!loop_.every_step || evaluating_ || !has_step()) return;
  const auto is_of_loop = [&](const Node* node) { return node->pending() && node->pending()->since <= loop_.place; };
  if (std::none_of(nodes.begin(), nodes.end(), is_of_loop)) return;
  if (count_operations(nodes, little_cost) <= little_cost) return;
  PendingNodes& pending = nodes.front()->device().evaluator().pending();
  try {
    while (has_step()) {
      loop_.place += loop_.period;
      cut_at_place(find_carried(pending, {}), evaluate);
    }
  } catch (const Error& error) {
    // Nobody has asked for these values; those that were wanted may still fit.
    if (error.kind() != ErrorKind::memory) throw;
  }
}

std::uint64_t LoopCutter::find_place(std::uint64_t period) const {
  const std::uint64_t last = recent_.last() - period;
  for (std::uint64_t place = last - period + 1; place <= last; ++place)
    if (places_.contains(recent_.digest(place, period))) return place;
  return 0;
}

std::uint64_t LoopCutter::choose_place(std::span<const Read> reads, std::uint64_t period) const {
  const std::uint64_t last = recent_.last() - period, first = last - period + 1;
  std::uint64_t best = first;
  std::int64_t fewest = 0;
  for (std::uint64_t place = first; place <= last; ++place) {
    std::int64_t bytes = 0;
    for (const auto& [age, size] : find_passing(reads, place, period)) bytes += size;
    if (bytes == 0 || (fewest != 0 && bytes > fewest)) continue;
    best = place;
    fewest = bytes;
  }
  return best;
}

}  // namespace gpulua
