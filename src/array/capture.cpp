#include "src/array/capture.h"

#include <algorithm>
#include <utility>

#include "src/array/array.h"
#include "src/base/error.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

constexpr std::int64_t words_of_a_block = 128;
constexpr std::size_t word_pair_bytes = 16;

/// Refuses work on a device whose work is not recorded.
class OtherDevice final : public BufferObserver {
 public:
  bool reads(Buffer& buffer) override { refuse(buffer); }
  bool writes(Buffer& buffer) override { refuse(buffer); }
  void frees(Buffer& buffer) override { refuse(buffer); }

 private:
  [[noreturn]] static void refuse(const Buffer& buffer) {
    throw Error("[graph] expected work on the current device alone, got an array on {}", buffer.device().name());
  }
};

OtherDevice other_device;

}  // namespace

Capture::Capture(OpenDevice& device, const char* op, StreamRef stream)
    : device_(device.shared_from_this()),
      op_(op),
      start_(device.context().last_serial()),
      stream_(std::move(stream)),
      outer_stream_(device.stream()) {
  // Libraries have memory for each stream, which the launches of an earlier capture may still use.
  const EventRef event = device.device().create_event();
  device.device().record(*event, *outer_stream_);
  device.wait(*stream_, *event);
  for (const std::shared_ptr<OpenDevice>& other : device.context().open_devices()) {
    if (other.get() == &device) continue;
    other->set_buffer_observer(&other_device);
    others_.push_back(other.get());
  }
  device.set_buffer_observer(this);
  device.evaluator().set_capture(this);
  device.set_stream(stream_);
}

Capture::~Capture() {
  abandon();
  IndexFaults& faults = device_->index_faults();
  if (launched_on_)
    faults.hand_over(stream_, launched_on_);
  else
    faults.release(stream_);
}

// ---- the two runs ---------------------------------------------------------------------------------------------------

void Capture::record(std::span<const Array> results) {
  evaluate(results);
  device_->synchronize(*stream_);
  words_.clear();
  device_->begin_capture(op_);
  recording_ = true;
}

void Capture::finish(std::span<const Array> results, const char* why) {
  evaluate(results);
  end();
  fail_others(results, why);
}

void Capture::finish(const char* why) {
  end();
  std::vector<Array> inputs = kept_;
  for (const WordBlock& block : words_) inputs.push_back(block.array);
  fail_others(inputs, why);
  made_.clear();
}

void Capture::fail_others(std::span<const Array> results, const char* why) {
  const auto none = std::make_shared<const Check>(Check{Check::State::failed, why});
  for (const auto& [address, made] : made_) {
    const BufferRef buffer = *made;
    const auto holds = [&](const Array& array) { return array->buffer() == buffer; };
    if (buffer && std::ranges::none_of(results, holds)) buffer->depend_on(none);
  }
}

void Capture::end() {
  OpenDevice& device = *device_;
  running_ = false;
  device.evaluator().set_capture(nullptr);
  device.set_buffer_observer(nullptr);
  for (OpenDevice* other : others_) other->set_buffer_observer(nullptr);
  try {
    if (std::exchange(recording_, false)) work_ = device.end_capture();
  } catch (...) {
    device.set_stream(outer_stream_);
    throw;
  }
  device.set_stream(outer_stream_);
}

void Capture::abandon() noexcept {
  if (!running_) return;
  try {
    end();
  } catch (const Error&) {
    // The recording is discarded anyway.
  }
}

void Capture::note_number(const Scalar& value) {
  Host* const host = device_->context().host();
  numbers_.push_back({host ? host->origin() : Origin{}, value});
}

std::string Capture::find_changed_number() {
  const std::vector<Number> last = std::exchange(last_numbers_, std::exchange(numbers_, {}));
  const auto is_of_line = [](const Number& a, const Number& b) {
    return a.origin.chunk == b.origin.chunk && a.origin.line == b.origin.line;
  };
  if (!std::ranges::equal(last, last_numbers_, is_of_line)) return {};  // the calls have done different things
  for (std::size_t i = 0; i < last.size(); ++i) {
    const std::string before = to_string(last[i].value), now = to_string(last_numbers_[i].value);
    // Two NaN differ, and have one text.
    if (last[i].value == last_numbers_[i].value || before == now) continue;
    return before + " and then " + now + " on line " + std::to_string(last[i].origin.line);
  }
  return {};
}

// ---- what the function uses -----------------------------------------------------------------------------------------

bool Capture::owns(const Buffer& buffer) const {
  const auto found = made_.find(&buffer);
  return found != made_.end() && *found->second != nullptr;
}

bool Capture::reads(Buffer& buffer) {
  if (!recording_) return true;
  if (owns(buffer))
    read_own_.insert(&buffer);
  else
    read_.emplace(&buffer, BufferRef(&buffer)).first->second->note_recorded();
  return false;
}

