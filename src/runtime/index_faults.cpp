#include "src/runtime/index_faults.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "src/base/error.h"
#include "src/base/origin.h"

namespace gpulua {

namespace {

constexpr std::size_t words_of_a_lane = 64;

std::string describe_index(const volatile IndexFault& fault) {
  const std::int64_t index = fault.index;
  std::string text = "[index] ";
  text += index == 0 ? "indices start at 1, got 0 in an index array for axis " + std::to_string(fault.axis) +
                           "; a mask of 0 and 1 is i:astype(\"bool\")"
                     : std::to_string(index) + " in an index array is out of range for axis " +
                           std::to_string(fault.axis) + " of " + std::to_string(fault.extent) + " elements";
  return text;
}

std::string describe_matrix(const volatile IndexFault& fault) {
  const std::string at = std::to_string(fault.axis);
  std::string text = "[" + std::string(fault.op) + "] ";
  text += fault.extent == 1 ? "the matrix" : "matrix " + std::to_string(fault.index) + " of the batch";
  if (fault.axis < 0) return text + " has elements that are not finite";
  switch (static_cast<FaultKind>(fault.found)) {
    case FaultKind::singular:
      return text + " is singular: U(" + at + "," + at + ") is 0";
    case FaultKind::zero_diagonal:
      return text + " is singular: its diagonal is 0 at " + at;
    case FaultKind::pivot:
      return text + " has a pivot out of range at " + at;
    case FaultKind::not_positive_definite:
      return text + " is not positive definite: its leading minor of order " + at +
             " is not positive; a + eps * gpu.eye(n) may be, and gpu.linalg.eigh(a) takes any symmetric matrix";
    default:
      return text + ": the iteration did not converge";
  }
}

/// A number that a script gave for a sparse matrix.
std::string describe_sparse(const volatile IndexFault& fault) {
  const std::string op = "[" + std::string(fault.op) + "] expected ", extent = std::to_string(fault.extent);
  const auto kind = static_cast<FaultKind>(fault.found);
  const bool counts_from_zero =
      fault.index == 0 && (kind == FaultKind::wrong_place || kind == FaultKind::wrong_first_start);
  const std::string got = ", got " + std::to_string(fault.index) + " at position " + std::to_string(fault.at) +
                          (counts_from_zero ? "; positions count from 1: x + 1 of those that count from 0" : "");
  switch (kind) {
    case FaultKind::wrong_place:
      return op + (fault.axis == 1 ? "rows" : "columns") + " from 1 to " + extent + got;
    case FaultKind::wrong_first_start:
      return op + "an indptr that begins with 1" + got;
    case FaultKind::falling_start:
      return op + "a non-decreasing indptr" + got + " after " + extent;
    default:
      return op + "an indptr that ends with " + extent + ", one more than there are values" + got;
  }
}

std::string describe_number(const volatile IndexFault& fault) {
  char number[32] = "nan";  // printf shows its sign
  const std::int64_t bits = fault.index;
  const auto value = std::bit_cast<double>(bits);
  if (value == value) std::snprintf(number, sizeof number, "%.14g", value);
  return std::string(fault.op) + ", got " + number + " in element " + std::to_string(fault.at) + " of an array" +
         (fault.axis > 1 ? ", counted along its rows" : "");
}

std::string describe(const volatile IndexFault& fault) {
  const auto kind = static_cast<FaultKind>(fault.found);
  std::string text = kind == FaultKind::index            ? describe_index(fault)
                     : kind < FaultKind::wrong_place     ? describe_matrix(fault)
                     : kind == FaultKind::invalid_number ? describe_number(fault)
                                                         : describe_sparse(fault);
  if (fault.chunk) text += "; queued at " + line_text(fault.chunk, fault.line);
  if (kind == FaultKind::singular || kind == FaultKind::zero_diagonal)
    text += "; gpu.linalg.lstsq and gpu.linalg.pinv take singular matrices";
  return text;
}

}  // namespace

IndexFaults::~IndexFaults() {
  for (const Lane& lane : lanes_) device_.free_pinned(const_cast<IndexFault*>(lane.words));
}

IndexFaults::Lane& IndexFaults::lane_of(const StreamRef& stream) {
  auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& one) { return one.stream == stream; });
  if (lane != lanes_.end()) return *lane;
  lane = std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& one) { return !one.stream; });
  if (lane == lanes_.end()) {
    constexpr std::size_t bytes = words_of_a_lane * sizeof(IndexFault);
    lanes_.reserve(lanes_.size() + 1);
    void* memory = device_.allocate_pinned(bytes);
    if (!memory) throw Error(ErrorKind::memory, "[index] out of host memory for a page of pinned memory");
    std::memset(memory, 0, bytes);
    lane = lanes_.insert(lanes_.end(), Lane{nullptr, static_cast<IndexFault*>(memory), {}});
  }
  lane->stream = stream;
  return *lane;
}

