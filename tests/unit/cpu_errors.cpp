// What the CPU device says when something is wrong, and how it stops.

#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <vector>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "src/base/error.h"
#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

using namespace gpulua;

namespace {

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  throw std::runtime_error("nothing thrown");
}

}  // namespace

TEST_CASE("cpu: a source that does not compile names the script's file and line", "[cpu]") {
  CpuTestDevice device;
  auto compile = [&] { device.compile("__global__ void k(int* x) {\n  *x = missing;\n}"); };
  CHECK(kind_of(compile) == ErrorKind::compile);
  CHECK_THAT(message_of(compile),
             Catch::Matchers::StartsWith("[compile] the kernel source does not compile:\nscript.lua:11: error: "
                                         "use of undeclared identifier 'missing'\n  *x = missing;\n       ^"));
}

TEST_CASE("cpu: messages end with what the compiler does not know", "[cpu]") {
  CpuTestDevice device;
  const auto message = [&](const std::string& body) {
    return message_of([&] { device.compile("__global__ void k(float* x) { " + body + " }"); });
  };
  CHECK_THAT(message("curandState s;"),
             Catch::Matchers::EndsWith("\nhint: curandState is declared in a header: #include <curand_kernel.h>"));
  CHECK_THAT(message("__half h = __float2half(1.f);"),
             Catch::Matchers::EndsWith("\nhint: __half is declared in a header: #include <cuda_fp16.h>"));
  CHECK_THAT(message("cg::this_grid();"), Catch::Matchers::ContainsSubstring("hint: cg ") &&
                                              Catch::Matchers::ContainsSubstring("<cooperative_groups.h>"));
  CHECK_THAT(message("cudaMalloc(&x, 4);"),
             Catch::Matchers::ContainsSubstring("hint: cudaMalloc is for host programs"));
  CHECK_THAT(message("mine;"), !Catch::Matchers::ContainsSubstring("hint"));
  CHECK_THAT(message("__shared__ float s[(int)x[0]]; s[0] = 1;"),
             Catch::Matchers::ContainsSubstring("hint: the size of a __shared__ array"));
  CHECK_THAT(message_of([&] { device.compile("void f() {}\n__global__ void k() { f(); }"); }),
             Catch::Matchers::ContainsSubstring(
                 "hint: functions of a kernel's source are kernels, __global__, or called by kernels"));
  CHECK_THAT(message_of([&] { device.compile("__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }"); }),
             Catch::Matchers::ContainsSubstring("hint: kernels are launched by the script"));
  // Nor is a line of our own headers theirs.
  CHECK_THAT(message("int i = blockidx.x;"), Catch::Matchers::ContainsSubstring("did you mean 'blockIdx'?") &&
                                                 !Catch::Matchers::ContainsSubstring("/gpulua/"));
  CHECK_THAT(message_of([&] { device.compile("#include <iostream>\n__global__ void k() { std::cout << 1; }"); }),
             Catch::Matchers::EndsWith("\nhint: std::cout is for host programs: kernels print with printf"));
}

TEST_CASE("cpu: an unknown header, function or option is named", "[cpu]") {
  CpuTestDevice device;
  CHECK_THAT(message_of([&] { device.compile("#include <mine.h>\n__global__ void k() {}"); }),
             Catch::Matchers::ContainsSubstring("script.lua:10: fatal error: 'mine.h' file not found") &&
                 Catch::Matchers::ContainsSubstring("headers there are:") &&
                 Catch::Matchers::ContainsSubstring("cstdint"));
  CHECK_THAT(message_of([&] { device.compile("__device__ void nowhere(int);\n__global__ void k() { nowhere(1); }"); }),
             Catch::Matchers::ContainsSubstring("nowhere(int)"));
  KernelSource source;
  source.text = "__global__ void k() {}";
  source.options = {"--no-such-option"};
  CHECK_THAT(message_of([&] { device->compile(source); }),
             Catch::Matchers::ContainsSubstring("unknown option '--no-such-option'"));
}

TEST_CASE("cpu: a call of a function that is not there is an error", "[cpu]") {
  CpuTestDevice device;
  for (const char* barrier : {"", "__syncthreads();"}) {
    const std::string text = std::string("__device__ int (*function)(int);\n__global__ void k(int* x) { ") + barrier +
                             " *x = function(1) + 1; }";
    int x = 0;
    CHECK_THAT(message_of([&] { device.run(text, one_dimension(2, 32), &x); }),
               Catch::Matchers::ContainsSubstring("[launch] kernel 'k': call of a function that is not there"));
  }
}

