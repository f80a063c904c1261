#pragma once

// The recording of evaluations that gpu.fuse repeats.

#include <unordered_map>

#include "src/array/trace.h"
#include "src/eval/plan_cache.h"
#include "src/runtime/buffer_observer.h"

namespace gpulua {

class Recording final : public Trace, private BufferObserver {
 public:
  /// `inputs` are in memory. `current` names the device's recording that takes place: this one, until it ends. Nobody
  /// observes the device's buffers.
  Recording(OpenDevice& device, std::vector<Array> inputs, Recording*& current);
  ~Recording();

  void allocated(const Array& array) override;
  void renew(const Array& number, std::function<Scalar()> next) override;
  void finish(std::span<const Array> results) override;
  bool is_empty() const override { return runs_.empty(); }
  void abandon() noexcept override;
  std::vector<Array> replay(std::span<const Array> inputs) override;

  /// The scope in which the evaluator uses buffers. Outside of it other work would use them, which the recording
  /// misses.
  class Evaluation {
   public:
    explicit Evaluation(Recording* recording) : recording_(recording) {
      if (recording_) ++recording_->evaluations_;
    }
    ~Evaluation() {
      if (recording_) --recording_->evaluations_;
    }
    Evaluation(const Evaluation&) = delete;
    Evaluation& operator=(const Evaluation&) = delete;

   private:
    Recording* recording_;
  };

  /// A run of a plan.
  struct Run;
  struct DeleteRun {
    void operator()(Run* run) const;
  };
  using RunPtr = std::unique_ptr<Run, DeleteRun>;
  /// Describes the run of the plan that is about to start. `nodes` comes from collect(roots).
  RunPtr describe(ExecutablePlanRef plan, std::span<const Root> roots, const NodeNumbers& nodes);
  /// The run has ended.
  void add(RunPtr run, const NodeNumbers& nodes);

 private:
  // The arrays of a replay have numbers: the inputs first, then in the order in which they are made.
  using Number = std::uint32_t;

  /// How a replay makes an array.
  struct Made {
    DType dtype;
    LayoutRef layout;
    std::optional<Number> of = std::nullopt;  // set: a view of the elements of that array
    std::int64_t distance = 0;                // of a view: in bytes, from that array's first element to the view's
  };
  struct Owner {
    Number number;
    Node* node;
  };

  bool reads(Buffer& buffer) override;
  bool writes(Buffer& buffer) override;
  void frees(Buffer& buffer) override;
  void check_evaluates() const;

  void end() noexcept;
  /// The number of a node in memory.
  Number number_of(Node& node);
  Number add(Made made, const Array& node);
  /// Makes the arrays up to the number `end`.
  void make(std::vector<Array>& arrays, std::size_t end) const;
  void run(Run& run, std::vector<Array>& arrays, std::span<const Scalar> renewed);

  std::shared_ptr<OpenDevice> device_;
  std::size_t inputs_;
  std::vector<Made> made_;                     // the number of the first is inputs_
  std::vector<std::function<Scalar()>> next_;  // of each renewed number
  std::vector<RunPtr> runs_;
  std::vector<Number> results_;

  // While the recording takes place.
  Recording*& current_;
  int evaluations_ = 0;
  std::unordered_map<const Node*, Number> numbers_;
  std::unordered_map<const Buffer*, Owner> owners_;       // the first array in each buffer
  std::unordered_map<const Node*, std::size_t> renewed_;  // positions in next_
  std::vector<Array> alive_;                              // so that no address belongs to two nodes
};

}  // namespace gpulua
