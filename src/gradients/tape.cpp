#include "src/gradients/tape.h"

#include <algorithm>
#include <string_view>

#include "src/array/array.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/ops/partials.h"
#include "src/ops/user_function.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// Sets the bits of the operands that the partial derivative reads, and `reads_result`.
void find_operands(const Partial& partial, std::uint64_t& operands, bool& reads_result) {
  if (partial.kind == Partial::Kind::operand) operands |= std::uint64_t{1} << partial.operand;
  if (partial.kind == Partial::Kind::result) reads_result = true;
  for (const Partial& input : partial.inputs) find_operands(input, operands, reads_result);
}

}  // namespace

bool is_holomorphic(const TapeEntry& entry) {
  constexpr std::string_view others[] = {"real", "imag", "conj", "abs", "angle", "sign"};
  return !is_complex(entry.compute) ||
         std::find(std::begin(others), std::end(others), entry.op->name) == std::end(others);
}

Array same_elements(const Array& array) {
  const Pending* pending = array->pending();
  const Array same = !pending ? view(array, array->layout)
                     : pending->value
                         ? constant(array->device(), Dims(array->layout.shape), array->dtype, *pending->value)
                         : broadcast(array, array->layout.shape);
  same->weak = array->weak;
  // Views and broadcasts tell the observer by themselves. A constant is new, though it may be a variable of an outer
  // tape.
  if (NodeObserver* observer = array->device().context().observer; observer && pending && pending->value)
    observer->copied(*same, *array);
  return same;
}

Tape::Tape(Context& context, const char* op)
    : context_(context), op_(op), outer_(context.observer), opened_(context.last_serial()) {
  context.observer = this;
}

void Tape::close() {
  if (!open_) return;
  open_ = false;
  context_.observer = outer_;
  // From now on scripts may write to any array, so each is kept by a reader.
  for (TapeEntry& entry : entries_) {
    if (entry.array) entry.array = kept(entry.array);
    for (TapeInput& input : entry.inputs)
      if (input.array) input.array = kept(input.array);
  }
  kept_.clear();
  readable_.clear();
  memories_.clear();
  outer_ = nullptr;
}

Array Tape::variable(const Array& array) {
  const ObservedBy outer(context_, outer_);
  const Array fresh = array->contiguous ? same_elements(array) : broadcast(array, array->layout.shape);
  add(*fresh, TapeEntry::Kind::variable);
  return fresh;
}

std::int32_t Tape::place(const Node& array) const {
  const auto known = places_.find(array.serial());
  return known == places_.end() ? no_place : known->second;
}

bool Tape::tracks(Node& array) {
  return follows(array) || (outer_ && outer_->tracks(array));
}

TapeEntry& Tape::add(Node& node, TapeEntry::Kind kind) {
  const auto place = static_cast<std::int32_t>(entries_.size());
  places_[node.serial()] = place;
  TapeEntry& entry = add(kind, node.dtype, node.device(), node.shared_layout);
  entry.weak = node.weak;
  if (node.pending() || kind == TapeEntry::Kind::view) return entry;
  entry.first = node.layout.offset;
  const auto [owner, is_first] = owners_.emplace(node.buffer()->serial(), place);
  if (!is_first) owner->second = several_places;
  return entry;
}

TapeEntry& Tape::add(TapeEntry::Kind kind, DType dtype, OpenDevice& device, LayoutRef layout) {
  TapeEntry& entry = entries_.emplace_back();
  entry.kind = kind;
  entry.dtype = dtype;
  entry.device = &device;
  entry.layout = std::move(layout);
  if (Host* host = context_.host()) entry.origin = host->origin();
  return entry;
}

/// A reader of the elements as they are now. Writes leave them to readers.
Array Tape::kept(const Array& array) {
  if (array->pending() && array->pending()->value) return array;
  Array& reader = kept_[array->serial()];
  // It reads another array once that was written.
  if (reader && reader->pending() && reader->pending()->inputs.front() == array) return reader;
  const ObservedBy outer(context_, outer_);
  reader = broadcast(array, array->layout.shape);
  reader->weak = array->weak;
  return reader;
}

void Tape::made(Node& node) {
  if (outer_) outer_->made(node);
  const Pending& pending = *node.pending();
  bool follows = false;
  for (const Array& input : pending.inputs) follows = find_place(*input) != no_place || follows;
  if (!follows) return;
  if (pending.op) {
    if (pending.op->function) refuse_derivative(pending.op->name);
    bool varies = false;
    for (std::size_t i = 0; i < pending.inputs.size(); ++i) {
      if (place(*pending.inputs[i]) == no_place) continue;
      const Derivative derivative = derivative_of(*pending.op, i);
      if (derivative == Derivative::none)
        refuse_derivative(pending.op->name, fmt::format(" for its operand {}", i + 1));
      varies = varies || derivative == Derivative::known;
    }
    if (!varies) return;
  }
  if (!is_inexact(node.dtype)) return;
  TapeEntry& entry = add(node, pending.op        ? TapeEntry::Kind::operation
                               : pending.reducer ? TapeEntry::Kind::reduction
                               : pending.indexed ? TapeEntry::Kind::gather
                                                 : TapeEntry::Kind::roll);
  entry.op = pending.op;
  entry.reducer = pending.reducer;
  entry.indexed = pending.indexed;
  entry.roll = pending.roll;
  entry.compute = pending.compute;
  entry.axes = pending.axes;
  for (const Array& input : pending.inputs) entry.inputs.push_back({place(*input)});
  keep_operands(entry, node);
}