TEST_CASE("cpu: options, defines and headers reach the compiler", "[cpu]") {
  CpuTestDevice device;
  KernelSource source;
  source.text =
      "#include \"my.h\"\nfloat plain(float x) { return x + 1; }\n__global__ void k(float* x) { *x = plain(mine(A) + "
      "B); }";
  source.options = {"-DA=2",     "--gpu-architecture=sm_90", "-arch",           "sm_80",
                    "-lineinfo", "-default-device",          "--use_fast_math", "-std=c++20"};
  source.defines = {{"B", "40"}};
  source.headers = {{"my.h", "__device__ float mine(float x) { return 100 * x; }"}};
  auto module = device->compile(source);
  float x = 0;
  device.launch(*device.kernel(module, "k"), one_dimension(1, 1), &x);
  CHECK(x == 241.0f);
}

TEST_CASE("cpu: macros of the user's do not reach into our headers", "[cpu]") {
  CpuTestDevice device;
  for (const char* standard : {"-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"}) {
    KernelSource source;
    source.text =
        "#include <limits>\n#include <type_traits>\n#include <cmath>\n#include <cstring>\n"
        "__global__ void k(T* x) { *x = N + U(1) + (std::is_same<T, float>::value ? 1 : 0); }";
    source.options = {standard, "-DT=float", "-D", "U(x)=(x + 5)", "-DEMPTY", "-UEMPTY"};
    source.defines = {{"N", "4"}, {"x", "x"}, {"name", "other"}, {"UNARY", ""}};
    auto module = device->compile(source);
    float x = 0;
    device.launch(*device.kernel(module, "k"), one_dimension(1, 1), &x);
    CHECK(x == 11.0f);
  }
}

TEST_CASE("cpu: assertions and traps surface from the launch", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__device__ __noinline__ void check(int i, int n) {
      assert(i < n); }
    __global__ void k(int n) { check(blockIdx.x * blockDim.x + threadIdx.x, n); }
    __global__ void t() {
      __trap(); })");
  auto k = device.kernel(module, "k"), t = device.kernel(module, "t");
  auto fail = [&] { device.launch(*k, one_dimension(4, 8), 20); };
  CHECK(kind_of(fail) == ErrorKind::device);
  CHECK(message_of(fail) ==
        "[launch] kernel 'k': script.lua:11: assertion 'i < n' failed, block (2,0,0), thread (4,0,0)");
  CHECK(message_of([&] { device.launch(*t, one_dimension(1, 1)); }) ==
        "[launch] kernel 't': script.lua:14: __trap() was called, block (0,0,0), thread (0,0,0)");
  CHECK_THAT(message_of([&] { device.launch(*k, one_dimension(1u << 20, 64), 1 << 25); }),
             Catch::Matchers::ContainsSubstring("assertion 'i < n' failed"));
  device.launch(*k, one_dimension(4, 8), 32);
}

TEST_CASE("cpu: a function that nothing defines is an error of the source", "[cpu]") {
  CpuTestDevice device;
  CHECK(message_of([&] { device.compile("__device__ int f(int);\n__global__ void k(int* x) { *x = f(1); }"); }) ==
        "[compile] script.lua:11: the function 'f(int)' is declared, but nothing defines it; gpu.link joins this source and the one that does");
  device.compile("__device__ int f(int);\n__global__ void k(int* x) { *x = 1; }");
}

TEST_CASE("cpu: static shared memory has CUDA's limit", "[cpu]") {
  CpuTestDevice device;
  const auto source = [](int floats) {
    return "__global__ void k(float* x) { __shared__ float s[" + std::to_string(floats) +
           "]; s[threadIdx.x] = *x; __syncthreads(); *x = s[0]; }";
  };
  device.compile(source(12288));
  CHECK_THAT(message_of([&] { device.compile(source(20000)); }),
             Catch::Matchers::ContainsSubstring(
                 "[compile] the kernel 'k' has 80000 bytes of static shared memory, CUDA takes at most 49152"));
}

