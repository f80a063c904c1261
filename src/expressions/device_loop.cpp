#include "src/expressions/device_loop.h"

#include <algorithm>
#include <numeric>

#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/ops/op_table.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

// A launch of more kernels costs little beside them, and each recorded step costs as much of the host as a plain one.
constexpr std::int64_t kernels_of_launch = 64, most_steps_of_launch = 8;

std::string count(std::size_t number) {
  return std::to_string(number) + (number == 1 ? " array" : " arrays");
}

}  // namespace

DeviceLoop::DeviceLoop(OpenDevice& device, const char* op, std::span<const Array> arrays, bool asks, StreamRef stream)
    : device_(device), op_(op), conditions_(asks ? 1 : 0), carried_(conditions_) {
  for (const Array& array : arrays) {
    if (&array->device() != &device)
      throw Error("[{}] expected arrays on {}, the current device, got one on {}; x:to(name) copies one over", op,
                  device.name(), array->device().name());
    carried_.push_back(copy(array));
    carried_.back()->weak = array->weak;
  }
  if (stream) {
    std::vector<std::int64_t> values(2 * most_steps_of_launch);
    std::iota(values.begin(), values.end(), 1);
    numbers_ = empty(device, {static_cast<std::int64_t>(values.size())}, DType::int64);
    upload(*numbers_, values.data());
    capture_.emplace(device, op, std::move(stream));
  }
  launches_ = device.context().spending.launches();
}

Array DeviceLoop::numbers(std::int64_t first, Dims shape) const {
  Layout layout = row_major(std::move(shape));
  layout.offset = first;
  return view(is_recording() ? shared_numbers_ : numbers_, std::move(layout));
}

std::vector<Array> DeviceLoop::arguments() const {
  std::vector<Array> arguments(carried_.begin() + static_cast<std::ptrdiff_t>(conditions_), carried_.end());
  arguments.push_back(records() ? numbers(steps_, {}) : constant(device_, {}, DType::int64, Scalar(steps_ + 1)));
  return arguments;
}

void DeviceLoop::check(std::span<const Array> results) const {
  if (results.size() != carried_.size())
    throw Error("[{}] expected {}{} from the function, as many as it gets, got {}", op_,
                conditions_ > 0 ? "a condition and " : "", count(carried_.size() - conditions_),
                (results.empty() ? "none" : std::to_string(results.size())) +
                    (conditions_ > 0 ? "; function(x) return x:sum():lt(10), x + 1 end gives both" : ""));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Node& result = *results[i];
    if (&result.device() != &device_)
      throw Error("[{}] expected result {} of the function on {}, got it on {}", op_, i + 1, device_.name(),
                  result.device().name());
    if (carried_[i]) {
      if (type_text(result) != type_text(*carried_[i]))
        throw Error("[{}] expected {} as result {} of the function, which the next step gets, got {}", op_,
                    type_text(*carried_[i]), i + 1, type_text(result));
    } else if (result.dtype != DType::boolean || result.layout.size() != 1) {
      throw Error("[{}] expected a bool array of one element as the first result, the condition, got {}", op_,
                  type_text(result));
    }
  }
}

void DeviceLoop::take(std::span<const Array> results) {
  check(results);
  if (const std::string changed = capture_ ? capture_->find_changed_number() : ""; !changed.empty())
    throw Error(
        "[{}] expected the same numbers in each step, got {}: the device repeats the recorded steps, so a number that "
        "Lua changes from step to step stands still. Carry it as an array, as T in function(x, T) return x + T, T * "
        "0.99 end with gpu.full({{}}, 1) for the first T; the last argument of the function is the number of the "
        "step; gpu.random draws anew in each step",
        op_, changed);
  evaluate(results);
  if (steps_++ == 0) launches_ = device_.context().spending.launches() - launches_;
  // A step may write in place to what it gets. So that is memory of the loop, and each array has its own.
  std::vector<Array> taken;
  for (const Array& result : results) {
    const auto has_memory = [&](const Array& other) { return other->buffer() == result->buffer(); };
    const bool is_own =
        is_recording() && capture_->owns(*result) && result->contiguous && std::ranges::none_of(taken, has_memory);
    taken.push_back(is_own ? result : copy(result));
    taken.back()->weak = result->weak;
  }
  carried_ = std::move(taken);
}

std::int64_t DeviceLoop::steps_of_launch() const {
  const auto kernels = static_cast<std::int64_t>(std::max<std::uint64_t>(launches_, 1));
  return std::clamp<std::int64_t>(kernels_of_launch / kernels, 1, most_steps_of_launch);
}

void DeviceLoop::record() {
  written_ = carried_;
  recorded_from_ = steps_;
  capture_->record(written_);
  for (Array& array : carried_) array = shared_.emplace_back(capture_->shared(array));
  shared_numbers_ = capture_->shared(numbers_);
}

void DeviceLoop::copy_back(Node& to, Node& from) const {
  if (to.buffer() == from.buffer() || to.nbytes() == 0) return;
  const StreamRef& stream = device_.stream();
  // No pending array that reads `to` is of use: its elements are those of one step of each launch.
  device_.copy(to.buffer()->address(), from.read(stream), to.nbytes(), *stream);
}

void DeviceLoop::finish() {
  for (std::size_t i = 0; i < carried_.size(); ++i) {
    const Array& array = carried_[i];
    const auto is_memory_of = [&](const Array& other) {
      return other != shared_[i] && other->buffer() == array->buffer();
    };
    if (std::ranges::any_of(shared_, is_memory_of)) carried_[i] = copy(array);
  }
  for (std::size_t i = 0; i < carried_.size(); ++i) copy_back(*shared_[i], *carried_[i]);
  if (capture_->has_read(*shared_numbers_)) {
    const std::int64_t steps = steps_ - recorded_from_;
    const Array used = numbers(recorded_from_, {steps});
    const Operand operands[] = {used, Scalar(steps)};
    const Array next = elementwise(gpulua::op("add"), operands);
    device_.copy(static_cast<char*>(used->buffer()->address()) + used->first_byte(), next->read(device_.stream()),
                 used->nbytes(), *device_.stream());
  }
  capture_->finish("[array] the array was made by a loop's function, which did not return it: it has no elements");
  carried_ = std::move(written_);
  shared_.clear();
  shared_numbers_.reset();
}

void DeviceLoop::launch() {
  capture_->launch(device_.stream());
}

bool DeviceLoop::launch_while() {
  Node& condition = *carried_.front();
  return !capture_->has_host_work() && capture_->launch(device_.stream(), condition.buffer()->address());
}

bool DeviceLoop::goes_on() {
  return std::get<bool>(item(*carried_.front()));
}

std::vector<Array> DeviceLoop::end() {
  abandon();
  std::vector<Array> results = std::move(carried_);
  results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(conditions_));
  return results;
}

void DeviceLoop::abandon() noexcept {
  capture_.reset();
  written_.clear();
  shared_.clear();
  numbers_.reset();
  shared_numbers_.reset();
}

}  // namespace gpulua
