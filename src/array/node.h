#pragma once

// The value of an array: elements in a buffer, or the operation that will give them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/array/layout.h"
#include "src/base/dtype.h"
#include "src/base/scalar.h"
#include "src/runtime/buffer.h"
#include "src/runtime/context.h"

namespace gpulua {

struct Node;
struct Indexed;
struct OpInfo;
struct Reducer;

/// What a script holds. Copies are the same array; views share the buffer and write through.
using Array = std::shared_ptr<Node>;

/// An operation whose result nothing has needed yet. Exactly one of `op`, `reducer`, `value` and
/// `indexed` is set.
struct Pending {
  std::shared_ptr<const OpInfo> op;        // elementwise: each input broadcasts to the node's shape
  std::shared_ptr<const Reducer> reducer;  // the input's axes that are set in `axes` are reduced
  std::optional<Scalar> value;             // the same number everywhere
  std::shared_ptr<const Indexed> indexed;  // elements of the first input where the others say

  DType compute = DType::float32;  // what `op` computes in, `reducer` reads
  std::uint64_t axes = 0;
  boost::container::small_vector<Array, 3> inputs;
  std::uint32_t operations = 1;  // at least as many as evaluating the node takes
  Origin origin;
};

/// Its value does not change once it is made, except through the buffer. Evaluating a pending node gives it a buffer.
struct Node : std::enable_shared_from_this<Node> {
  /// Elements in memory.
  Node(DType dtype_, Layout layout_, BufferRef buffer);
  /// An operation still to be evaluated, to a row-major array.
  Node(const std::shared_ptr<OpenDevice>& device, DType dtype_, Dims&& shape, Pending&& pending);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  DType dtype;
  bool contiguous;  // layout.contiguous()
  Layout layout;    // a pending node's: the one it will have

  std::size_t itemsize() const { return size_of(dtype); }
  OpenDevice& device() const { return *device_; }
  const std::shared_ptr<OpenDevice>& device_ref() const { return device_; }
  std::size_t nbytes() const { return static_cast<std::size_t>(layout.size()) * itemsize(); }

  /// Null once there is a buffer.
  const Pending* pending() const { return pending_ ? &*pending_ : nullptr; }
  /// Evaluates the node if it is pending.
  const BufferRef& buffer() const;
  bool freed() const { return buffer_ && buffer_->freed(); }
  /// True when no element of the buffer is not the array's too. Evaluates the node if it is pending.
  bool covers_buffer() const { return contiguous && nbytes() == buffer()->bytes(); }
  /// Gives the memory back now. The array, and all views of it, raise an error when they are used. Pending nodes that
  /// read them are evaluated before.
  void free();

  /// The first element, for work about to be queued on `stream`. Evaluates the node if it is pending.
  char* read(const StreamRef& stream) const { return first(buffer()->read(stream)); }
  /// As read, for work that writes. Pending nodes that read the buffer are evaluated before.
  char* write(const StreamRef& stream) const;
  /// As write, for work that writes all elements and reads none of them: what they depended on is forgotten.
  char* overwrite(const StreamRef& stream) const;

  /// A closer count of what evaluating the pending node takes.
  void set_operations(std::uint32_t count) const { pending_->operations = count; }
  /// The pending node has been computed: `buffer` holds its elements.
  void resolve(BufferRef buffer) const;

  /// The pending node cannot be computed, now or later: reading it throws Error with this message.
  void fail(const std::string& why) const;

  /// For who walks through an expression: the node's number in the walk that has this mark (PendingNodes::new_walk).
  mutable std::uint64_t walk = 0;
  mutable std::uint32_t number = 0;

 private:
  char* first(void* memory) const {
    return static_cast<char*>(memory) + layout.offset * static_cast<std::int64_t>(itemsize());
  }
  void drop_pending() const;

  std::shared_ptr<OpenDevice> device_;
  mutable BufferRef buffer_;
  mutable std::optional<Pending> pending_;
  mutable std::uint32_t waiting_ = 0;  // inputs of pending nodes that this node is

  // The device's list of pending nodes.
  friend class PendingNodes;
  mutable const Node* next_ = nullptr;
  mutable const Node* previous_ = nullptr;
};

/// A node in memory of its device's.
template <class... Arguments>
Array make_node(OpenDevice& device, Arguments&&... arguments) {
  return std::allocate_shared<Node>(PoolAllocator<Node>(device.nodes()), std::forward<Arguments>(arguments)...);
}

}  // namespace gpulua
