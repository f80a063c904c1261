#include "src/gradients/reverse.h"

#include <algorithm>
#include <cmath>

#include "src/array/array.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/gradients/sums.h"
#include "src/runtime/context.h"

namespace gpulua {

Reverse::Reverse(std::shared_ptr<const Tape> tape, Context& context, bool each)
    : tape_(std::move(tape)),
      context_(context),
      each_(each),
      at_(static_cast<std::int32_t>(tape_->size())),
      cotangents_(tape_->size()),
      terms_(*context.current()) {}

void Reverse::add(std::int32_t place, Array cotangent, bool masked) {
  Cotangent& own = cotangents_[static_cast<std::size_t>(place)];
  if (own.array) {
    cotangent = std::get<Array>(terms_.apply("add", {own.array, cotangent}));
    masked = masked && own.masked;
  }
  own = {std::move(cotangent), masked};
}

/// The cotangent of an entry, to which more may be added in place, as it is in memory that nobody else has; or null.
Array Reverse::own_memory(std::int32_t place, DType dtype) {
  Array& own = cotangents_[static_cast<std::size_t>(place)].array;
  if (!own || own->pending() || own->dtype != dtype || own->handles() > 1 || !own->may_change_memory()) return nullptr;
  return own = view(own, own->layout);  // another array than that of the elements before, for terms_
}

std::int32_t Reverse::next_rule() {
  while (at_ > 0) {
    --at_;
    const TapeEntry& entry = tape_->entry(at_);
    if (entry.kind == TapeEntry::Kind::rule) {
      const auto first = cotangents_.begin() + at_ + 1;
      const auto has = [](const Cotangent& one) { return one.array != nullptr; };
      if (!std::any_of(first, first + static_cast<std::ptrdiff_t>(entry.results), has)) continue;
      if (each_) check_each(entry);
      check_unwritten(entry);
      return at_;
    } else if (entry.kind == TapeEntry::Kind::derived) {
      pull_derived(entry, at_);
    } else if (entry.kind != TapeEntry::Kind::variable && entry.kind != TapeEntry::Kind::result) {
      const Cotangent g = std::exchange(cotangents_[static_cast<std::size_t>(at_)], {});
      if (g.array) pull(entry, g);
    }
  }
  return no_place;
}

std::vector<Array> Reverse::cotangents_of(std::int32_t place) {
  std::vector<Array> arrays;
  for (std::size_t i = 1; i <= tape_->entry(place).results; ++i)
    arrays.push_back(std::exchange(cotangents_[static_cast<std::size_t>(place) + i], {}).array);
  return arrays;
}

Array Reverse::gradient(std::int32_t place) {
  const Array& array = cotangents_[static_cast<std::size_t>(place)].array;
  const TapeEntry& entry = tape_->entry(place);
  return array && !entry.weak ? cast(array, entry.dtype) : array;
}

void Reverse::pull(const TapeEntry& entry, const Cotangent& g) {
  if (each_) check_each(entry);
  switch (entry.kind) {
    case TapeEntry::Kind::operation:
      return pull_operation(entry, g);
    case TapeEntry::Kind::reduction:
      return pull_reduction(entry, g);
    case TapeEntry::Kind::copy: {
      const TapeEntry& source = tape_->entry(entry.inputs.front().place);
      return contribute(entry, 0, to_device(g.array, *source.device), g.masked);
    }
    default:
      return pull_positions(entry, g);
  }
}

void Reverse::contribute(const TapeEntry& entry, std::size_t input, Array cotangent, bool masked) {
  const std::int32_t place = entry.inputs[input].place;
  const TapeEntry& source = tape_->entry(place);
  if (!is_complex(source.dtype) && is_complex(cotangent->dtype))
    cotangent = std::get<Array>(terms_.apply("real", {cotangent}));
  const bool sums = !each_ && cotangent->layout.shape != source.layout->layout.shape;
  if (!each_) cotangent = unbroadcast(cotangent, source.layout->layout.shape);
  if (!source.weak) cotangent = cast(cotangent, dtype_of_sum(source.dtype));
  add(place, std::move(cotangent), masked && !sums);
}

// ---- elementwise operations -----------------------------------------------------------------------------------------

Term Reverse::operand(const TapeEntry& entry, std::size_t index) const {
  const TapeInput& input = entry.inputs[index];
  const Pending* pending = input.array->pending();
  const bool is_constant = input.place == no_place && !(context_.observer && context_.observer->tracks(*input.array));
  if (pending && pending->value && is_constant)
    if (const auto* number = std::get_if<double>(&*pending->value)) return *number;
  return input.array;
}

Term Reverse::factor(const TapeEntry& entry, const Partial& partial) {
  switch (partial.kind) {
    case Partial::Kind::number:
      return partial.number;
    case Partial::Kind::operand:
      return operand(entry, partial.operand);
    case Partial::Kind::result:
      return entry.array;
    case Partial::Kind::call:
      break;
  }
  std::vector<Term> inputs;
  for (const Partial& input : partial.inputs) inputs.push_back(factor(entry, input));
  return terms_.apply(*partial.op, inputs);
}

Term Reverse::product(const TapeEntry& entry, const Cotangent& g, const Partial& partial, bool& masked) {
  // The product goes into the branches of a condition, so that a 0 there stays 0.
  if (partial.kind == Partial::Kind::call && partial.op->name == "where") {
    const Term condition = factor(entry, partial.inputs[0]);
    masked = true;
    bool ignored = false;
    const Term yes = product(entry, g, partial.inputs[1], ignored), no = product(entry, g, partial.inputs[2], ignored);
    if (is_number(no, 0)) return chosen(condition, yes, g.masked);
    if (is_number(yes, 0)) return chosen(terms_.apply("logical_not", {condition}), no, g.masked);
    return terms_.apply("where", {condition, yes, no});
  }
  Term d = factor(entry, partial);
  if (const auto* array = std::get_if<Array>(&d); array && is_complex((*array)->dtype)) d = terms_.apply("conj", {d});
  return times(g, d);
}

/// The product of the cotangent and a derivative. What a mask has made 0 stays 0, even where the derivative is
/// infinite.
Term Reverse::times(const Cotangent& g, const Term& d) {
  if (const Guard* guard = guard_of(g.array))
    return guarded(guard->condition, terms_.apply("multiply", {guard->value, d}));
  const Term result = terms_.apply("multiply", {g.array, d});
  const double* number = std::get_if<double>(&d);
  if (!g.masked || (number && std::isfinite(*number))) return result;
  return guarded(terms_.apply("ne", {g.array, 0.0}), result);
}

/// The term where the condition is true, else 0. `masked`: another mask has made some of it 0.
Term Reverse::chosen(const Term& condition, const Term& term, bool masked) {
  if (const Guard* guard = guard_of(term))
    return guarded(terms_.apply("logical_and", {condition, guard->condition}), guard->value);
  return masked ? terms_.apply("where", {condition, term, 0.0}) : guarded(condition, term);
}

/// The value where the condition is true, else 0. Products of it go on with the value, and the condition comes last.
Term Reverse::guarded(const Term& condition, const Term& value) {
  Term result = terms_.apply("where", {condition, value, 0.0});
  if (const auto* array = std::get_if<Array>(&result); array && std::holds_alternative<Array>(condition))
    guards_.insert_or_assign((*array)->serial(), Guard{condition, value});
  return result;
}

const Reverse::Guard* Reverse::guard_of(const Term& term) const {
  const auto* array = std::get_if<Array>(&term);
  const auto known = array ? guards_.find((*array)->serial()) : guards_.end();
  return known == guards_.end() ? nullptr : &known->second;
}

/// The cotangent of the operand of a row that is not holomorphic, as the adjoint of the map of real and imaginary
/// parts.
Term Reverse::complex_product(const TapeEntry& entry, const Array& g) {
  const std::string_view name = entry.op->name;
  const auto times_i = [&](const Term& term) {
    const Array array = cast(std::get<Array>(term), entry.compute);
    const Array i = constant(array->device(), {}, array->dtype, Scalar(std::complex<double>(0, 1)));
    return terms_.apply("multiply", {array, i});
  };
  if (name == "real") return g;
  if (name == "conj") return terms_.apply("conj", {g});
  if (name == "imag") return times_i(g);
  const Term x = operand(entry, 0);
  if (name == "abs") return terms_.apply("multiply", {g, terms_.apply("sign", {x})});
  if (name == "angle")
    return times_i(
        terms_.apply("divide", {terms_.apply("multiply", {g, x}), terms_.apply("square", {terms_.apply("abs", {x})})}));
  // A change of the number along it does not change its sign.
  const Term sign = terms_.apply("sign", {x}), size = terms_.apply("abs", {x});
  const Term along = terms_.apply("real", {terms_.apply("multiply", {terms_.apply("conj", {sign}), g})});
  const Term across = terms_.apply("subtract", {g, terms_.apply("multiply", {sign, along})});
  const Term turned = terms_.apply("divide", {across, size});
  return terms_.apply("where", {terms_.apply("eq", {size, 0.0}), 0.0, turned});
}

void Reverse::pull_operation(const TapeEntry& entry, const Cotangent& g) {
  const bool is_special = !is_holomorphic(entry);
  for (std::size_t i = 0; i < entry.inputs.size(); ++i) {
    if (entry.inputs[i].place == no_place || derivative_of(*entry.op, i) != Derivative::known) continue;
    const bool is_beside_number =
        entry.inputs.size() == 2 && entry.inputs[1 - i].array && std::holds_alternative<double>(operand(entry, 1 - i));
    const Partial& partial = is_beside_number ? partial_beside_number(*entry.op, i) : partial_of(*entry.op, i);
    bool masked = g.masked;
    const Term d = is_special ? complex_product(entry, g.array) : product(entry, g, partial, masked);
    if (const auto* array = std::get_if<Array>(&d)) contribute(entry, i, *array, masked);  // a number is 0
  }
}

/// A call of a function whose partial derivatives are arrays.
void Reverse::pull_derived(const TapeEntry& entry, std::int32_t place) {
  for (std::size_t k = 0; k < entry.results; ++k) {
    const Cotangent g = std::exchange(cotangents_[static_cast<std::size_t>(place) + 1 + k], {});
    for (std::size_t i = 0; g.array && i < entry.inputs.size(); ++i)
      if (const Array& partial = entry.partials[k * entry.inputs.size() + i])
        contribute(entry, i, std::get<Array>(times(g, partial)), g.masked);
  }
}

}  // namespace gpulua
