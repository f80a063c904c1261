#include "src/eval/recording.h"

#include <utility>

#include "src/array/array.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

/// What a step needs of a pending operation.
Pending without_inputs(const Pending& pending) {
  Pending result;
  result.value = pending.value;
  result.indexed = pending.indexed;
  result.compute = pending.compute;
  result.origin = pending.origin;
  return result;
}

}  // namespace

struct Recording::Run {
  struct Operand {
    std::uint32_t node;
    Number array;
  };
  struct Renewed {
    std::uint32_t node;
    std::size_t position;
  };
  struct Target {
    Number array;
    std::optional<Scatter> scatter;
  };

  ExecutablePlanRef plan;
  std::size_t size;              // of the plan's nodes
  std::vector<Pending> pending;  // of each node that is a number or a gather
  std::vector<Operand> operands;
  std::vector<Renewed> renewed;
  std::vector<std::optional<Target>> targets;  // of each root
  std::size_t first = 0;                       // the number of the first array that the run makes
};

Recording::Recording(OpenDevice& device, std::vector<Array> inputs, Recording*& current)
    : device_(device.shared_from_this()), inputs_(inputs.size()), current_(current), alive_(std::move(inputs)) {
  for (Number number = 0; number < inputs_; ++number) {
    Node& node = *alive_[number];
    numbers_.emplace(&node, number);
    owners_.emplace(node.buffer().get(), Owner{number, &node});
  }
  current_ = this;
  device_->set_buffer_observer(this);
}

Recording::~Recording() {
  abandon();
}

void Recording::end() noexcept {
  device_->set_buffer_observer(nullptr);
  current_ = nullptr;
  numbers_.clear();
  owners_.clear();
  renewed_.clear();
  alive_.clear();
}

void Recording::abandon() noexcept {
  if (current_ == this) end();
}

// ---- the recording --------------------------------------------------------------------------------------------------

void Recording::check_evaluates() const {
  if (evaluations_ > 0) return;
  throw Error(
      "[fuse] expected a function of array expressions and writes in place, got one that reads elements or queues "
      "other work: kernels, sorts, scans, matrix products, copies from the host; gpu.graph takes such work, and reads "
      "stay outside of the function");
}

bool Recording::reads(Buffer&) {
  check_evaluates();
  return true;
}

bool Recording::writes(Buffer&) {
  check_evaluates();
  return true;
}

void Recording::frees(Buffer&) {
  check_evaluates();
}

Recording::Number Recording::add(Made made, const Array& node) {
  const auto number = static_cast<Number>(inputs_ + made_.size());
  made_.push_back(std::move(made));
  numbers_[node.get()] = number;
  alive_.push_back(node);
  return number;
}

void Recording::allocated(const Array& array) {
  const Number number = add({array->dtype, array->shared_layout}, array);
  owners_[array->buffer().get()] = {number, array.get()};
}

void Recording::renew(const Array& number, std::function<Scalar()> next) {
  renewed_[number.get()] = next_.size();
  next_.push_back(std::move(next));
  alive_.push_back(number);
}

Recording::Number Recording::number_of(Node& node) {
  if (const auto known = numbers_.find(&node); known != numbers_.end()) return known->second;
  const auto owner = owners_.find(node.buffer().get());
  if (owner == owners_.end())
    throw Error(
        "[fuse] the function uses the array {}, which is neither an argument nor reached through its variables: pass "
        "it as an argument",
        type_text(node));
  return add(
      {node.dtype, node.shared_layout, owner->second.number, node.first_byte() - owner->second.node->first_byte()},
      Array(&node));
}

void Recording::DeleteRun::operator()(Run* run) const {
  delete run;
}

