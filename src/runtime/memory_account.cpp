#include "src/runtime/memory_account.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/scalar.h"
#include "src/runtime/buffer.h"

namespace gpulua {

namespace {

// Host memory that a buffer takes in addition to its device bytes. It lets a loop that makes empty arrays collect too.
constexpr std::size_t host_cost = 512;

std::size_t cost(const Buffer& buffer) {
  return buffer.bytes() + host_cost;
}

std::string with_origin(std::string size, const Buffer& buffer) {
  const Origin& origin = buffer.origin();
  return origin.chunk ? std::move(size) + " made at " + line_text(origin.chunk, origin.line) : size;
}

}  // namespace

void MemoryAccount::collect(Host& host) {
  const auto start = Clock::now();
  host.collect();
  const auto end = Clock::now();
  if ((end - start) * 8 > start - last_collection_) step_ = std::min(step_ * 2, limit_);
  last_collection_ = end;
  threshold_ = used_ + step_;
}

void MemoryAccount::add(Buffer& buffer) {
  used_ += cost(buffer);
  peak_ = std::max(peak_, used_);
  buffer.next_ = first_;
  if (first_) first_->previous_ = &buffer;
  first_ = &buffer;
}

void MemoryAccount::remove(Buffer& buffer) noexcept {
  used_ -= cost(buffer);
  (buffer.previous_ ? buffer.previous_->next_ : first_) = buffer.next_;
  if (buffer.next_) buffer.next_->previous_ = buffer.previous_;
  buffer.next_ = buffer.previous_ = nullptr;
}

void MemoryAccount::add_other(std::size_t bytes) {
  used_ += bytes;
  others_ += bytes;
  peak_ = std::max(peak_, used_);
}

void MemoryAccount::remove_other(std::size_t bytes) noexcept {
  used_ -= bytes;
  others_ -= bytes;
}

const Buffer* MemoryAccount::find(const void* memory) const {
  const Buffer* buffer = memory ? first_ : nullptr;
  while (buffer && buffer->memory_ != memory) buffer = buffer->next_;
  return buffer;
}

void MemoryAccount::for_each(const std::function<void(const Buffer&)>& visit) const {
  for (const Buffer* buffer = first_; buffer; buffer = buffer->next_) visit(*buffer);
}

std::string MemoryAccount::describe_holders() const {
  std::vector<const Buffer*> buffers;
  for (const Buffer* buffer = first_; buffer; buffer = buffer->next_) buffers.push_back(buffer);
  const std::size_t shown = std::min<std::size_t>(buffers.size(), 5);
  std::partial_sort(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(shown), buffers.end(),
                    [](const Buffer* a, const Buffer* b) { return a->bytes() > b->bytes(); });
  std::string text = format_bytes(used_ - others_) + " live in " + std::to_string(buffers.size()) + " arrays";
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "; the largest: " : ", ") + describe(*buffers[i]);
  if (others_ > 0) text += "; " + format_bytes(others_) + " of random generators and elements on their way";
  return text;
}

std::string describe(const Buffer& buffer) {
  return with_origin(format_bytes(buffer.bytes()), buffer);
}

std::string describe_exactly(const Buffer& buffer) {
  return with_origin(std::to_string(buffer.bytes()) + (buffer.bytes() == 1 ? " byte" : " bytes"), buffer);
}

std::string format_bytes(std::size_t bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return number_text(value, unit == 0 ? 3 : 4) + " " + units[unit];
}

}  // namespace gpulua
