#include "src/array/loop_cutter.h"

#include <algorithm>
#include <bit>

#include "src/array/node.h"
#include "src/array/node_numbers.h"
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
  std::uint64_t since = recent_.spent();
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
  if (const std::uint64_t most = recent_.spent() - node.pending()->since; most <= cost_of_a_loop)
    return node.set_operations(static_cast<std::uint32_t>(most));
  if (operations <= most_cost && recent_.last() < next_look_) return;
  Node* const nodes[] = {&node};
  std::uint32_t cost = count_operations(nodes, most_cost);
  if (cost > cost_of_a_loop && recent_.last() >= next_look_ && cut(node.device().evaluator().pending())) {
    if (!node.pending()) return;
    cost = count_operations(nodes, most_cost);
  }
  if (cost > most_cost) return evaluate(node);
  node.set_operations(cost);
}

bool LoopCutter::cut(const PendingNodes& pending) {
  const std::uint64_t period = recent_.period(most_cost, loop_.period);
  next_look_ = recent_.last() + pause_of_search;
  if (period == 0) return false;
  std::vector<Value> values;
  NodeNumbers seen(pending.newest()->device().evaluator());
  const std::uint64_t first = recent_.last() - 2 * period + 1;
  for (Node* node = pending.newest(); node; node = PendingNodes::before(*node)) {
    if (node->number == 0) continue;  // a number
    if (node->number < first) break;
    for (const Array& input : node->pending()->inputs) {
      if (!input->pending() || input->number == 0 || seen.contains(*input)) continue;
      seen.add(*input);
      values.push_back({input.get(), node->number});
    }
  }
  const std::uint64_t place = choose_place(values, period);
  std::erase_if(values, [&](const Value& value) { return value.node->number > place || value.last_use <= place; });
  if (values.empty()) return false;
  std::sort(values.begin(), values.end(), [](auto& a, auto& b) { return a.node->number < b.node->number; });

  const std::uint64_t digest = recent_.digest(place, period);
  if (places_.size() == most_places) places_.clear();
  places_.insert(digest);
  loop_ = {place, period, digest, digest == loop_.digest && place == loop_.place + period};
  std::vector<Array> carried;
  for (const Value& value : values) {
    if (place - value.node->number < period) loop_.ages.push_back(place - value.node->number);
    carried.emplace_back(value.node);
  }
  cut_at(place, carried, [](std::span<const Array> arrays) { evaluate(arrays); });
  return true;
}

void LoopCutter::cut_at(std::uint64_t place, std::span<const Array> carried, const Evaluate& evaluate) {
  loop_.place = place;
  next_look_ = place + 2 * loop_.period;
  const Flag flag(evaluating_);
  evaluate(carried);
}

bool LoopCutter::has_step() const {
  return recent_.last() - loop_.place >= loop_.period && recent_.remembers(loop_.place) &&
         recent_.digest(loop_.place, loop_.period) == loop_.digest;
}

void LoopCutter::finish_steps(std::span<Node* const> nodes, const Evaluate& evaluate) {
  if (!loop_.every_step || evaluating_ || !has_step()) return;
  if (count_operations(nodes, little_cost) <= little_cost) return;
  PendingNodes& pending = nodes.front()->device().evaluator().pending();
  try {
    while (has_step()) {
      const std::uint64_t place = loop_.place + loop_.period;
      std::vector<Array> carried;
      for (Node* node = pending.newest(); node; node = PendingNodes::before(*node)) {
        if (node->number == 0 || node->number > place) continue;
        if (node->number + loop_.period <= place) break;
        const std::uint64_t age = place - node->number;
        if (std::find(loop_.ages.begin(), loop_.ages.end(), age) != loop_.ages.end()) carried.emplace_back(node);
      }
      std::reverse(carried.begin(), carried.end());
      cut_at(place, carried, evaluate);
    }
  } catch (const Error& error) {
    // Nobody has asked for these values; those that were wanted may still fit.
    if (error.kind() != ErrorKind::memory) throw;
  }
}

std::uint64_t LoopCutter::choose_place(std::span<const Value> values, std::uint64_t period) {
  const std::uint64_t last = recent_.last() - period, first = last - period + 1;
  for (std::uint64_t place = first; place <= last; ++place)
    if (places_.contains(recent_.digest(place, period))) return place;
  // The place at which the fewest bytes pass on.
  std::vector<std::int64_t> changes(period + 1);
  for (const Value& value : values) {
    if (value.node->number > last || value.last_use <= first) continue;
    const auto bytes = static_cast<std::int64_t>(value.node->nbytes());
    changes[std::max(value.node->number, first) - first] += bytes;
    changes[std::min(value.last_use, last + 1) - first] -= bytes;
  }
  std::uint64_t best = first;
  std::int64_t bytes = 0, fewest = 0;
  for (std::uint64_t place = first; place <= last; ++place) {
    bytes += changes[place - first];
    if (bytes == 0 || (fewest != 0 && bytes > fewest)) continue;
    best = place;
    fewest = bytes;
  }
  return best;
}

}  // namespace gpulua
