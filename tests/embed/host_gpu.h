#pragma once

// CUDA's driver as a host program uses it beside gpulua: a context, streams and memory of its own.

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/catch.h"

class HostGpu {
 public:
  using Context = void*;
  using Stream = void*;
  using Memory = std::uint64_t;

  enum class Of { primary, own };
  /// Streams and memory are of the first device's primary context, or of one of the program's own. It is current in
  /// this thread.
  explicit HostGpu(Of which = Of::primary) {
    REQUIRE(library_ != nullptr);
    call<unsigned>("cuInit", 0);
    call<int*, int>("cuDeviceGet", &device_, 0);
    call<Context*, int>("cuDevicePrimaryCtxRetain", &primary_, device_);
    context_ = primary_;
    if (which == Of::own) call<Context*, unsigned, int>("cuCtxCreate_v2", &context_, 0, device_);
    make_current(context_);
  }
  ~HostGpu() {
    address<Context>("cuCtxSetCurrent")(context_);
    for (Memory memory : memories_) address<Memory>("cuMemFree_v2")(memory);
    for (Stream stream : streams_) address<Stream>("cuStreamDestroy_v2")(stream);
    if (context_ != primary_) address<Context>("cuCtxDestroy_v2")(context_);
    address<Context>("cuCtxSetCurrent")(nullptr);
    address<int>("cuDevicePrimaryCtxRelease_v2")(device_);
  }
  HostGpu(const HostGpu&) = delete;
  HostGpu& operator=(const HostGpu&) = delete;

  Context context() const { return context_; }
  Context primary() const { return primary_; }
  void make_current(Context context) const { call<Context>("cuCtxSetCurrent", context); }
  Context current() const {
    Context context = nullptr;
    call<Context*>("cuCtxGetCurrent", &context);
    return context;
  }

  /// A stream that waits for no other one.
  Stream new_stream() {
    Stream stream = nullptr;
    call<Stream*, unsigned>("cuStreamCreate", &stream, 1);
    streams_.push_back(stream);
    return stream;
  }
  Memory allocate(std::size_t bytes) {
    Memory memory = 0;
    call<Memory*, std::size_t>("cuMemAlloc_v2", &memory, bytes);
    memories_.push_back(memory);
    return memory;
  }
  void* allocate_pinned(std::size_t bytes) const {
    void* memory = nullptr;
    call<void**, std::size_t, unsigned>("cuMemHostAlloc", &memory, bytes, 0);
    return memory;
  }
  void free_pinned(void* memory) const { call<void*>("cuMemFreeHost", memory); }
  std::size_t free_bytes() const {
    std::size_t free = 0, total = 0;
    call<std::size_t*, std::size_t*>("cuMemGetInfo_v2", &free, &total);
    return free;
  }

  /// Queues a write of the number to each of the elements.
  void fill(Memory memory, float number, std::size_t count, Stream stream) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    call<Memory, unsigned, std::size_t, Stream>("cuMemsetD32Async", memory, bits, count, stream);
  }
  /// Queues work of some 100 milliseconds.
  void work(Stream stream) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    if (block_ == 0) block_ = allocate(bytes);
    for (int i = 0; i < 400; ++i) fill(block_, 0, bytes / 4, stream);
  }
  bool is_done(Stream stream) const { return address<Stream>("cuStreamQuery")(stream) == 0; }
  void wait(Stream stream) const { call<Stream>("cuStreamSynchronize", stream); }
  /// What the memory holds when the stream comes to it. Waits.
  std::vector<float> read(Memory memory, std::size_t count, Stream stream) const {
    std::vector<float> elements(count);
    call<void*, Memory, std::size_t, Stream>("cuMemcpyDtoHAsync_v2", elements.data(), memory, count * sizeof(float),
                                             stream);
    wait(stream);
    return elements;
  }

 private:
  template <class... A>
  using Function = int (*)(A...);
  template <class... A>
  Function<A...> address(const char* name) const {
    void* const function = dlsym(library_, name);
    INFO(name);
    REQUIRE(function != nullptr);
    return reinterpret_cast<Function<A...>>(function);
  }
  template <class... A>
  void call(const char* name, A... arguments) const {
    const int result = address<A...>(name)(arguments...);
    INFO(name);
    REQUIRE(result == 0);
  }

  void* library_ = dlopen("libcuda.so.1", RTLD_NOW);
  int device_ = 0;
  Context primary_ = nullptr, context_ = nullptr;
  std::vector<Stream> streams_;
  std::vector<Memory> memories_;
  Memory block_ = 0;
};
