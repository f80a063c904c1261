#include "src/eval/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/array/aliasing.h"
#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/base/error.h"
#include "src/device/take_interrupt.h"
#include "src/eval/explain.h"
#include "src/eval/plan_cache.h"
#include "src/eval/plan_log.h"
#include "src/eval/recording.h"
#include "src/eval/roots.h"
#include "src/eval/schedule.h"
#include "src/eval/spec_kernels.h"
#include "src/eval/unheld_readers.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// True for an error that another attempt may not meet.
bool is_temporary(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::memory:
    case ErrorKind::interrupted:
    case ErrorKind::budget:
    case ErrorKind::device_lost:
      return true;
    default:
      return false;
  }
}

/// Refuses results that no memory holds: before their kernels, which could have more blocks than a grid takes.
void check_results(const Step& step, OpenDevice& device) {
  const std::size_t limit = device.memory().limit();
  for (const StepOutput& output : step.outputs)
    if (!output.target && output.node->nbytes() > limit)
      throw Error(ErrorKind::memory, "[memory] out of memory on {}: {} for an array of shape {} wanted, {}",
                  device.name(), format_bytes(output.node->nbytes()), to_string(output.node->layout.shape),
                  device.limit_text());
}

class Pipeline final : public Evaluator {
 public:
  void evaluate(std::span<Node* const> nodes) override;
  void evaluate_into(Node& target, Array value, const Scatter* scatter) override;
  std::int64_t compress(Node& target, Node& values, Node& mask) override;
  void evaluate_readers(Buffer& buffer) override { evaluate_for_good(pending().readers(buffer)); }
  void evaluate_readers(Node& node) override { evaluate_for_good(pending().readers(node)); }
  void evaluate_all() override;
  std::shared_ptr<Trace> start_trace(OpenDevice& device, std::vector<Array> inputs) override {
    return std::make_shared<Recording>(device, std::move(inputs), recording_);
  }
  Trace* trace() override { return recording_; }
  std::string explain(std::span<Node* const> nodes) override { return gpulua::explain(nodes); }

 private:
  struct Result {
    enum class Outcome {
      done,
      hazard,   // nothing ran: a thread of the last kernel could read what another one has written
      outdated  // a script that the collector ran has evaluated nodes: the roots need another plan
    };
    Outcome outcome;
    std::int64_t count = 0;  // of elements, after a compression
  };
  /// Evaluates the roots, all of one device, and as far as that is possible some of its pending nodes, too: the writes
  /// and what is computed for the second time. Meanwhile these are among the roots.
  Result run(Roots& roots, const PendingNodes::List& writes = {});
  /// Evaluates the roots. `nodes` comes from collect(roots).
  Result run(std::span<const Root> roots, const NodeNumbers& nodes);
  /// The same, until the plan is not outdated.
  Result run_to_end(Roots& roots);
  /// The kernels of a plan for the roots, and their arguments.
  ExecutablePlanRef prepare(std::span<const Root> roots, const NodeNumbers& nodes);
  /// Evaluates the nodes now or never. A node that cannot be evaluated fails, so that writing or freeing its inputs
  /// remains possible.
  void evaluate_for_good(const PendingNodes::List& nodes);

  PlanCache plans_;
  SpecKernels kernels_;
  Recording* recording_ = nullptr;
  bool has_planned_ = false;  // since the evaluation began
};

// ---- the stages -----------------------------------------------------------------------------------------------------

