#include "src/array/pending_writes.h"

#include <algorithm>
#include <exception>

#include "src/array/node.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

constexpr std::size_t most_writes = 32;
constexpr std::uint32_t most_new_plans = 16;
// Old and new elements are in memory together: for one array, and for those of the list, at most this part of it.
constexpr std::size_t largest_part = 16, all_parts = 8;

}  // namespace

bool PendingWrites::begin(Node& node) {
  MemoryAccount& memory = node.device().memory();
  if (node.nbytes() > memory.limit() / largest_part) return false;
  if (nodes_.empty()) ++step_;  // or an array that was the last of a step would end each later one before its own write
  const bool again = node.written_in_ == step_;
  if (again || nodes_.size() >= most_writes || bytes() + node.nbytes() > memory.limit() / all_parts) evaluate();
  if (again) ++step_;
  node.written_in_ = step_;
  const std::size_t needed = bytes() + node.nbytes();
  if (!memory.fits(needed)) node.device().collect();
  return memory.fits(needed);
}

void PendingWrites::add(Node& node) {
  if (node.is_written_) return;
  nodes_.push_back(&node);
  node.is_written_ = true;
  if (alone_ == 0) return;
  --alone_;
  evaluate();
}

void PendingWrites::note_plan(bool is_new) {
  new_plans_ = is_new ? new_plans_ + 1 : new_plans_ - (new_plans_ > 0);
  if (new_plans_ < most_new_plans) return;
  new_plans_ = 0;
  alone_ = next_pause_;
  next_pause_ *= 2;  // so the compilations of an endless program are few
}

void PendingWrites::remove(Node& node) noexcept {
  if (!node.is_written_) return;
  std::erase(nodes_, &node);
  node.is_written_ = false;
}

std::vector<Array> PendingWrites::held() const {
  return {nodes_.begin(), nodes_.end()};
}

std::size_t PendingWrites::bytes() const {
  std::size_t sum = 0;
  for (const Node* node : nodes_) sum += node->nbytes();
  return sum;
}

void PendingWrites::evaluate() {
  if (nodes_.empty()) return;
  const std::vector<Array> nodes = held();
  try {
    return gpulua::evaluate(nodes);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
  }
  // One after the other: each may fail for reasons of its own, and needs less memory than all.
  std::exception_ptr failure;
  for (const Array& node : nodes) {
    remove(*node);
    try {
      gpulua::evaluate(*node);
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gpulua
