#include "src/device/cuda/nccl.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_stream.h"

namespace gpulua::cuda {
namespace {

// NCCL's C interface, declared here so that the build needs no header of it.
using NcclResult = int;
constexpr NcclResult nccl_success = 0, nccl_in_progress = 7;
using NcclHandle = void*;
struct NcclId {
  char bytes[128];
};
/// ncclConfig_t as of 2.14, whose fields later versions keep. They read as many bytes as `size` says.
struct NcclSettings {
  std::size_t size = sizeof(NcclSettings);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 1;
};
constexpr int oldest_nccl = 21800;

/// ncclDataType_t by DType; -1: NCCL has none. bool as uint8.
constexpr int nccl_byte = 1;  // ncclUint8
constexpr std::array<int, 15> nccl_types = {1, 0, -1, 2, 4, 1, -1, 3, 5, 6, 9, 7, 8, 7, 8};
constexpr std::array<int, 4> nccl_operations = {0, 1, 2, 3};  // ncclRedOp_t by Reduction

struct Nccl {
  NcclResult (*get_version)(int*);
  NcclResult (*get_unique_id)(NcclId*);
  NcclResult (*init)(NcclHandle*, int size, NcclId, int rank, NcclSettings*);
  NcclResult (*finalize)(NcclHandle);
  NcclResult (*abort)(NcclHandle);
  NcclResult (*get_async_error)(NcclHandle, NcclResult*);
  const char* (*get_error_string)(NcclResult);
  const char* (*get_last_error)(NcclHandle);
  NcclResult (*all_reduce)(const void*, void*, std::size_t, int type, int operation, NcclHandle, CUstream);
  NcclResult (*reduce_scatter)(const void*, void*, std::size_t, int type, int operation, NcclHandle, CUstream);
  NcclResult (*broadcast)(const void*, void*, std::size_t, int type, int root, NcclHandle, CUstream);
  NcclResult (*all_gather)(const void*, void*, std::size_t, int type, NcclHandle, CUstream);
  NcclResult (*send)(const void*, std::size_t, int type, int peer, NcclHandle, CUstream);
  NcclResult (*recv)(void*, std::size_t, int type, int peer, NcclHandle, CUstream);
  NcclResult (*group_start)();
  NcclResult (*group_end)();
};

/// What the communicators of one device share. NCCL's kernels wait for those of other ranks, and two communicators'
/// could wait for each other's place on the device: so each piece of work starts after the one before.
struct NcclShared {
  NcclShared(std::shared_ptr<Context> context_, const Nccl& call_)
      : context(std::move(context_)), call(call_), last(context) {}

  std::shared_ptr<Context> context;
  const Nccl call;
  CudaEvent last;  // the end of the newest work
  CUstream last_stream = nullptr;
};

class NcclCommunicator;

/// The communicators that nobody has closed. exit() closes them, as their owners do not: NCCL's threads, which may
/// still connect ranks, would run on while their library is taken apart.
class OpenCommunicators {
 public:
  static OpenCommunicators& of_process() {
    // For ever: owners that live longer than exit() still remove theirs.
    static auto* const open = [] {
      std::atexit([] { of_process().close(); });  // after NCCL was loaded, so before its own end
      return new OpenCommunicators;
    }();
    return *open;
  }
  void close();
  void add(NcclCommunicator* communicator) {
    const std::scoped_lock lock(mutex_);
    communicators_.insert(communicator);
  }
  void remove(NcclCommunicator* communicator) {
    const std::scoped_lock lock(mutex_);
    communicators_.erase(communicator);
  }

 private:
  std::mutex mutex_;
  std::set<NcclCommunicator*> communicators_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<NcclShared> shared, const NcclId& id, int rank, int size,
                   std::function<void()> while_waiting)
      : Communicator(rank, size),
        shared_(std::move(shared)),
        call_(shared_->call),
        while_waiting_(std::move(while_waiting)) {
    const ContextGuard guard(*shared_->context);
    NcclSettings settings;
    settings.blocking = 0;  // calls return while they wait for other ranks
    const NcclResult result = call_.init(&handle_, size, id, rank, &settings);
    if (result != nccl_success && result != nccl_in_progress) fail("comm", result);
    OpenCommunicators::of_process().add(this);
  }

  ~NcclCommunicator() override {
    OpenCommunicators::of_process().remove(this);
    close();
  }

  void close() {
    if (handle_ == nullptr || shared_->context->lost()) return;
    // What other ranks still receive from this one is sent first. ncclCommDestroy would wait for it without an end.
    constexpr std::chrono::seconds patience{5};
    const ContextGuard guard(*shared_->context);
    NcclResult state = is_ready_ ? call_.finalize(handle_) : nccl_success;
    const auto end = Clock::now() + patience;
    while (state == nccl_in_progress && Clock::now() < end) {
      std::this_thread::sleep_for(pause);
      if (call_.get_async_error(handle_, &state) != nccl_success) break;
    }
    call_.abort(std::exchange(handle_, nullptr));
  }