Pipeline::Result Pipeline::run(Roots& roots, const PendingNodes::List& writes) {
  take_interrupt(roots.front().node->device().context().interrupted(), "evaluate");
  const std::size_t wanted = roots.size();
  {
    add_writes(roots, writes);
    const NodeNumbers nodes = collect({roots.data(), roots.size()});
    // What a recorded function reads from outside is stored in its first run: the recording would compute it each time.
    add_repeated(roots, nodes, capture() ? capture()->start() : 0);
    const bool has_more = roots.size() > wanted;
    // Handles, because others may have none but those of nodes that drop their inputs.
    PendingNodes::List held;
    for (std::size_t i = wanted; i < roots.size(); ++i) held.emplace_back(roots[i].node);
    try {
      const Result result = run({roots.data(), roots.size()}, nodes);
      roots.resize(wanted);
      return result;
    } catch (const Error& error) {
      roots.resize(wanted);
      if (!has_more || (is_temporary(error) && error.kind() != ErrorKind::memory)) throw;
    }
  }
  return run({roots.data(), wanted}, collect({roots.data(), wanted}));
}

Pipeline::Result Pipeline::run(std::span<const Root> roots, const NodeNumbers& nodes) {
  const ExecutablePlanRef executable = prepare(roots, nodes);
  if (executable->is_hazard) return {Result::Outcome::hazard};

  OpenDevice& device = roots.front().node->device();
  Recording::RunPtr recorded;
  if (recording_) recorded = recording_->describe(executable, roots, nodes);
  // Now, because a node that is evaluated drops its inputs.
  for (Node* node : nodes)
    if (node->pending()) node->note_computed();
  Result result{Result::Outcome::done};
  for (ExecutableStep& step : executable->steps) {
    const std::uint64_t before = pending().evaluated();
    ExecutableStep::Memory memory = step.allocate(device);
    if (pending().evaluated() != before) return {Result::Outcome::outdated};
    result.count = step.run(StepNodes(nodes), roots, memory, device);
    for (std::size_t i = 0; i < memory.made.size(); ++i) nodes[step.made()[i]]->resolve(std::move(memory.made[i]));
  }
  if (recording_) recording_->add(std::move(recorded), nodes);
  return result;
}

ExecutablePlanRef Pipeline::prepare(std::span<const Root> roots, const NodeNumbers& nodes) {
  const PlanKey key = plans_.key(roots, nodes);
  if (ExecutablePlanRef known = plans_.find(key)) return known;

  has_planned_ = true;
  std::vector<std::uint64_t> kept_key(key.begin(), key.end());
  OpenDevice& device = roots.front().node->device();
  const ExecutablePlanRef executable(new ExecutablePlan());
  std::optional<PlanLog> log;
  if (device.context().config().log_plans) log.emplace(roots, nodes);
  const std::vector<Step> steps =
      plan(roots, nodes, device.info().row_bytes, device.info().least_copied_row, log ? &*log : nullptr);
  executable->is_hazard = is_hazard(steps.back());
  if (!executable->is_hazard) {
    for (const Step& step : steps) {
      check_results(step, device);
      std::shared_ptr<Kernel> kernel;
      StepArguments arguments;
      const Schedule schedule = choose_schedule(step, device.info());
      if (log) log->schedule(step, schedule);
      if (!schedule.empty() && step.kind != Step::Kind::copy) {
        kernel = kernels_.get(schedule.spec, device);
        arguments = lay_out(step, schedule, nodes);
      }
      executable->steps.emplace_back(step, roots, nodes, std::move(kernel), std::move(arguments));
    }
  }
  if (log && device.context().on_warning) device.context().on_warning(log->text());
  executable->keep_rows(nodes);
  return plans_.insert(std::move(kept_key), executable);
}

// ---- what asks for them ---------------------------------------------------------------------------------------------

Pipeline::Result Pipeline::run_to_end(Roots& roots) {
  for (;;)
    if (const Result result = run(roots); result.outcome != Result::Outcome::outdated) return result;
}

void Pipeline::evaluate(std::span<Node* const> nodes) {
  const Recording::Evaluation scope(recording_);
  loops().finish_steps(nodes, [](std::span<const Array> arrays) { gpulua::evaluate(arrays); });
  while (!nodes.empty()) {
    auto rest = nodes;
    Roots roots = take_roots(rest);
    if (roots.empty()) return;
    // A step of a loop that is cut has no part of the next one.
    const bool takes_writes = !recording_ && !capture() && !loops().cuts();
    const PendingNodes::List written = takes_writes ? writes().held() : PendingNodes::List();
    const bool joins = !written.empty() && (written.size() > 1 || written.front() != roots.front().node);
    has_planned_ = false;
    if (run(roots, written).outcome == Result::Outcome::done) nodes = rest;
    if (joins) writes().note_plan(has_planned_);
  }
}

