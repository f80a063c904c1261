// What a function writes, as versions of the memory.

#include "src/array/aliasing.h"
#include "src/base/error.h"
#include "src/gradients/tape.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// The serial number of an array's memory, which stays the same when a pending array gets it.
std::uint64_t memory_serial(Node& array) {
  return array.pending() ? array.serial() : array.buffer()->serial();
}

}  // namespace

std::int32_t Tape::find_place(Node& array) {
  const std::int32_t known = place(array);
  if (memories_.empty() || detached_.contains(array.serial())) return known;
  const auto found = memories_.find(memory_serial(array));
  if (found == memories_.end()) return known;
  const Memory& memory = found->second;
  if (memory.place == no_place) {
    places_.erase(array.serial());
    return no_place;
  }
  const bool is_newest = known != no_place && entry(known).kind == TapeEntry::Kind::view &&
                         entry(known).inputs.front().place == memory.place;
  if (is_newest) return known;
  const Extent own = extent(array.layout);
  if (own.begin < memory.first || own.end > memory.first + memory.layout->layout.size()) return no_place;
  TapeEntry& view = add(array, TapeEntry::Kind::view);
  view.inputs.push_back({memory.place});
  view.first = memory.first;
  view.positions = array.layout;
  view.positions.offset -= memory.first;
  return place(array);
}

/// The memory of an array. Its place is several_places where arrays that are no views of each other share it.
Tape::Memory Tape::memory_of(Node& array) const {
  const std::uint64_t serial = memory_serial(array);
  if (const auto known = memories_.find(serial); known != memories_.end()) return known->second;
  const auto owner = owners_.find(serial), made = places_.find(serial);
  std::int32_t base = no_place;
  for (std::int32_t one : {place(array), made == places_.end() ? no_place : made->second,
                           owner == owners_.end() ? no_place : owner->second}) {
    if (one >= 0 && entry(one).kind == TapeEntry::Kind::view) one = entry(one).inputs.front().place;
    if (one != no_place) base = base == no_place || base == one ? one : several_places;
  }
  if (base < 0) return {base};
  return {base, entry(base).layout, entry(base).first};
}

void Tape::check_write(Node& target, Node* value, const char* op) {
  if (outer_) outer_->check_write(target, value, op);
  const Memory memory = memory_of(target);
  const bool of_elements = value && is_inexact(target.dtype) && follows(*value);
  const auto detached = detached_.find(target.serial());
  const bool is_detached = detached != detached_.end();
  if (!of_elements && memory.place == no_place && !(is_detached && detached->second)) return;
  const auto refuse = [&](std::string_view what, std::string_view instead) {
    throw Error("[{}] a write {} would hide a dependence from the derivative of [{}]: {}", op, what, op_, instead);
  };
  if (is_detached)
    refuse("to what x:detach() gives, as arguments of gpu.custom and gpu.checkpoint are,", "write to a copy, x:copy()");
  if (memory.place >= 0 && entry(memory.place).kind == TapeEntry::Kind::variable)
    refuse("to memory of a variable", "write y = x + ..., which makes a new array, or write to a copy, x:copy()");
  if (memory_serial(target) <= opened_)
    refuse("of elements that depend on a variable to an array from outside", "write to one that the function makes");
  const Extent own = extent(target.layout);
  const bool is_inside =
      !memory.layout || (own.begin >= memory.first && own.end <= memory.first + memory.layout->layout.size());
  if (memory.place == several_places || !is_inside)
    refuse("to memory that other arrays share", "write to a copy, x:copy()");
}

/// What entries keep of memory that is about to be written is left to readers.
void Tape::keep_before_write(Node& target) {
  for (; searched_ < entries_.size(); ++searched_) {
    TapeEntry& entry = entries_[searched_];
    const auto note = [&](Array& array, Array& reader) {
      if (array) readable_.emplace(memory_serial(*array), Kept{&array, &reader});
    };
    note(entry.array, entry.array);
    for (TapeInput& input : entry.inputs)
      if (input.place != no_place) note(input.array, input.array);
    for (TapeMemory& one : entry.memory) note(one.array, one.kept);
  }
  const auto [first, last] = readable_.equal_range(memory_serial(target));
  for (auto one = first; one != last;) {
    const auto [array, reader] = one->second;
    // A rule's call compares its memory as a whole.
    if (array == reader && !may_overlap(**array, target)) {
      ++one;
      continue;
    }
    *reader = kept(*array);
    one = readable_.erase(one);
  }
}

/// Notes a write to the target and gives its entry; null where nothing there has followed from a variable, or does now.
/// `is_whole`: all elements of the target are written.
TapeEntry* Tape::add_version(Node& target, Node* value, bool is_whole) {
  const std::int32_t from = value && is_inexact(target.dtype) ? find_place(*value) : no_place;
  Memory memory = memory_of(target);
  if (from == no_place && memory.place == no_place) return nullptr;
  if (!memory.layout) {
    const bool covers = target.pending() || target.covers_buffer();
    memory.layout = covers
                        ? target.shared_layout
                        : share(row_major({static_cast<std::int64_t>(target.buffer()->bytes() / target.itemsize())}));
  }
  const std::int64_t size = memory.layout->layout.size();
  const bool is_all = is_whole && target.layout.size() == size && !target.layout.overlaps_itself();
  const std::int32_t before = is_all ? no_place : memory.place;
  TapeEntry* version = nullptr;
  memory.place = no_place;
  if (from != no_place || before != no_place) {
    memory.place = static_cast<std::int32_t>(entries_.size());
    version = &add(TapeEntry::Kind::written, target.dtype, target.device(), memory.layout);
    version->inputs = {{before}, {from}};
    version->first = memory.first;
  }
  // A write of all elements may leave the memory to its readers, and is the first of other memory then.
  memories_[memory_serial(target)] = memories_[target.serial()] = memory;
  return version;
}

void Tape::written(Node& target, Node* value) {
  ++writes;
  keep_before_write(target);
  if (outer_) outer_->written(target, value);
  TapeEntry* version = add_version(target, value, true);
  if (!version) return;
  version->positions = target.layout;
  version->positions.offset -= version->first;
}

void Tape::scattered(Node& target, Node& value, const Indexed& at, std::span<const Array> indices, Combine combine) {
  ++writes;
  keep_before_write(target);
  if (outer_) outer_->scattered(target, value, at, indices, combine);
  // Constants that are added change no derivative.
  if (combine == Combine::add && !follows(value)) return;
  TapeEntry* version = add_version(target, &value, false);
  if (!version) return;
  for (const Array& index : indices) version->inputs.push_back({no_place, kept(index)});
  Indexed positions = at;
  positions.layout.offset -= version->first;
  version->indexed = std::make_shared<const Indexed>(std::move(positions));
  version->adds = combine == Combine::add;
}

void Tape::detached(Node& constant, Node& source) {
  if (outer_) outer_->detached(constant, source);
  detached_[constant.serial()] = tracks(source);
}

}  // namespace gpulua
