#include "src/device/cuda/cuda_stream.h"

#include <chrono>
#include <string>
#include <thread>

#include "src/device/cuda/context_guard.h"
#include "src/device/take_interrupt.h"

namespace gpulua::cuda {
namespace {

// Most waits are short, and a sleeping thread wakes tens of microseconds late; long ones should not keep a core busy.
constexpr auto spin_time = std::chrono::milliseconds(10);
constexpr auto sleep_time = std::chrono::microseconds(50);
constexpr auto look_time = std::chrono::milliseconds(100);

bool is_done(Context& context, CUresult result, const char* op) {
  if (result == CUDA_ERROR_NOT_READY) return false;
  context.check(result, op);
  return true;
}

// The driver's own waits cannot be stopped, hence the polling.
template <class Handle>
void poll(Context& context, CUresult (*query)(Handle), Handle handle, const DeviceEnvironment& environment,
          const char* op) {
  const ContextGuard guard(context);
  if (is_done(context, query(handle), op)) return;
  using Clock = std::chrono::steady_clock;
  const auto spin_end = Clock::now() + spin_time;
  auto next_look = Clock::now() + look_time;
  bool spinning = true;
  do {
    take_interrupt(environment.interrupted, op);
    if (spinning) {
      spinning = Clock::now() < spin_end;
      continue;
    }
    std::this_thread::sleep_for(sleep_time);
    if (!environment.while_waiting || Clock::now() < next_look) continue;
    environment.while_waiting();
    next_look = Clock::now() + look_time;
  } while (!is_done(context, query(handle), op));
}

}  // namespace

CudaEvent::CudaEvent(std::shared_ptr<Context> context) : context_(std::move(context)) {
  const ContextGuard guard(*context_);
  context_->check(context_->driver().event_create(&handle_, CU_EVENT_DEFAULT), "event");
}

CudaEvent::~CudaEvent() {
  if (context_->lost()) return;
  const ContextGuard guard(*context_);
  context_->driver().event_destroy(handle_);
}

bool is_done(Context& context, CUstream stream, const char* op) {
  const ContextGuard guard(context);
  return is_done(context, context.driver().stream_query(stream), op);
}

bool is_done(Context& context, CUevent event, const char* op) {
  const ContextGuard guard(context);
  return is_done(context, context.driver().event_query(event), op);
}

void wait_until_done(Context& context, CUstream stream, const DeviceEnvironment& environment, const char* op) {
  poll(context, context.driver().stream_query, stream, environment, op);
}

void wait_until_done(Context& context, CUevent event, const DeviceEnvironment& environment, const char* op) {
  poll(context, context.driver().event_query, event, environment, op);
}

}  // namespace gpulua::cuda
