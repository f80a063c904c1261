#pragma once

// The memory and the stream of a simulation: the first GPU's, by CUDA's driver, or the processor's where there is none.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

class SimulationMemory {
 public:
  explicit SimulationMemory(bool wants_gpu) {
    if (wants_gpu) driver_ = dlopen("libcuda.so.1", RTLD_NOW);
    int count = 0;
    if (driver_ == nullptr || call<unsigned>("cuInit", 0) != 0 || call<int*>("cuDeviceGetCount", &count) != 0 ||
        count == 0)
      driver_ = nullptr;
    if (driver_ == nullptr) return;
    int device = 0;
    check(call<int*, int>("cuDeviceGet", &device, 0));
    check(call<void**, int>("cuDevicePrimaryCtxRetain", &context_, device));
    check(call<void*>("cuCtxSetCurrent", context_));
    check(call<void**, unsigned>("cuStreamCreate", &stream_, 1));  // it waits for no other stream
  }
  ~SimulationMemory() {
    if (driver_ == nullptr) return;
    for (std::uint64_t memory : on_gpu_) call<std::uint64_t>("cuMemFree_v2", memory);
    call<void*>("cuStreamDestroy_v2", stream_);
    call<int>("cuDevicePrimaryCtxRelease_v2", 0);
  }
  SimulationMemory(const SimulationMemory&) = delete;
  SimulationMemory& operator=(const SimulationMemory&) = delete;

  /// A CUcontext and a CUstream, or null.
  void* context() const { return context_; }
  void* stream() const { return stream_; }

  /// Memory with these numbers in it.
  float* allocate(const std::vector<float>& numbers) {
    const std::size_t bytes = numbers.size() * sizeof(float);
    if (driver_ == nullptr) {
      on_host_.push_back(std::make_unique<std::vector<float>>(numbers));
      return on_host_.back()->data();
    }
    std::uint64_t memory = 0;
    check(call<std::uint64_t*, std::size_t>("cuMemAlloc_v2", &memory, bytes));
    on_gpu_.push_back(memory);
    check(call<std::uint64_t, const void*, std::size_t>("cuMemcpyHtoD_v2", memory, numbers.data(), bytes));
    return reinterpret_cast<float*>(memory);
  }
  /// What it holds when the stream comes to it. Waits.
  std::vector<float> read(const float* memory, std::size_t count) const {
    std::vector<float> numbers(count);
    if (driver_ == nullptr) {
      std::memcpy(numbers.data(), memory, count * sizeof(float));
      return numbers;
    }
    check(call<void*, std::uint64_t, std::size_t, void*>("cuMemcpyDtoHAsync_v2", numbers.data(),
                                                         reinterpret_cast<std::uint64_t>(memory), count * sizeof(float),
                                                         stream_));
    check(call<void*>("cuStreamSynchronize", stream_));
    return numbers;
  }

 private:
  template <class... A>
  int call(const char* name, A... arguments) const {
    return reinterpret_cast<int (*)(A...)>(dlsym(driver_, name))(arguments...);
  }
  static void check(int result) {
    if (result == 0) return;
    std::fprintf(stderr, "CUDA error %d\n", result);
    std::exit(1);
  }

  void* driver_ = nullptr;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  std::vector<std::uint64_t> on_gpu_;
  std::vector<std::unique_ptr<std::vector<float>>> on_host_;
};