void Pipeline::evaluate_into(Node& target, Array value, const Scatter* scatter) {
  const Recording::Evaluation scope(recording_);
  // A value that the caller has given up is read by nobody later.
  const bool given_up = value->handles() == 1;
  const BufferRef& buffer = target.buffer();
  Roots roots;
  roots.push_back({value.get(), &target, scatter});
  PendingNodes::List readers;
  if (buffer->pending_reads() > 0) {
    readers = pending().readers(*buffer);
    if (given_up) drop_unheld(readers, value);
    // The other readers are evaluated in the plan of the write, unless they are too many.
    std::uint32_t operations = value->pending() ? value->pending()->operations : 0;
    for (const Array& reader : readers) operations += reader->pending()->operations;
    if (operations <= most_operations && readers.size() < most_roots)
      for (const Array& reader : readers) roots.push_back({reader.get()});
    else
      evaluate_for_good(readers);
  }
  const auto run_unless_hazard = [&] { return run_to_end(roots).outcome == Result::Outcome::done; };
  try {
    if (run_unless_hazard()) return;
  } catch (const Error& error) {
    // The cause may be a reader that cannot be evaluated.
    if (roots.size() == 1 || is_temporary(error)) throw;
  }
  if (roots.size() > 1) {
    evaluate_for_good(readers);
    roots.resize(1);
    if (run_unless_hazard()) return;
  }
  // There is a hazard: the value, and the positions of the scatter, are evaluated to memory of their own first.
  const auto apart = [&](const Array& array) {
    gpulua::evaluate(*array);
    if (!may_overlap(target, *array)) return array;
    const Array copy = empty(array->device(), array->layout.shape, array->dtype);
    evaluate_into(*copy, array, nullptr);
    return copy;
  };
  if (!scatter) return evaluate_into(target, apart(value), nullptr);
  Scatter safe = *scatter;
  for (Array& index : safe.indices) index = apart(index);
  evaluate_into(target, apart(value), &safe);
}

std::int64_t Pipeline::compress(Node& target, Node& values, Node& mask) {
  if (recording_)
    throw Error(
        "[fuse] the function selects elements by a mask, whose number is known only when it runs: use gpu.where, or "
        "select outside of the function");
  Roots roots;
  roots.push_back({&values, &target, nullptr, &mask});
  return run_to_end(roots).count;
}

void Pipeline::evaluate_all() {
  // First without the numbers: most are operands that nobody wants any more when the others have their elements.
  for (const bool numbers : {false, true}) {
    PendingNodes::List nodes;
    for (Node* node = pending().newest(); node; node = PendingNodes::before(*node))
      if (numbers || !node->pending()->value) nodes.emplace_back(node);
    std::reverse(nodes.begin(), nodes.end());
    for (const Array& node : nodes) {
      try {
        gpulua::evaluate(*node);
      } catch (const Error& error) {
        if (is_temporary(error)) throw;
      }
    }
  }
}

void Pipeline::evaluate_for_good(const PendingNodes::List& list) {
  try {
    return gpulua::evaluate(list);
  } catch (const Error& error) {
    if (is_temporary(error)) throw;
  }
  for (const Array& node : list) {
    try {
      gpulua::evaluate(*node);
    } catch (const Error& error) {
      if (is_temporary(error)) throw;
      if (node->pending()) node->fail(error.what());
    }
  }
}

}  // namespace

std::shared_ptr<Evaluator> make_evaluator() {
  return std::make_shared<Pipeline>();
}

void finish_work(Context& context) {
  evaluate_writes(context);
  context.synchronize();
}

}  // namespace gpulua