void Tape::keep_operands(TapeEntry& entry, Node& node) {
  const auto& inputs = node.pending()->inputs;
  std::uint64_t operands = 0;
  bool keeps_result = false;
  switch (entry.kind) {
    case TapeEntry::Kind::operation:
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (entry.inputs[i].place != no_place && derivative_of(*entry.op, i) == Derivative::known)
          find_operands(partial_of(*entry.op, i), operands, keeps_result);
      if (!is_holomorphic(entry)) operands = 1;
      break;
    case TapeEntry::Kind::reduction:
      if (entry.reducer->function) refuse_derivative(entry.reducer->name);
      if (entry.reducer->name != "sum") operands = 1;
      keeps_result = entry.reducer->name != "sum" && entry.reducer->name != "var";
      break;
    case TapeEntry::Kind::gather:
      operands = ~std::uint64_t{1};
      break;
    default:
      break;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if ((operands >> i & 1) != 0)
      entry.inputs[i].array = entry.inputs[i].place == no_place ? kept(inputs[i]) : inputs[i];
  if (keeps_result) entry.array = &node;
}

void Tape::viewed(Node& view, Node& source) {
  if (outer_) outer_->viewed(view, source);
  if (const auto known = detached_.find(source.serial()); known != detached_.end())
    detached_[view.serial()] = known->second;
  const std::int32_t from = find_place(source);
  if (from == no_place) return;
  // A view of a view shows elements of the array below, which are in row-major order.
  const TapeEntry& below = entry(from);
  const bool is_view = below.kind == TapeEntry::Kind::view;
  const std::int32_t base = is_view ? below.inputs.front().place : from;
  const std::int64_t first = is_view ? below.first : source.layout.offset;
  TapeEntry& entry = add(view, TapeEntry::Kind::view);
  entry.inputs.push_back({base});
  entry.first = first;
  entry.positions = view.layout;
  entry.positions.offset -= first;
}

void Tape::copied(Node& copy, Node& source) {
  if (outer_) outer_->copied(copy, source);
  const std::int32_t from = find_place(source);
  if (from == no_place || !is_inexact(copy.dtype)) return;
  add(copy, TapeEntry::Kind::copy).inputs.push_back({from});
}

void Tape::placed(Node& whole, Node& part, const Layout& positions) {
  if (outer_) outer_->placed(whole, part, positions);
  const std::int32_t from = find_place(part);
  if (from == no_place) return;
  TapeEntry& entry = add(whole, TapeEntry::Kind::placed);
  entry.inputs.push_back({from});
  entry.positions = positions;
}

void Tape::added(Node& whole, Node& part, std::shared_ptr<const Indexed> at, std::span<const Array> indices) {
  if (outer_) outer_->added(whole, part, at, indices);
  const std::int32_t from = find_place(part);
  if (from == no_place) return;
  TapeEntry& entry = add(whole, TapeEntry::Kind::added);
  entry.inputs.push_back({from});
  for (const Array& index : indices) entry.inputs.push_back({no_place, kept(index)});
  entry.indexed = std::move(at);
}

void Tape::derived(std::span<const Array> inputs, std::span<const Array> results, std::span<const Array> partials) {
  TapeEntry call;
  call.kind = TapeEntry::Kind::derived;
  call.results = results.size();
  for (const Array& input : inputs) call.inputs.push_back({find_place(*input)});
  call.partials.assign(partials.begin(), partials.end());
  if (Host* host = context_.host()) call.origin = host->origin();
  entries_.push_back(std::move(call));
  for (const Array& result : results) add(*result, TapeEntry::Kind::result);
}

void Tape::called(std::shared_ptr<const int> rule, std::span<const Array> inputs, std::span<const Array> results) {
  if (outer_) outer_->called(rule, inputs, results);
  TapeEntry call;
  call.kind = TapeEntry::Kind::rule;
  call.rule = std::move(rule);
  call.results = results.size();
  bool follows = false;
  for (const Array& input : inputs) {
    call.inputs.push_back({find_place(*input)});
    follows = follows || call.inputs.back().place != no_place;
  }
  if (!follows) return;
  for (const auto arrays : {inputs, results})
    for (const Array& array : arrays)
      call.memory.push_back({array, array->buffer(), array->buffer()->writes(), nullptr});
  if (Host* host = context_.host()) call.origin = host->origin();
  entries_.push_back(std::move(call));
  for (const Array& result : results)
    if (is_inexact(result->dtype))
      add(*result, TapeEntry::Kind::result);
    else
      entries_.emplace_back().kind = TapeEntry::Kind::result;  // a constant
}

}  // namespace gpulua
