#pragma once

// The reverse pass: from derivatives of results to those of variables.

#include <memory>
#include <unordered_map>
#include <vector>

#include "src/gradients/tape.h"
#include "src/gradients/terms.h"
#include "src/ops/partials.h"

namespace gpulua {

/// Throws the Error that an array which the rule's call reads was written since.
[[noreturn]] void refuse_written(const TapeEntry& entry, const char* op);

/// Goes over a closed tape from its end to its beginning and makes pending arrays of the chain rule. What it makes is
/// noted by an outer tape, so a derivative has derivatives.
///
/// A cotangent is the derivative of the whole result for an entry. One that a selection has made is *masked*: where it
/// is 0, the entry has no influence, and a factor that is infinite there must not make it NaN.
class Reverse {
 public:
  /// `each`: the derivative of each element of the result for its own element of a variable, so nothing is summed.
  Reverse(std::shared_ptr<const Tape> tape, Context& context, bool each);

  /// Adds to the cotangent of an entry, an array of its shape.
  void add(std::int32_t place, Array cotangent, bool masked = false);
  /// Goes on to the next call of a rule that has a cotangent, and gives its place; no_place at the beginning of the
  /// tape.
  std::int32_t next_rule();
  /// The cotangents of the results of the rule's call at `place`; null where there is none.
  std::vector<Array> cotangents_of(std::int32_t place);
  /// Adds to the cotangent of an input of the entry an array of its shape, or of one to which it broadcasts.
  void contribute(const TapeEntry& entry, std::size_t input, Array cotangent, bool masked);
  /// The cotangent of a variable, in its dtype; null: nothing depends on it.
  Array gradient(std::int32_t place);

  const Tape& tape() const { return *tape_; }

 private:
  struct Cotangent {
    Array array;
    bool masked = false;
  };

  /// An array is `value` where the condition is true, else 0.
  struct Guard {
    Term condition, value;
  };

  bool was_stored(std::int32_t place) const;
  Array own_memory(std::int32_t place, DType dtype);
  void check_each(const TapeEntry& entry) const;
  void check_unwritten(const TapeEntry& entry) const;
  void pull(const TapeEntry& entry, const Cotangent& g);
  void pull_operation(const TapeEntry& entry, const Cotangent& g);
  void pull_reduction(const TapeEntry& entry, const Cotangent& g);
  void pull_positions(const TapeEntry& entry, const Cotangent& g);
  void pull_gather(const TapeEntry& entry, const Cotangent& g);
  void pull_view(const TapeEntry& entry, const Cotangent& g);
  void pull_written(const TapeEntry& entry, const Cotangent& g);
  /// The contribution of a product of the cotangent and a partial derivative.
  Term product(const TapeEntry& entry, const Cotangent& g, const Partial& partial, bool& masked);
  void pull_derived(const TapeEntry& entry, std::int32_t place);
  Term times(const Cotangent& g, const Term& d);
  Term chosen(const Term& condition, const Term& term, bool masked);
  Term guarded(const Term& condition, const Term& value);
  const Guard* guard_of(const Term& term) const;
  Term factor(const TapeEntry& entry, const Partial& partial);
  Term operand(const TapeEntry& entry, std::size_t index) const;
  Term complex_product(const TapeEntry& entry, const Array& g);
  Array spread(const Array& reduced, const TapeEntry& entry, const Dims& shape) const;
  const Dims& shape_of(std::int32_t place) const { return tape_->entry(place).layout->layout.shape; }

  std::shared_ptr<const Tape> tape_;
  Context& context_;
  bool each_;
  std::int32_t at_;  // the entries from here on have been gone over
  std::vector<Cotangent> cotangents_;
  Terms terms_;
  std::unordered_map<std::uint64_t, Guard> guards_{};  // by the serial number of the array
};

}  // namespace gpulua
