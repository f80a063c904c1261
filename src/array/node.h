#pragma once

// The value of an array: elements in a buffer, or the operation that will give them.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "src/array/array_handle.h"
#include "src/array/evaluator.h"
#include "src/array/node_layout.h"
#include "src/array/node_numbers.h"
#include "src/base/dtype.h"
#include "src/base/scalar.h"
#include "src/runtime/buffer.h"
#include "src/runtime/host.h"
#include "src/runtime/open_device.h"

namespace gpulua {

struct Indexed;
struct OpInfo;
struct Reducer;

/// An operation that is not evaluated yet. Exactly one of `op`, `reducer`, `value`, `indexed` and `roll` is set.
struct Pending {
  Pending() {}                             // GCC clears the whole object first where it is not written out
  std::shared_ptr<const OpInfo> op;        // elementwise: each input broadcasts to the node's shape
  std::shared_ptr<const Reducer> reducer;  // reduces the axes of the input that are set in `axes`
  std::optional<Scalar> value;             // the same number everywhere
  std::shared_ptr<const Indexed> indexed;  // a gather: elements of the first input at positions the other inputs give
  std::shared_ptr<const Dims> roll;        // the input's elements, shifted along each axis: from 0 to its extent - 1

  DType compute = DType::float32;  // the dtype in which `op` computes, or which `reducer` reads
  std::uint64_t axes = 0;
  boost::container::small_vector<Array, 3> inputs;
  std::uint32_t cost = 1;        // of the operation itself, in additions
  std::uint32_t operations = 1;  // an upper bound of the costs of the operations that evaluating the node takes
  std::uint64_t since = 0;       // the number of the oldest of these (RecentOperations), or of one before it
  bool rolls_pending = false;    // among these is a roll whose source may be pending
  bool computed = false;         // a kernel has computed the elements and kept them in registers
  Origin origin;
};

/// The value of an array. A pending node is evaluated when its elements are asked for; then it has a buffer.
struct Node {
  /// Elements in memory.
  Node(DType dtype_, LayoutRef layout_, BufferRef buffer);
  /// A pending operation, which `fill` sets. Its elements will be row-major, as the layout is.
  template <class Fill>
  Node(OpenDevice& device, DType dtype_, LayoutRef layout_, Fill fill)
      : dtype(dtype_),
        contiguous(true),
        shared_layout(std::move(layout_)),
        layout(shared_layout->layout),
        device_(&device),
        pending_(std::in_place) {
    fill(*pending_);
    wait_for_inputs();
  }
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const DType dtype;
  const bool contiguous;            // layout.contiguous()
  bool weak = false;                // made of numbers alone: other operands give the dtype, as beside a number
  const char* copied_by = nullptr;  // the function that has copied the elements, until something else writes them
  const LayoutRef shared_layout;
  const Layout& layout;      // of a pending node: the layout that it will have
  std::uint64_t number = 0;  // in RecentOperations; 0 for numbers, and for arrays made otherwise
  NodeNumber place;          // belongs to NodeNumbers

  std::size_t itemsize() const { return size_of(dtype); }
  OpenDevice& device() const { return *device_; }
  std::shared_ptr<OpenDevice> device_ref() const { return device_->shared_from_this(); }
  /// Bytes from the start of the buffer to the first element.
  std::int64_t first_byte() const { return layout.offset * static_cast<std::int64_t>(itemsize()); }
  std::size_t nbytes() const { return static_cast<std::size_t>(layout.size()) * itemsize(); }

  /// Null once there is a buffer.
  const Pending* pending() const { return pending_ ? &*pending_ : nullptr; }
  /// As that of Buffer, and that of the buffer that the pending node will get.
  std::uint64_t serial() const { return serial_; }
  /// The function that has put NaN into the elements, or into an operand that they are computed from; null where there
  /// is none, and once something has written to the buffer.
  const char* missing_by() const {
    return missing_by_ && (pending_ || buffer_->writes() <= writes_of_missing_) ? missing_by_ : nullptr;
  }
  void set_missing_by(const char* function) {
    missing_by_ = function;
    writes_of_missing_ = pending_ ? 1 : buffer_->writes();
  }
  bool freed() const { return buffer_ && buffer_->freed(); }
  /// How many handles the node has, those in pending nodes that read it among them.
  std::uint32_t handles() const { return handles_; }
  /// Points to the node, and to null once the node is gone.
  std::shared_ptr<Node* const> watch();

