#include "src/runtime/buffer.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/runtime/context.h"

namespace gpulua {

Buffer::Buffer(OpenDevice& device, void* memory, std::size_t bytes, StreamRef home, Origin origin)
    : device_(&device),
      memory_(memory),
      bytes_(bytes),
      writer_(std::move(home)),
      origin_(origin),
      serial_(device_->context().next_serial()) {
  device_->memory().add(*this);
}

Buffer::Buffer(OpenDevice& device, void* memory, std::size_t bytes, std::shared_ptr<void> owner)
    : device_(&device),
      memory_(memory),
      bytes_(bytes),
      owner_(std::move(owner)),
      writer_(device_->stream()),
      serial_(device_->context().next_serial()) {}

Buffer::Buffer(OpenDevice& device, void* memory, std::size_t bytes, Lent lent)
    : Buffer(device, memory, bytes, std::move(lent.owner)) {
  lent_ = true;
  guarded_ = read_only_ = lent.read_only;
  unused_ = lent.unused;
  shared_ = lent.shared;
  expose();
  device_->device().note_lent(static_cast<const char*>(memory_) + unused_, bytes_ - unused_);
}

Buffer::~Buffer() {
  release();
  if (watch_) *watch_ = nullptr;
}

std::shared_ptr<Buffer* const> Buffer::watch() {
  if (!watch_) watch_ = std::make_shared<Buffer*>(this);
  return watch_;
}

void Buffer::expose() {
  if (exposed_ || memory_ == nullptr) return;
  device_->exposed().add(*this);
  exposed_ = true;
}

const char* Buffer::find_address_holder() const {
  if (lent_) return shared_ ? "another process, whose memory it is" : "the host program, whose memory it is";
  if (owner_) return "a module or a recording, whose memory it is";
  if (exposed_) return "the host program";
  if (fixed_) return "the script, or a texture";
  return recorded_ ? "a recording, as of gpu.graph" : nullptr;
}

void Buffer::move_to(std::shared_ptr<SharedBlock> block, const StreamRef& stream) {
  Device& device = device_->device();
  device_->copy(block->address(), read(stream), bytes_, *stream);
  for (const StreamRef& reader : readers_) wait_for(reader, stream);
  device_->check_ends(*this);
  device.free(memory_, *stream);
  memory_ = block->address();
  shared_ = block.get();
  owner_ = std::move(block);
  writer_ = stream;
  readers_.clear();
  expose();
  device.note_lent(memory_, bytes_);
}

void Buffer::free(const char* why) {
  if (BufferObserver* observer = device_->buffer_observer()) observer->frees(*this);
  if (!freed_) {
    why_freed_ = why;
    if (Host* host = device_->context().host()) freed_at_ = host->origin();
  }
  release();
}

std::string Buffer::why_freed() const {
  return why_freed_ + (freed_at_.chunk ? "; that was at " + line_text(freed_at_.chunk, freed_at_.line) : "");
}

void Buffer::release() noexcept {
  if (freed_) return;
  freed_ = guarded_ = true;
  if (exposed_) device_->exposed().remove(*this);
  exposed_ = false;
  if (is_shared_by_us()) {
    device_->check_ends(*this);
    device_->memory().remove(*this);
  }
  if (lent_ || shared_) {
    device_->device().forget_lent(static_cast<const char*>(memory_) + unused_, bytes_ - unused_);
    shared_ = nullptr;
    device_->lent().give_back(std::move(owner_), writer_, std::move(readers_));
    return;
  }
  if (owner_) {
    owner_.reset();
    return;
  }
  device_->memory().remove(*this);
  if (!memory_) return;
  try {
    for (const StreamRef& reader : readers_) wait_for(reader, writer_);
  } catch (const Error&) {
    // The device is lost, and its work needs no order any more. The next call that may throw reports the loss.
  }
  device_->check_ends(*this);
  device_->device().free(memory_, *writer_);
}

void Buffer::depend_on(CheckRef check) {
  if (check->state == Check::State::passed || std::find(checks_.begin(), checks_.end(), check) != checks_.end()) return;
  checks_.push_back(std::move(check));
  guarded_ = true;
}

void Buffer::depend_on(const Buffer& source) {
  if (&source == this || !source.guarded_) return;
  for (const CheckRef& check : source.checks_) depend_on(check);
}

void Buffer::check_live() {
  if (freed_) throw Error("[array] {}", why_freed());
  std::erase_if(checks_, [](const CheckRef& check) { return check->state == Check::State::passed; });
  for (const CheckRef& check : checks_)
    if (check->state == Check::State::failed) throw Error(check->why);
  guarded_ = read_only_ || !checks_.empty();
}

void Buffer::order_read(const StreamRef& stream) {
  check_live();
  if (BufferObserver* observer = device_->buffer_observer(); observer && !observer->reads(*this)) return;
  if (stream == writer_ || std::find(readers_.begin(), readers_.end(), stream) != readers_.end()) return;
  wait_for(writer_, stream);
  readers_.push_back(stream);
}

void Buffer::order_write(const StreamRef& stream) {
  check_live();
  if (read_only_)
    throw Error(
        "[array] expected an array whose elements may be written, got one over memory that its owner lends for reading "
        "only: x:copy() makes one");
  if (BufferObserver* observer = device_->buffer_observer(); observer && !observer->writes(*this)) return;
  for (const StreamRef& reader : readers_) wait_for(reader, stream);
  wait_for(writer_, stream);
  readers_.clear();
  writer_ = stream;
}

void Buffer::wait_for(const StreamRef& other, const StreamRef& stream) const {
  if (other == stream) return;
  // The stream that records a graph has no work left, and its own work follows when the graph is launched.
  if (device_->captures() && (other == device_->stream() || stream == device_->stream())) return;
  Device& device = device_->device();
  const EventRef event = device.create_event();
  device.record(*event, *other);
  device_->wait(*stream, *event);
}

}  // namespace gpulua