Recording::RunPtr Recording::describe(ExecutablePlanRef plan, std::span<const Root> roots, const NodeNumbers& nodes) {
  RunPtr run(new Run());
  run->plan = std::move(plan);
  run->size = nodes.size();
  run->pending.resize(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    Node& node = *nodes[i];
    if (const Pending* pending = node.pending()) {
      alive_.emplace_back(&node);
      if (pending->value || pending->indexed) run->pending[i] = without_inputs(*pending);
      if (const auto renewed = renewed_.find(&node); renewed != renewed_.end())
        run->renewed.push_back({i, renewed->second});
    } else {
      run->operands.push_back({i, number_of(node)});
    }
  }
  for (const Root& root : roots) {
    std::optional<Run::Target>& target = run->targets.emplace_back();
    if (!root.target) continue;
    target.emplace(Run::Target{number_of(*root.target), std::nullopt});
    if (root.scatter) target->scatter = Scatter{root.scatter->at, {}, root.scatter->combine, root.scatter->origin};
  }
  return run;
}

void Recording::add(RunPtr run, const NodeNumbers& nodes) {
  run->first = inputs_ + made_.size();
  for (const ExecutableStep& step : run->plan->steps)
    for (const std::uint32_t made : step.made()) allocated(Array(nodes[made]));
  runs_.push_back(std::move(run));
}

void Recording::finish(std::span<const Array> results) {
  try {
    for (const Array& result : results)
      if (&result->device() != device_.get())
        throw Error("[fuse] expected results on {}, as the function's arguments are, got one on {}", device_->name(),
                    result->device().name());
    evaluate(results);
    for (const Array& result : results) results_.push_back(number_of(*result));
  } catch (...) {
    abandon();
    throw;
  }
  end();
}

// ---- the replay -----------------------------------------------------------------------------------------------------

void Recording::make(std::vector<Array>& arrays, std::size_t end) const {
  while (arrays.size() < end) {
    const Made& made = made_[arrays.size() - inputs_];
    if (!made.of) {
      arrays.push_back(empty(*device_, made.layout->layout.shape, made.dtype));
      continue;
    }
    const Array& of = arrays[*made.of];
    Layout layout = made.layout->layout;
    layout.offset = (of->first_byte() + made.distance) / static_cast<std::int64_t>(size_of(made.dtype));
    arrays.push_back(make_node(*device_, made.dtype, share(std::move(layout)), of->buffer()));
  }
}

void Recording::run(Run& run, std::vector<Array>& arrays, std::span<const Scalar> renewed) {
  make(arrays, run.first);
  boost::container::small_vector<Node*, 32> nodes(run.size);
  for (const Run::Operand& operand : run.operands) nodes[operand.node] = arrays[operand.array].get();
  boost::container::small_vector<Root, 4> roots;
  for (const std::optional<Run::Target>& target : run.targets) {
    Root& root = roots.emplace_back();
    if (!target) continue;
    root.target = arrays[target->array].get();
    if (target->scatter) root.scatter = &*target->scatter;
    const BufferRef& buffer = root.target->buffer();
    if (buffer->pending_reads() > 0) device_->evaluator().evaluate_readers(*buffer);
  }
  for (ExecutableStep& step : run.plan->steps) {
    ExecutableStep::Memory memory = step.allocate(*device_);
    // Only now: the allocation may have run a script that replays too.
    for (const Run::Renewed& number : run.renewed) run.pending[number.node].value = renewed[number.position];
    step.run({{nodes.data(), nodes.size()}, run.pending}, {roots.data(), roots.size()}, memory, *device_);
    for (std::size_t i = 0; i < memory.made.size(); ++i) {
      const Made& made = made_[arrays.size() - inputs_];
      arrays.push_back(make_node(*device_, made.dtype, made.layout, std::move(memory.made[i])));
      nodes[step.made()[i]] = arrays.back().get();
    }
  }
}

std::vector<Array> Recording::replay(std::span<const Array> inputs) {
  std::vector<Scalar> renewed;
  for (const std::function<Scalar()>& next : next_) renewed.push_back(next());
  std::vector<Array> arrays;
  arrays.reserve(inputs_ + made_.size());
  arrays.assign(inputs.begin(), inputs.end());
  for (const RunPtr& one : runs_) run(*one, arrays, renewed);
  make(arrays, inputs_ + made_.size());
  std::vector<Array> results;
  for (const Number number : results_) results.push_back(arrays[number]);
  return results;
}

}  // namespace gpulua