TEST_CASE("cpu: of several blocks that fail, a launch reports the first in the grid's order", "[cpu]") {
  CpuTestDevice device;
  // Later blocks fail at once. The one to report takes long, so that other cores are past it by then.
  auto module = device.compile(R"(__global__ void k(int first, float* x) {
      int i = blockIdx.x;
      float value = i;
      for (int j = 0; j < (i <= first ? 20000 : 0); ++j) value = sinf(value) + 1.0f;
      if (value == 12345.0f) *x = value;
      assert(i < first); })");
  auto kernel = device.kernel(module, "k");
  float x = 0;
  for (int first : {1, 5, 40, 200})
    CHECK_THAT(
        message_of([&] { device.launch(*kernel, one_dimension(1000, 1), first, &x); }),
        Catch::Matchers::ContainsSubstring("assertion 'i < first' failed, block (" + std::to_string(first) + ",0,0)"));
}

TEST_CASE("cpu: a long launch is interrupted", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__global__ void spin(float* x) {
      float value = threadIdx.x;
      for (int i = 0; i < 100000; ++i) value = sinf(value) + 1.0f;
      if (value == 12345.0f) *x = value; })");
  auto kernel = device.kernel(module, "spin");
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    device.interrupted().store(true);
  });
  auto start = std::chrono::steady_clock::now();
  float x = 0;
  CHECK(kind_of([&] { device.launch(*kernel, one_dimension(10'000'000, 1), &x); }) == ErrorKind::interrupted);
  user.join();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK_FALSE(device.interrupted().load());
}

TEST_CASE("cpu: filling and copying much memory is interrupted", "[cpu]") {
  CpuTestDevice device;
  constexpr std::size_t bytes = std::size_t{64} << 20;
  std::vector<char> host(bytes, 1), memory(bytes, 0);
  const char seven = 7;
  const auto is_interrupted = [&](auto work) {
    device.interrupted().store(true);
    CHECK(kind_of(work) == ErrorKind::interrupted);
    CHECK_FALSE(device.interrupted().load());
    CHECK(memory.back() == 0);
  };
  is_interrupted([&] { device->fill(memory.data(), &seven, 1, bytes, device.stream()); });
  CHECK(memory.front() == 7);
  is_interrupted([&] { device->upload(memory.data(), host.data(), bytes, device.stream()); });
  CHECK(memory.front() == 1);
  device->fill(memory.data(), &seven, 1, bytes, device.stream());
  CHECK(std::count(memory.begin(), memory.end(), 7) == static_cast<std::ptrdiff_t>(bytes));
}

TEST_CASE("cpu: what a kernel traps at is an error of its launch", "[cpu]") {
  CpuTestDevice device;
  int x[64] = {};
  const auto failure = [&](const std::string& body) {
    return message_of([&] { device.run("__global__ void k(int* x) { " + body + " }", one_dimension(2, 32), &x[0]); });
  };
  for (const char* barrier : {"", "__syncthreads();"}) {
    CHECK_THAT(failure(std::string(barrier) + "if (threadIdx.x == 5) __builtin_trap(); x[1] = 1;" + barrier),
               Catch::Matchers::ContainsSubstring("[launch] kernel 'k': __builtin_trap() was called"));
    CHECK_THAT(failure(std::string(barrier) + "__builtin_debugtrap(); x[1] = 1;"),
               Catch::Matchers::ContainsSubstring("[launch] kernel 'k': __builtin_debugtrap() was called"));
  }
}

