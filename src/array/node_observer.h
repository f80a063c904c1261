#pragma once

// Who follows how arrays are made from others: gradients/tape.cpp implements the interface.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "src/array/array_handle.h"
#include "src/runtime/context.h"

namespace gpulua {

struct Indexed;
enum class Combine;

/// The context calls its observer for each operation on arrays. There is one while a function is differentiated; it
/// throws Error for an operation that has no derivative.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  /// The pending node has been made. Nothing has evaluated it yet.
  virtual void made(Node& node) = 0;
  /// `view` shows elements of `source`.
  virtual void viewed(Node& view, Node& source) = 0;
  /// `copy` has the elements of `source`, converted to its dtype and on its device.
  virtual void copied(Node& copy, Node& source) = 0;
  /// `whole` has the elements of `part` at `positions` of its row-major order, their sums where several meet, and zeros
  /// elsewhere.
  virtual void placed(Node& whole, Node& part, const Layout& positions) = 0;
  /// `whole` has the sums of the elements of `part` at the indexed positions, and zeros elsewhere.
  virtual void added(Node& whole, Node& part, std::shared_ptr<const Indexed> at, std::span<const Array> indices) = 0;
  /// Throws Error where `op` may not write `value`, or, where that is null, constants, to elements of `target`.
  virtual void check_write(Node& target, Node* value, const char* op) = 0;
  /// The elements of `target` are about to become those of `value`, which broadcasts to them; null: constants. Nothing
  /// throws before they have.
  virtual void written(Node& target, Node* value) = 0;
  /// The same of those elements in the buffer of `target` that `at` gives with the indices: they get `value`, or its
  /// sums. Of values that are stored at one position, all are equal.
  virtual void scattered(Node& target, Node& value, const Indexed& at, std::span<const Array> indices,
                         Combine combine) = 0;
  /// `constant` has the elements of `source`, on which it does not depend for any observer.
  virtual void detached(Node& constant, Node& source) = 0;
  /// A call whose derivative a script's function computes has made the results. Who made the call knows it by `rule`.
  virtual void called(std::shared_ptr<const int> rule, std::span<const Array> inputs,
                      std::span<const Array> results) = 0;
  /// A call has made the results, whose partial derivatives are known: that of result i by input j is number
  /// i * inputs.size() + j, null where it is 0. Outer observers are told by themselves.
  virtual void derived(std::span<const Array> inputs, std::span<const Array> results,
                       std::span<const Array> partials) = 0;
  /// The observer outside of this one, or null.
  virtual NodeObserver* outer() const = 0;
  /// True for an array that depends on a variable of this observer.
  virtual bool follows(Node& array) = 0;
  /// The same for this one and the outer ones.
  virtual bool tracks(Node& array) = 0;
  /// How many writes it was told of.
  std::uint64_t writes = 0;
};

/// The message of that Error: the operation `op`, or a part of it, `of`, as " for its operand 1", has no derivative.
std::string no_derivative(std::string_view op, std::string_view of = "");

/// The context has another observer, or none, as long as this lives.
class ObservedBy {
 public:
  ObservedBy(Context& context, NodeObserver* observer)
      : context_(context), before_(std::exchange(context.observer, observer)) {}
  ~ObservedBy() { context_.observer = before_; }
  ObservedBy(const ObservedBy&) = delete;
  ObservedBy& operator=(const ObservedBy&) = delete;

 private:
  Context& context_;
  NodeObserver* before_;
};

}  // namespace gpulua
