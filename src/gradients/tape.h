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
/// That of memory in which several arrays have places, so that a write to it cannot be followed.
inline constexpr std::int32_t several_places = -2;

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
  Array kept{};  // a reader of what it held, where a write has followed
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
    written,  // memory after a write: what the first input, the memory before, had elsewhere, and the second at
              // positions
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
  Array array{};       // null where the derivative needs no elements of the result
  Layout positions{};  // of a view: where its elements lie among the row-major ones of its input; written: of its own
  std::int64_t first = 0;             // the offset in the buffer of the element from which positions count
  bool adds = false;                  // written: the elements were added
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
///
/// Memory of which the function writes elements has versions. Each is an entry, an array of the memory's elements, and
/// all arrays in that memory, also those made before, are views of the newest one.
class Tape final : public NodeObserver {
 public:
  /// Opens it. `op`: the function that differentiates, by its name in errors.
  Tape(Context& context, const char* op);
  ~Tape() override { close(); }

  /// A new array with the elements of `array`, a variable of the tape.
  Array variable(const Array& array);
  /// Closes the tape. Its variables and results may then be written.
  void close();

  /// The place of an array, as it is now; no_place if it follows from no variable.
  std::int32_t find_place(Node& array);
  /// The place that it had when it was last asked for.
  std::int32_t place(const Node& array) const;
  const TapeEntry& entry(std::int32_t place) const { return entries_[static_cast<std::size_t>(place)]; }
  std::size_t size() const { return entries_.size(); }
  const char* op() const { return op_; }

  void made(Node& node) override;
  void viewed(Node& view, Node& source) override;
  void copied(Node& copy, Node& source) override;
  void placed(Node& whole, Node& part, const Layout& positions) override;
  void added(Node& whole, Node& part, std::shared_ptr<const Indexed> at, std::span<const Array> indices) override;
  void check_write(Node& target, Node* value, const char* op) override;
  void written(Node& target, Node* value) override;
  void scattered(Node& target, Node& value, const Indexed& at, std::span<const Array> indices,
                 Combine combine) override;
  void detached(Node& constant, Node& source) override;
  void called(std::shared_ptr<const int> rule, std::span<const Array> inputs, std::span<const Array> results) override;
  void derived(std::span<const Array> inputs, std::span<const Array> results, std::span<const Array> partials) override;
  NodeObserver* outer() const override { return outer_; }
  bool follows(Node& array) override { return find_place(array) != no_place; }
  bool tracks(Node& array) override;

 private:
  /// Memory as an array of elements. Without a layout: nothing that follows from a variable was ever there.
  struct Memory {
    std::int32_t place = no_place;  // of the newest version
    LayoutRef layout{};
    std::int64_t first = 0;  // the offset of its first element in the buffer
  };
  /// An array that an entry keeps, and where a reader goes that takes its place.
  struct Kept {
    Array* array;
    Array* reader;
  };

  TapeEntry& add(TapeEntry::Kind kind, DType dtype, OpenDevice& device, LayoutRef layout);
  TapeEntry& add(Node& node, TapeEntry::Kind kind);
  void keep_operands(TapeEntry& entry, Node& node);
  Array kept(const Array& array);
  Memory memory_of(Node& array) const;
  void keep_before_write(Node& target);
  TapeEntry* add_version(Node& target, Node* value, bool is_whole);

  Context& context_;
  const char* op_;
  NodeObserver* outer_;
  bool open_ = true;
  std::deque<TapeEntry> entries_;
  std::uint64_t opened_;                                    // arrays with greater serial numbers are the function's
  std::unordered_map<std::uint64_t, std::int32_t> places_;  // by the serial number of the node
  std::unordered_map<std::uint64_t, Array> kept_;           // readers, by the same
  std::unordered_map<std::uint64_t, bool> detached_;        // by the same; whether the source followed from a variable
  // The following go by the serial number of the memory: that of its array while it is pending.
  std::unordered_map<std::uint64_t, std::int32_t> owners_;  // places of arrays in memory that are no views
  std::unordered_map<std::uint64_t, Memory> memories_;      // those that the function has written
  std::unordered_multimap<std::uint64_t, Kept> readable_;   // what a write to them must leave
  std::size_t searched_ = 0;                                // the entries whose arrays are there
};

}  // namespace gpulua