IndexFaults::Watch IndexFaults::watch(const StreamRef& stream) {
  Lane& lane = lane_of(stream);
  if (lane.open.size() < words_of_a_lane) lane.open.push_back(std::make_shared<Check>());
  return {lane.open.back(), const_cast<IndexFault*>(&lane.words[lane.open.size() - 1])};
}

std::vector<CheckRef> IndexFaults::rearm(const StreamRef& stream) {
  std::vector<CheckRef> checks;
  for (Lane& lane : lanes_) {
    if (lane.stream != stream) continue;
    for (std::size_t i = 0; i < lane.open.size(); ++i) {
      if (lane.open[i]->state == Check::State::failed) {
        lane.open[i] = std::make_shared<Check>();
        lane.words[i].found = 0;
      }
      checks.push_back(lane.open[i]);
    }
  }
  return checks;
}

void IndexFaults::hand_over(const StreamRef& stream, const StreamRef& other) noexcept {
  for (Lane& lane : lanes_)
    if (lane.stream == stream) lane.stream = other;
}

void IndexFaults::release(const StreamRef& stream) noexcept {
  for (Lane& lane : lanes_) {
    if (lane.stream != stream) continue;
    for (std::size_t i = 0; i < lane.open.size(); ++i) lane.words[i].found = 0;
    lane.open.clear();
    lane.stream.reset();
  }
}

bool IndexFaults::any_open() const {
  return std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.stream != nullptr; });
}

void IndexFaults::mute() noexcept {
  for (const Lane& lane : lanes_)
    for (const std::shared_ptr<Check>& check : lane.open) check->is_told = false;
  unreported_.clear();
}

void IndexFaults::read(const Stream* stream) {
  for (Lane& lane : lanes_) {
    if (!lane.stream) continue;
    const bool has_run = lane.stream.get() == stream;
    for (std::size_t i = 0; i < lane.open.size(); ++i) {
      Check& check = *lane.open[i];
      if (check.state == Check::State::open && lane.words[i].found != 0) {
        check.why = describe(lane.words[i]);
        check.state = Check::State::failed;
        if (check.is_told) unreported_.push_back(lane.open[i]);
      }
      if (!has_run) continue;
      if (check.state == Check::State::open) check.state = Check::State::passed;
      lane.words[i].found = 0;
    }
    if (!has_run) continue;
    lane.open.clear();
    lane.stream.reset();
  }
}

void IndexFaults::tell() {
  constexpr std::size_t most_lines = 8;
  std::vector<std::string> lines;  // a loop's faults have one message
  for (const CheckRef& failed : std::exchange(unreported_, {}))
    if (std::ranges::find(lines, failed->why) == lines.end()) lines.push_back(failed->why);
  if (lines.empty()) return;
  std::string text = lines.front();
  for (std::size_t i = 1; i < std::min(lines.size(), most_lines); ++i) text += "\n" + lines[i];
  if (lines.size() > most_lines) text += "\nand " + std::to_string(lines.size() - most_lines) + " more";
  throw Error(text);
}

}  // namespace gpulua