  bool waits() const override { return false; }
  bool reduces(DType dtype) const override { return nccl_types[static_cast<std::size_t>(dtype)] >= 0; }

  void all_reduce(const char* op, const void* in, void* out, std::size_t count, DType dtype, Reduction reduction,
                  Stream& stream) override {
    queue(op, count, stream, [&](CUstream queue) {
      return call_.all_reduce(in, out, numbers(count, dtype), type_of(dtype), operation_of(reduction), handle_, queue);
    });
  }
  void reduce_scatter(const char* op, const void* in, void* part, std::size_t count, DType dtype, Reduction reduction,
                      Stream& stream) override {
    queue(op, count, stream, [&](CUstream queue) {
      return call_.reduce_scatter(in, part, numbers(count, dtype), type_of(dtype), operation_of(reduction), handle_,
                                  queue);
    });
  }
  void broadcast(const char* op, void* data, std::size_t bytes, int root, Stream& stream) override {
    queue(op, bytes, stream,
          [&](CUstream queue) { return call_.broadcast(data, data, bytes, nccl_byte, root, handle_, queue); });
  }
  void all_gather(const char* op, const void* part, void* all, std::size_t bytes, Stream& stream) override {
    queue(op, bytes, stream,
          [&](CUstream queue) { return call_.all_gather(part, all, bytes, nccl_byte, handle_, queue); });
  }

  void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                Stream& stream) override {
    Context& context = *shared_->context;
    const CUstream own = handle_of(stream);
    {
      const ContextGuard guard(context);
      copy_own(op, rank(), outgoing, incoming, [&](void* to, const void* from, std::size_t bytes) {
        context.check(context.driver().copy_device_to_device(reinterpret_cast<CUdeviceptr>(to),
                                                             reinterpret_cast<CUdeviceptr>(from), bytes, own),
                      op);
      });
    }
    // A message without bytes is none, on both sides.
    std::size_t messages = 0;
    for (const Outgoing& message : outgoing) messages += message.to != rank() && message.bytes > 0;
    for (const Incoming& message : incoming) messages += message.from != rank() && message.bytes > 0;
    queue(op, messages, stream, [&](CUstream queue) {
      NcclResult result = call_.group_start();
      const auto note = [&result](NcclResult next) {
        if (result == nccl_success || result == nccl_in_progress) result = next;
      };
      for (const Outgoing& message : outgoing)
        if (message.to != rank() && message.bytes > 0)
          note(call_.send(message.memory, message.bytes, nccl_byte, message.to, handle_, queue));
      for (const Incoming& message : incoming)
        if (message.from != rank() && message.bytes > 0)
          note(call_.recv(message.memory, message.bytes, nccl_byte, message.from, handle_, queue));
      const NcclResult end = call_.group_end();
      return result != nccl_success && result != nccl_in_progress ? result : end;
    });
  }

  bool done() override { return handle_ == nullptr || is_done(*shared_->context, shared_->last.handle(), "comm"); }

  std::string failure() override {
    NcclResult state = nccl_success;
    if (handle_ == nullptr || call_.get_async_error(handle_, &state) != nccl_success) return {};
    return state == nccl_success || state == nccl_in_progress ? std::string() : describe(state);
  }

