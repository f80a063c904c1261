#pragma once

// The value of an array: elements in a buffer, or the operation that will give them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/array/evaluator.h"
#include "src/array/layout.h"
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

/// What a script holds. Copies are the same array; views share the buffer and write through.
using Array = std::shared_ptr<Node>;

/// An operation that is not evaluated yet. Exactly one of `op`, `reducer`, `value`, `indexed` and `roll` is set.
struct Pending {
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
  bool computed = false;         // a kernel has computed the elements and kept them in registers
  Origin origin;
};

/// The value of an array. A pending node is evaluated when its elements are asked for; then it has a buffer.
struct Node : std::enable_shared_from_this<Node> {
  /// Elements in memory.
  Node(DType dtype_, Layout layout_, BufferRef buffer);
  /// A pending operation. Its elements will be row-major.
  Node(const std::shared_ptr<OpenDevice>& device, DType dtype_, Dims&& shape, Pending&& pending);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  DType dtype;
  bool contiguous;           // layout.contiguous()
  Layout layout;             // of a pending node: the layout that it will have
  std::uint64_t number = 0;  // in RecentOperations; 0 for numbers, and for arrays made otherwise
  NodeNumber place;          // belongs to NodeNumbers

  std::size_t itemsize() const { return size_of(dtype); }
  OpenDevice& device() const { return *device_; }
  const std::shared_ptr<OpenDevice>& device_ref() const { return device_; }
  /// Bytes from the start of the buffer to the first element.
  std::int64_t first_byte() const { return layout.offset * static_cast<std::int64_t>(itemsize()); }
  std::size_t nbytes() const { return static_cast<std::size_t>(layout.size()) * itemsize(); }

  /// Null once there is a buffer.
  const Pending* pending() const { return pending_ ? &*pending_ : nullptr; }
  bool freed() const { return buffer_ && buffer_->freed(); }

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
  /// Notes that a kernel has computed the pending node without storing it.
  void note_computed() { pending_->computed = true; }
  /// The pending node is evaluated: `buffer` holds its elements.
  void resolve(BufferRef buffer);
  /// The pending node cannot be evaluated, now or later. Reading it throws Error with this message.
  void fail(const std::string& why);

 private:
  char* first(void* memory) const { return static_cast<char*>(memory) + first_byte(); }
  void drop_pending();

  std::shared_ptr<OpenDevice> device_;
  BufferRef buffer_;
  std::optional<Pending> pending_;
  std::uint32_t waiting_ = 0;  // how many inputs of pending nodes this node is

  // The links of the device's list of pending nodes.
  friend class PendingNodes;
  Node* next_ = nullptr;
  Node* previous_ = nullptr;
};

/// A node in the memory of its device's nodes.
template <class... Arguments>
Array make_node(OpenDevice& device, Arguments&&... arguments) {
  return std::allocate_shared<Node>(PoolAllocator<Node>(device.evaluator().pool()),
                                    std::forward<Arguments>(arguments)...);
}

}  // namespace gpulua