TEST_CASE("cpu: the heap of kernels knows what it gave", "[cpu]") {
  CpuTestDevice device;
  void* array = device->allocate(256, device.stream());
  char* kept[64] = {};
  auto module = device.compile(R"(
    __global__ void give(char** kept) {
      int i = threadIdx.x;
      kept[i] = (char*)malloc(i * 7);
      for (int j = 0; j < i * 7; ++j) kept[i][j] = i;
    }
    __global__ void take(char** kept, int* good) {
      int i = threadIdx.x;
      bool same = true;
      for (int j = 0; j < i * 7; ++j) same = same && kept[i][j] == i;
      atomicAdd(good, same);
      free(kept[i]);
    }
    __global__ void drop(void* memory) { free(memory); }
    __global__ void none() { free(nullptr); delete (int*)nullptr; }
    __global__ void size(char** kept, int bytes) { kept[0] = (char*)malloc(bytes); }
    __global__ void large(char** kept) { kept[0] = (char*)malloc(1ull << 60); }
    __global__ void past(int offset) {
      volatile char* p = new char[24];
      p[offset] = 1;
      delete[] p;
    })");
  const auto launch = [&](const char* name, unsigned threads, auto... values) {
    device.launch(*device.kernel(module, name), one_dimension(1, threads), values...);
  };
  int good = 0;
  launch("give", 64, &kept[0]);
  launch("take", 64, &kept[0], &good);
  CHECK(good == 64);
  constexpr const char* unknown =
      "[launch] kernel 'drop': free of a pointer that malloc did not give, or that was freed before";
  for (void* pointer : {static_cast<void*>(kept[3]), array, static_cast<void*>(&good)})
    CHECK(message_of([&] { launch("drop", 1, pointer); }) == unknown);
  // Within a block of each size, and beside it, begins no other.
  for (int bytes : {1, 16, 24, 200, 5000, 70000, 300000, 5000000}) {
    launch("size", 1, &kept[0], bytes);
    char* const block = static_cast<char*>(kept[0]);
    for (char* pointer : {block + 1, block + 16, block + bytes, block + bytes + 16, block + 262144})
      CHECK(message_of([&] { launch("drop", 1, static_cast<void*>(pointer)); }) == unknown);
    launch("drop", 1, static_cast<void*>(block));
    CHECK(message_of([&] { launch("drop", 1, static_cast<void*>(block)); }) == unknown);
  }
  launch("none", 1);
  launch("large", 1, &kept[0]);
  CHECK(kept[0] == nullptr);
  launch("past", 1, 23);
  CHECK(message_of([&] { launch("past", 1, 24); }) ==
        "[launch] kernel 'past': free of memory that something has written past the end of");
  CHECK(message_of([&] { launch("past", 1, -1); }) ==
        "[launch] kernel 'past': free of memory that something has written before the start of");
  device->free(array, device.stream());
}

TEST_CASE("cpu: a compilation is interrupted, and the next one runs", "[cpu]") {
  CpuTestDevice device;
  std::string text = "__global__ void k(float* x, int n) { float y = x[0];\n";
  for (int i = 0; i < 3'000; ++i)
    text += "y += x[" + std::to_string(i) + " % n] * sinf(y + " + std::to_string(i) + "); if (y > 1) x[1] = y;\n";
  text += "x[2] = y; }";
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    device.interrupted().store(true);
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK(kind_of([&] { device.compile(text); }) == ErrorKind::interrupted);
  user.join();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK_FALSE(device.interrupted().load());
  int x = 0;
  device.run("__global__ void k(int* x) { *x = 5; }", one_dimension(1, 1), &x);
  CHECK(x == 5);
}

TEST_CASE("cpu: faults of the compiler are its errors also where a handler was set over the library's", "[cpu]") {
  CpuTestDevice device;
  struct sigaction own {
  }, before{};
  own.sa_handler = [](int) { _exit(99); };
  sigaction(SIGSEGV, &own, &before);
  std::string nested = "__global__ void k(int* x) { x[0] = ";
  for (int i = 0; i < 400'000; ++i) nested += "- ";
  CHECK(kind_of([&] { device.compile(nested + "x[1]; }"); }) == ErrorKind::compile);
  sigaction(SIGSEGV, &before, nullptr);
}

TEST_CASE("cpu: source that nests too deeply, or that LLVM refuses, is an error", "[cpu]") {
  CpuTestDevice device;
  const auto repeat = [](const char* text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
  };
  for (const std::string& body :
       {"x[0] = " + repeat("- ", 400'000) + "x[1];", repeat("if (x[0]) ", 5'000) + "x[1] = 1;",
        "x[0] = " + repeat("x[1] ? 1 : ", 5'000) + "2;"}) {
    const std::string text = "__global__ void k(int* x) { " + body + " }";
    CHECK(kind_of([&] { device.compile(text); }) == ErrorKind::compile);
  }
  const std::string some = "__global__ void k(int* x) { x[0] = " + repeat("- ", 1000) + "x[1]; }";
  int x[2] = {0, 5};
  device.run(some, one_dimension(1, 1), &x[0]);
  CHECK(x[0] == 5);
}