  void abort() noexcept override {
    if (handle_ == nullptr || shared_->context->lost()) return;
    const ContextGuard guard(*shared_->context);
    call_.abort(std::exchange(handle_, nullptr));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds pause{50};

  static int type_of(DType dtype) { return nccl_types[static_cast<std::size_t>(dtype)]; }
  static int operation_of(Reduction reduction) { return nccl_operations[static_cast<std::size_t>(reduction)]; }
  /// Complex numbers are two real ones.
  static std::size_t numbers(std::size_t count, DType dtype) {
    return info(dtype).kind == DTypeKind::complex ? 2 * count : count;
  }

  /// Queues a call's work on the stream, after all earlier work of NCCL.
  template <class Start>
  void queue(const char* op, std::size_t count, Stream& stream, const Start& start) {
    if (count == 0) return;
    if (handle_ == nullptr)
      throw Error(ErrorKind::device, "[{}] expected ranks that work, got some that have ended after a failure", op);
    Context& context = *shared_->context;
    const ContextGuard guard(context);
    if (!std::exchange(is_ready_, true)) settle(op, nccl_in_progress);
    const CUstream own = handle_of(stream);
    if (shared_->last_stream != nullptr && shared_->last_stream != own)
      context.check(context.driver().stream_wait_event(own, shared_->last.handle(), CU_EVENT_WAIT_DEFAULT), op);
    settle(op, start(own));
    context.check(context.driver().event_record(shared_->last.handle(), own), op);
    shared_->last_stream = own;
  }

  /// Waits until a call has queued its work, where it first connects this rank with others.
  void settle(const char* op, NcclResult result) {
    constexpr std::chrono::milliseconds apart{100}, short_wait{1};
    const auto start = Clock::now();
    auto next_look = start + apart;
    while (result == nccl_in_progress) {
      if (call_.get_async_error(handle_, &result) != nccl_success || result != nccl_in_progress) break;
      // NCCL's thread queues most calls in microseconds. A sleep takes a hundred.
      const auto now = Clock::now();
      if (now - start < short_wait) continue;
      std::this_thread::sleep_for(pause);
      if (now < next_look) continue;
      while_waiting_();
      next_look = Clock::now() + apart;
    }
    if (result != nccl_success) fail(op, result);
  }

  [[noreturn]] void fail(const char* op, NcclResult result) const {
    throw Error(ErrorKind::device, "[{}] NCCL failed: {}", op, describe(result));
  }

  std::string describe(NcclResult result) const {
    std::string text = call_.get_error_string(result);
    const char* const detail = call_.get_last_error(handle_);
    if (detail != nullptr && *detail != '\0') text += ": " + std::string(detail);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  std::shared_ptr<NcclShared> shared_;
  const Nccl& call_;
  std::function<void()> while_waiting_;
  NcclHandle handle_ = nullptr;
  bool is_ready_ = false;  // all ranks have joined
};

void OpenCommunicators::close() {
  const std::scoped_lock lock(mutex_);
  for (NcclCommunicator* const communicator : communicators_) communicator->close();
}

class NcclLibrary final : public CollectiveLibrary {
 public:
  NcclLibrary(std::shared_ptr<Context> context, const Nccl& call, int version)
      : shared_(std::make_shared<NcclShared>(std::move(context), call)),
        name_("NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
              std::to_string(version % 100)) {}

  const std::string& name() const override { return name_; }

  std::string make_id() override {
    const ContextGuard guard(*shared_->context);
    NcclId id{};
    if (const NcclResult result = shared_->call.get_unique_id(&id); result != nccl_success)
      throw Error(ErrorKind::device, "[comm] NCCL failed: {}", shared_->call.get_error_string(result));
    return {id.bytes, sizeof id.bytes};
  }

  std::shared_ptr<Communicator> join(const std::string& id, int rank, int size,
                                     std::function<void()> while_waiting) override {
    NcclId bytes{};
    std::memcpy(bytes.bytes, id.data(), std::min(id.size(), sizeof bytes.bytes));
    return std::make_shared<NcclCommunicator>(shared_, bytes, rank, size, std::move(while_waiting));
  }

 private:
  std::shared_ptr<NcclShared> shared_;
  std::string name_;
};

/// Nothing where the library lacks a function.
std::optional<Nccl> resolve_nccl(const DynamicLibrary& library) {
  Nccl nccl{};
  bool complete = true;
  const auto find = [&]<class Function>(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(library.symbol(symbol));
    complete = complete && function != nullptr;
  };
  find(nccl.get_version, "ncclGetVersion");
  find(nccl.get_unique_id, "ncclGetUniqueId");
  find(nccl.init, "ncclCommInitRankConfig");
  find(nccl.finalize, "ncclCommFinalize");
  find(nccl.abort, "ncclCommAbort");
  find(nccl.get_async_error, "ncclCommGetAsyncError");
  find(nccl.get_error_string, "ncclGetErrorString");
  find(nccl.get_last_error, "ncclGetLastError");
  find(nccl.all_reduce, "ncclAllReduce");
  find(nccl.reduce_scatter, "ncclReduceScatter");
  find(nccl.broadcast, "ncclBroadcast");
  find(nccl.all_gather, "ncclAllGather");
  find(nccl.send, "ncclSend");
  find(nccl.recv, "ncclRecv");
  find(nccl.group_start, "ncclGroupStart");
  find(nccl.group_end, "ncclGroupEnd");
  return complete ? std::optional(nccl) : std::nullopt;
}

}  // namespace

std::unique_ptr<CollectiveLibrary> open_nccl(const Config& config, std::shared_ptr<Context> context, std::string& why) {
  if (context->is_programs()) {
    why = "the host program's CUDA context is not the device's primary one, in which NCCL works";
    return nullptr;
  }
  constexpr std::array<std::string_view, 1> names{"libnccl.so.2"};
  const auto file = find_cuda_library(config, names);
  if (!file) {
    why = "libnccl.so.2 was not found: install NVIDIA's package libnccl2, or pip's nvidia-nccl-cu13";
    return nullptr;
  }
  const DynamicLibrary library = DynamicLibrary::open(file->string(), why);
  if (!library) return nullptr;
  const std::optional<Nccl> nccl = resolve_nccl(library);
  int version = 0;
  if (nccl) nccl->get_version(&version);
  if (version < oldest_nccl) {
    why = file->string() + " is older than 2.18";
    return nullptr;
  }
  return std::make_unique<NcclLibrary>(std::move(context), *nccl, version);
}

}  // namespace gpulua::cuda
