#include "src/device/cuda/cuda_context.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "src/device/cuda/context_guard.h"

namespace gpulua::cuda {
namespace {

std::string message_head(const char* op, const std::string& text) {
  return "[" + std::string(op) + "] " + text;
}

}  // namespace

Context::Context(const Driver& driver, CUdevice device, CUcontext programs)
    : driver_(driver), device_(device), handle_(programs), is_programs_(programs != nullptr) {
  if (is_programs_) return;
  const CUresult result = driver_.primary_context_retain(&handle_, device_);
  if (result != CUDA_SUCCESS)
    throw Error(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorKind::memory : ErrorKind::unavailable,
                message_head("device", "the driver gives no context on cuda:" + std::to_string(device_) + ": " +
                                           driver_.describe(result)));
}

Context::~Context() {
  // The host program goes on, and with it what we would leave in its context.
  if (is_programs_ || !left_.empty()) wait();
  destroy_retired();
  if (lost_ || is_programs_ || !idle()) return;
  CUcontext current = nullptr;
  driver_.context_get_current(&current);
  driver_.primary_context_release(device_);
  // A thread that kept our context must not be left with a dead one. It lives on where the host program has it too.
  unsigned flags = 0;
  int is_alive = 0;
  driver_.primary_context_get_state(device_, &flags, &is_alive);
  if (current == handle_ && is_alive == 0) driver_.context_set_current(nullptr);
}

int Context::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  driver_.device_get_attribute(&value, attribute, device_);
  return value;
}

bool Context::can_access(const Context& other) const {
  int possible = 0;
  if (device_ != other.device_) driver_.device_can_access_peer(&possible, device_, other.device_);
  return possible != 0 || device_ == other.device_;
}

void Context::fail(CUresult result, const char* op, std::string_view detail) {
  const std::string text = driver_.describe(result);
  if (is_sticky(result)) {
    lost_ = true;
    throw Error(ErrorKind::device_lost,
                message_head(op, "work on cuda:" + std::to_string(device_) + " failed: " + text +
                                     "; nothing more can run on this device in this process: start it again"));
  }
  const std::string message = message_head(op, detail.empty() ? text : std::string(detail) + ": " + text);
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      throw Error(ErrorKind::memory, message);
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_NOT_FOUND:
      throw Error(ErrorKind::argument, message);
    case CUDA_ERROR_NOT_SUPPORTED:
      throw Error(ErrorKind::unavailable, message);
    default:
      throw Error(ErrorKind::device, message);
  }
}

CUstream Context::create_stream() {
  const ContextGuard guard(*this);
  streams_.reserve(streams_.size() + 1);  // so that no stream is made that cannot be noted down
  CUstream stream = nullptr;
  check(driver_.stream_create(&stream, CU_STREAM_NON_BLOCKING), "stream");
  streams_.push_back({stream, false});
  return stream;
}

void Context::control_profiler(CUresult (*command)()) {
  const ContextGuard guard(*this);
  if (const CUresult result = command(); result != CUDA_ERROR_PROFILER_DISABLED) check(result, "profiler");
}

void Context::retire_stream(CUstream stream) noexcept {
  for (OwnedStream& owned : streams_)
    if (owned.handle == stream) owned.retired = true;
  destroy_retired();
}

void Context::adopt_stream(CUstream stream) {
  streams_.push_back({stream, false, false, true});
}

void Context::leave_stream(CUstream stream) noexcept {
  std::erase_if(streams_, [stream](const OwnedStream& owned) { return owned.programs && owned.handle == stream; });
  if (lost_) return;
  const ContextGuard guard(*this);
  CUevent end = nullptr;
  if (driver_.event_create(&end, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
  driver_.event_record(end, stream);
  left_.push_back(end);
}

void Context::set_capturing(CUstream stream, bool on) {
  for (OwnedStream& owned : streams_)
    if (owned.handle == stream) owned.capturing = on;
}
void Context::retire(std::function<void(const Driver&)> destroy) noexcept {
  retired_.push_back(std::move(destroy));
  destroy_retired();
}

bool Context::idle() {
  const ContextGuard guard(*this);
  std::erase_if(left_, [this](CUevent end) {
    if (driver_.event_query(end) == CUDA_ERROR_NOT_READY) return false;
    driver_.event_destroy(end);
    return true;
  });
  if (!left_.empty()) return false;
  return std::ranges::all_of(streams_, [this](const OwnedStream& owned) {
    return !owned.capturing && driver_.stream_query(owned.handle) == CUDA_SUCCESS;
  });
}

void Context::wait() noexcept {
  if (lost_) return;
  const ContextGuard guard(*this);
  const auto until_done = [](const auto& query) {
    while (query() == CUDA_ERROR_NOT_READY) std::this_thread::sleep_for(std::chrono::microseconds(50));
  };
  for (const OwnedStream& owned : streams_)
    if (!owned.programs) until_done([&] { return driver_.stream_query(owned.handle); });
  for (CUevent end : left_) until_done([&] { return driver_.event_query(end); });
}

void Context::destroy_retired() noexcept {
  if (lost_) return;
  const ContextGuard guard(*this);
  std::erase_if(streams_, [this](const OwnedStream& owned) {
    if (!owned.retired || owned.programs || driver_.stream_query(owned.handle) != CUDA_SUCCESS) return false;
    driver_.stream_destroy(owned.handle);
    return true;
  });
  if (retired_.empty() || !idle()) return;
  for (const auto& destroy : std::exchange(retired_, {})) destroy(driver_);
}

}  // namespace gpulua::cuda
