#pragma once

// What a function has computed from its variables, noted for its derivative.

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/array/indexed.h"
#include "src/array/node.h"
#include "src/array/node_observer.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

/// The place of arrays that depend on no variable.
inline constexpr std::int32_t no_place = -1;

/// An operand of an entry.
struct TapeInput {
  std::int32_t place = no_place;
  Array array{};  // null where the derivative needs no elements of it
};

/// An array that a rule reads, and the memory that it had in the rule's call.
struct TapeMemory {
  Array array;
  BufferRef buffer;
  std::uint64_t writes;
};

/// An array that depends on a variable, and how.
struct TapeEntry {
  enum class Kind : std::uint8_t {
    variable,
    operation,  // elementwise
    reduction,
    gather,
    roll,
    view,
    placed,   // the input's elements, or their sums, at the positions of a view, zeros at the others
    added,    // the same at the positions of index arrays
    copy,     // the elements, converted or on another device
    derived,  // a call whose partial derivatives are arrays; its results are the entries that follow
    rule,     // a call whose derivative a script's function computes; its results are the entries that follow
    result,   // of such a call
  } kind = Kind::variable;
  DType dtype = DType::float32;
  bool weak = false;
  OpenDevice* device = nullptr;
  LayoutRef layout{};  // of the array
  boost::container::small_vector<TapeInput, 3> inputs{};
  std::shared_ptr<const OpInfo> op{};
  std::shared_ptr<const Reducer> reducer{};
  std::shared_ptr<const Indexed> indexed{};
  std::shared_ptr<const Dims> roll{};
  DType compute = DType::float32;
  std::uint64_t axes = 0;
  Array array{};                      // null where the derivative needs no elements of the result
  Layout positions{};                 // of a view: where its elements lie among the row-major ones of its input
  std::int64_t first = 0;             // the offset of that input's first element in its buffer
  std::shared_ptr<const int> rule{};  // the number by which the bindings know the call
  std::size_t results = 0;
  std::vector<Array> partials{};     // of a derived call, by result and input; null: 0
  std::vector<TapeMemory> memory{};  // of a rule's call
  Origin origin{};
};

/// False for an operation on complex numbers whose derivative is no factor: that of real and imaginary parts.
bool is_holomorphic(const TapeEntry& entry);

/// A new array with the elements of `array`: a view of those in memory.
Array same_elements(const Array& array);

/// While it is open, the tape notes each array that follows from its variables. Tapes nest: an outer one goes on while
/// an inner one is open.
class Tape final : public NodeObserver {
 public:
  /// Opens it. `op`: the function that differentiates, by its name in errors.
  Tape(Context& context, const char* op);
  ~Tape() override { close(); }

  /// A new array with the elements of `array`, a variable of the tape.
  Array variable(const Array& array);
  /// Closes the tape. Its variables and results may then be written.
  void close();

  /// The place of an array; no_place if it follows from no variable.
  std::int32_t place(const Node& array) const;
  const TapeEntry& entry(std::int32_t place) const { return entries_[static_cast<std::size_t>(place)]; }
  std::size_t size() const { return entries_.size(); }
  const char* op() const { return op_; }

  void made(Node& node) override;
  void viewed(Node& view, Node& source) override;
  void copied(Node& copy, Node& source) override;
  void placed(Node& whole, Node& part, const Layout& positions) override;
  void added(Node& whole, Node& part, std::shared_ptr<const Indexed> at, std::span<const Array> indices) override;
  void writes(Node& target, const Node* value, const char* op) override;
  void called(std::shared_ptr<const int> rule, std::span<const Array> inputs, std::span<const Array> results) override;
  void derived(std::span<const Array> inputs, std::span<const Array> results, std::span<const Array> partials) override;
  NodeObserver* outer() const override { return outer_; }
  bool follows(const Node& array) const override { return place(array) != no_place; }
  bool tracks(const Node& array) const override;

 private:
  TapeEntry& add(Node& node, TapeEntry::Kind kind);
  void keep_operands(TapeEntry& entry, Node& node);
  Array kept(const Array& array);

  Context& context_;
  const char* op_;
  NodeObserver* outer_;
  bool open_ = true;
  std::deque<TapeEntry> entries_;
  std::vector<BufferRef> variables_;                        // memory that variables share with the arrays outside
  std::unordered_map<std::uint64_t, std::int32_t> places_;  // by the serial number of the node
  std::unordered_map<std::uint64_t, Array> kept_;           // readers of constants, by the same
};

}  // namespace gpulua