  /// The functions below evaluate the node if it is pending.

  const BufferRef& buffer();
  /// True when every element of the buffer is an element of the array.
  bool covers_buffer() { return contiguous && nbytes() == buffer()->bytes(); }
  /// The address of the first element, for work about to be queued on `stream` that reads the elements.
  char* read(const StreamRef& stream) { return first(buffer()->read(stream)); }
  /// The same for work that writes. Pending nodes that read the buffer are evaluated before.
  char* write(const StreamRef& stream);
  /// The same for work that writes all elements and reads none of them. The elements no longer depend on earlier
  /// checks.
  char* overwrite(const StreamRef& stream);

  /// Gives the memory back now. Each later use of the array, or of a view of it, is an error. Pending nodes that read
  /// the elements are evaluated before.
  void free();

  /// A closer count of the operations that evaluating the pending node takes.
  void set_operations(std::uint32_t count) { pending_->operations = count; }
  /// No roll among the operations has a pending source any more.
  void note_rolls_stored() { pending_->rolls_pending = false; }
  void set_since(std::uint64_t operation) { pending_->since = operation; }
  /// Notes that a kernel has computed the pending node without storing it.
  void note_computed() { pending_->computed = true; }
  /// The pending node is evaluated: `buffer` holds its elements.
  void resolve(BufferRef buffer);
  /// The pending node reads `instead` in the place of its input `input`. Both are in memory, with equal elements.
  void replace(const Node& input, const Array& instead);
  /// True when the node may have other memory, or none, in the place of its own: nobody else knows that.
  bool may_change_memory() const {
    return pending_ || (shared_layout->is_row_major && nbytes() == buffer_->bytes() && buffer_->is_private());
  }
  /// Gives the node the elements, or the pending operation, of `value`, which has its dtype and layout and is newer,
  /// and which nobody else reads. Pending nodes that read the node read what it had before.
  void take(const Array& value);
  /// True when pending nodes read it.
  bool is_read() const { return waiting_ > 0; }
  /// The pending node cannot be evaluated, now or later. Reading it throws Error with this message.
  void fail(const std::string& why);

 private:
  char* first(void* memory) const { return static_cast<char*>(memory) + first_byte(); }
  /// The pending node enters the device's list, and its inputs know of it.
  void wait_for_inputs() noexcept;
  void drop_pending();

  OpenDevice* device_;  // lives as long as its pool has blocks in use
  BufferRef buffer_;
  const char* missing_by_ = nullptr;
  std::uint64_t writes_of_missing_ = 0;  // how often the buffer is written until it has the elements
  std::uint64_t serial_ = 0;
  std::uint32_t handles_ = 0;
  std::uint32_t waiting_ = 0;     // how many inputs of pending nodes this node is
  bool is_written_ = false;       // among the device's pending writes
  std::uint64_t written_in_ = 0;  // the step of the last write, for these
  std::shared_ptr<Node*> watch_;
  std::optional<Pending> pending_;

  friend void intrusive_ptr_add_ref(Node* node) noexcept { ++node->handles_; }
  friend void intrusive_ptr_release(Node* node) noexcept {
    if (--node->handles_ > 0) return;
    OpenDevice& device = *node->device_;
    node->~Node();
    device.evaluator().pool().release(node, device);
  }

  // The links of the device's list of pending nodes.
  friend class PendingNodes;
  friend class PendingWrites;
  Node* next_ = nullptr;
  Node* previous_ = nullptr;
};

/// A node in the memory of its device's nodes, made with these arguments.
template <class... Arguments>
Array make_node(OpenDevice& device, Arguments&&... arguments) {
  NodePool& pool = device.evaluator().pool();
  void* block = pool.allocate(sizeof(Node), device);
  try {
    return new (block) Node(std::forward<Arguments>(arguments)...);
  } catch (...) {
    pool.release(block, device);
    throw;
  }
}

}  // namespace gpulua