bool Capture::writes(Buffer& buffer) {
  if (!recording_) return true;
  if (!owns(buffer)) written_.emplace(&buffer, BufferRef(&buffer)).first->second->note_recorded();
  return false;
}

void Capture::frees(Buffer& buffer) {
  if (recording_ && !owns(buffer)) device_->check_not_captured("frees an array from outside");
}

Array Capture::shared(const Array& array) {
  const BufferRef& buffer = array->buffer();
  written_.emplace(buffer.get(), buffer).first->second->note_recorded();
  const auto owner = std::make_shared<BufferRef>(buffer);
  auto same = make_buffer(*device_, buffer->address(), buffer->bytes(), owner);
  made_[same.get()] = same->watch();
  return make_node(*device_, array->dtype, array->shared_layout, std::move(same));
}

BufferRef Capture::new_buffer(std::size_t bytes) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + 255) / 256 * 256;
  Block* best = nullptr;
  for (Block& block : *blocks_)
    if (!block.used && block.memory->bytes() >= size && block.memory->bytes() <= 2 * size &&
        (!best || block.memory->bytes() < best->memory->bytes()))
      best = &block;
  if (!best) {
    Host* host = device_->context().host();
    device_->set_stream(outer_stream_);
    void* memory = nullptr;
    try {
      memory = device_->allocate(size);
    } catch (...) {
      device_->set_stream(stream_);
      throw;
    }
    device_->set_stream(stream_);
    blocks_->push_back({make_buffer(*device_, memory, size, outer_stream_, host ? host->origin() : Origin{}), false});
    best = &blocks_->back();
  }
  best->used = true;
  const std::shared_ptr<void> owner(best->memory->address(), [blocks = blocks_, i = best - blocks_->data()](void*) {
    (*blocks)[static_cast<std::size_t>(i)].used = false;
  });
  auto buffer = make_buffer(*device_, best->memory->address(), bytes, owner);
  made_[buffer.get()] = buffer->watch();
  return buffer;
}

Array Capture::words(std::function<std::array<std::uint64_t, 2>()> next) {
  if (words_.empty() || 2 * static_cast<std::int64_t>(words_.back().next.size()) == words_of_a_block)
    words_.push_back({empty(*device_, {words_of_a_block}, DType::uint64), {}});
  WordBlock& block = words_.back();
  Layout layout = row_major({2});
  layout.offset = 2 * static_cast<std::int64_t>(block.next.size());
  Array words = view(block.array, std::move(layout));
  if (!recording_) {
    const std::array<std::uint64_t, 2> values = next();
    const StreamRef& stream = device_->stream();
    device_->upload(words->write(stream), values.data(), word_pair_bytes, *stream);
  }
  block.next.push_back(std::move(next));
  return words;
}

void Capture::before_launch(const Array& target, std::function<void(const StreamRef&)> work) {
  if (!recording_) return work(device_->stream());
  kept_.push_back(target);
  before_.push_back(std::move(work));
}

// ---- a launch -------------------------------------------------------------------------------------------------------

void Capture::upload_words(const WordBlock& block, const StreamRef& stream) const {
  std::array<std::array<std::uint64_t, 2>, words_of_a_block / 2> values;
  for (std::size_t i = 0; i < block.next.size(); ++i) values[i] = block.next[i]();
  device_->upload(block.array->write(stream), values.data(), block.next.size() * word_pair_bytes, *stream);
}

bool Capture::launch(const StreamRef& stream, const void* go_on) {
  Evaluator& evaluator = device_->evaluator();
  std::erase_if(made_, [](const auto& entry) { return *entry.second == nullptr; });
  std::vector<BufferRef> made;
  for (const auto& [address, buffer] : made_) made.emplace_back(*buffer);
  const auto flush = [&](Buffer& buffer) {
    if (buffer.pending_reads() > 0) evaluator.evaluate_readers(buffer);
  };
  for (const auto& [address, buffer] : written_) flush(*buffer);
  // Before the first launch, what is guarded has no elements that a pending array could read.
  for (const BufferRef& buffer : made)
    if (launched_on_ || !buffer->guarded()) flush(*buffer);
  launched_on_ = stream;

  const std::vector<CheckRef> checks = device_->index_faults().rearm(stream_);
  for (const auto& [address, buffer] : read_) buffer->read(stream);
  for (const auto& [address, buffer] : written_) {
    buffer->write(stream);
    for (const CheckRef& check : checks) buffer->depend_on(check);
  }
  for (const Block& block : *blocks_) block.memory->write(stream);
  for (const BufferRef& buffer : made) {
    if (buffer->guarded()) buffer->forget_checks();
    buffer->write(stream);
    for (const CheckRef& check : checks) buffer->depend_on(check);
  }
  for (const WordBlock& block : words_) upload_words(block, stream);
  for (const auto& work : before_) work(stream);
  return device_->launch(*work_, stream, go_on);
}

}  // namespace gpulua
