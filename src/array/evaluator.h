#pragma once

// The seam between arrays and their evaluation. An array that is read asks the evaluator of its device for its
// elements. eval/pipeline.cpp implements the interface.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/array/array_handle.h"
#include "src/array/loop_cutter.h"
#include "src/array/node_layout.h"
#include "src/array/node_pool.h"
#include "src/array/pending_nodes.h"
#include "src/array/pending_writes.h"
#include "src/array/trace.h"
#include "src/base/scalar.h"

namespace gpulua {

class Buffer;
class Capture;
class Context;
class OpenDevice;
struct Scatter;

/// Evaluates the pending nodes of one device.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// Gives each node its elements, in as few kernels as the plan finds. All are of this device. When it fails in the
  /// middle, each node is either evaluated or as it was.
  virtual void evaluate(std::span<Node* const> nodes) = 0;

  /// Writes `value`, converted, to the elements of `target`. The value has the target's shape or broadcasts to it; with
  /// `scatter` it broadcasts to the scatter's shape and is written there. Pending nodes that read the target get what
  /// it held before. The value is passed by value: a caller that moves its only handle in gives the value up, and then
  /// its elements are stored in the target alone.
  virtual void evaluate_into(Node& target, Array value, const Scatter* scatter = nullptr) = 0;

  /// Writes the elements of `values` for which `mask` is true to the front of `target`, in row-major order, and gives
  /// their number. The mask, the values and the target have one shape. Waits.
  virtual std::int64_t compress(Node& target, Node& values, Node& mask) = 0;

  /// Evaluates the pending nodes that read the buffer. A node that cannot be evaluated fails for good.
  virtual void evaluate_readers(Buffer& buffer) = 0;
  /// The same for the pending nodes that read the elements of `node`.
  virtual void evaluate_readers(Node& node) = 0;

  /// Evaluates all pending nodes but those that cannot be evaluated.
  virtual void evaluate_all() = 0;

  /// Records the evaluations from now on, until Trace::finish or Trace::abandon. Requires that nothing is being
  /// recorded and that the inputs are in memory.
  virtual std::shared_ptr<Trace> start_trace(OpenDevice& device, std::vector<Array> inputs) = 0;
  /// The current recording, or null.
  virtual Trace* trace() = 0;

  /// The plan, and the source of each kernel, that would evaluate the nodes. Evaluates nothing.
  virtual std::string explain(std::span<Node* const> nodes) = 0;

  /// The current recording of gpu.graph, or null.
  Capture* capture() const { return capture_; }
  void set_capture(Capture* capture) { capture_ = capture; }
  /// Lua has given a number to the device's work.
  void note_number(const Scalar& value) {
    if (capture_ && !has_own_numbers_) note_captured(value);
  }
  /// While it lives the library computes with numbers of its own, addresses, which differ from call to call.
  class OwnNumbers {
   public:
    explicit OwnNumbers(Evaluator& evaluator) : evaluator_(evaluator) { evaluator_.has_own_numbers_ = true; }
    ~OwnNumbers() { evaluator_.has_own_numbers_ = false; }
    OwnNumbers(const OwnNumbers&) = delete;
    OwnNumbers& operator=(const OwnNumbers&) = delete;

   private:
    Evaluator& evaluator_;
  };

  /// A number for a new NodeNumbers; the last one that was given.
  std::uint64_t new_numbers() { return ++numbers_; }
  std::uint64_t newest_numbers() const { return numbers_; }

  PendingNodes& pending() { return pending_; }
  PendingWrites& writes() { return writes_; }
  LoopCutter& loops() { return loops_; }
  /// The layout of arrays without dimensions.
  const LayoutRef& layout_of_numbers() const { return layout_of_numbers_; }
  /// The memory of the device's nodes.
  NodePool& pool() { return pool_; }

 private:
  void note_captured(const Scalar& value);

  PendingNodes pending_;
  PendingWrites writes_;
  LoopCutter loops_;
  LayoutRef layout_of_numbers_ = share({});
  NodePool pool_;
  Capture* capture_ = nullptr;
  bool has_own_numbers_ = false;
  std::uint64_t numbers_ = 0;
};

/// Evaluates nodes, which may be of several devices. Neighbours of one device are evaluated together.
void evaluate(std::span<Node* const> nodes);
void evaluate(std::span<const Array> arrays);
void evaluate(Node& node);
/// Evaluates the pending writes of all open devices, before a wait or a time stamp. Those of a device that records a
/// graph have their elements already.
void evaluate_writes(Context& context);
/// Evaluates the pending nodes that read memory which other processes write, before the script tells them that they
/// may.
void evaluate_shared_reads(Context& context);

}  // namespace gpulua
