#include "src/device/cuda/compiler/cuda_linker.h"

#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/device/cuda/compiler/cubin.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/shared/link_symbols.h"
#include "tests/catch.h"
#include "tests/unit/cuda_nvrtc.h"

using namespace gpulua;
using namespace gpulua::cuda;

namespace {

const std::string definitions = R"(
extern "C" __device__ float f(float x) { return x * x; }
__constant__ float table[4];
__device__ int counter;
static __device__ int twice(int x) { return 2 * x; }
template <class T> __device__ T same(T x) { return x; }
__device__ int four(int x) { return twice(twice(same(x))); })";
const std::string kernels = R"(
extern "C" __device__ float f(float x);
extern __constant__ float table[4];
extern __device__ int counter;
__device__ int four(int x);
static __device__ int twice(int x) { return 20 * x; }
template <class T> __device__ T same(T x) { return x; }
extern "C" __global__ void k(float* x) { x[0] = f(x[1]) + table[2] + four(3) + twice(same(1)); ++counter; }
template <class T> __global__ void t(const T* x, T* y) { y[0] = f(x[0]); })";

/// Runs NVRTC and nvJitLink for real; they need no GPU.
struct Fixture {
  Config config = Config::from_environment();
  KernelCache cache{"", 0};
  Compiler compiler{config, "sm_90", 13000};

  bool has_toolkit() {
    return with_nvrtc([this] { link({source("__global__ void probe() {}")}); });
  }

  static KernelSource source(std::string text, std::vector<std::string> options = {},
                             std::vector<std::string> names = {}) {
    KernelSource part;
    part.text = std::move(text);
    part.options = std::move(options);
    part.names = std::move(names);
    return part;
  }
  static KernelSource image(std::string bytes) {
    KernelSource part;
    part.image = std::move(bytes);
    return part;
  }

  std::shared_ptr<const CompiledModule> link(std::vector<KernelSource> parts) {
    KernelSource whole;
    whole.parts = std::move(parts);
    return compiler.get(whole, cache);
  }
  std::string failure(std::vector<KernelSource> parts) {
    try {
      link(std::move(parts));
    } catch (const Error& error) {
      return error.what();
    }
    return "it linked";
  }
  /// A part as NVRTC makes it.
  Nvrtc::Result compiled(const std::string& text, const std::string& option) {
    Nvrtc::Program program;
    program.text = text;
    program.options = {"-arch=sm_90", option};
    Nvrtc::Result result = compiler.nvrtc().compile(program);
    INFO(result.log);
    REQUIRE(result.success);
    return result;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// No symbol of the cubin is another module's to define, but what the driver gives.
bool is_whole(const CompiledModule& module) {
  for (const LinkSymbol& symbol : read_cubin_symbols(module.image))
    if (!symbol.is_defined && !symbol.is_shared) return false;
  return is_linked_cubin(module.image);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "parts link to one module with the kernels and variables of all", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  for (const std::vector<std::string>& options : {std::vector<std::string>(), {"-dlto"}, {"-rdc=true"}}) {
    const auto module = link({source(definitions, options), source(kernels, options, {"t<double>"})});
    CHECK(is_whole(*module));
    REQUIRE(module->kernels.size() == 2);
    CHECK(to_string("k", find_kernel(*module, "k").signature) == "k(float*)");
    CHECK(to_string("t", find_kernel(*module, "t<double>").signature) == "t(const double*, double*)");
    CHECK(find_global(*module, "table").type == "float [4]");
    CHECK(find_global(*module, "counter").bytes == 4);
  }
}

TEST_CASE_METHOD(Fixture, "a source with an option for linking is linked alone", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  for (const char* option : {"-rdc=true", "-dc", "-dlto"}) {
    const auto module = compiler.get(source("__global__ void k(float* x) { x[0] = 1; }", {option}), cache);
    CHECK(is_whole(*module));
    CHECK(module->kernels.size() == 1);
  }
}

TEST_CASE_METHOD(Fixture, "compiled code links with sources", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  const Nvrtc::Result relocatable = compiled(definitions, "-rdc=true"), lto = compiled(definitions, "-dlto");
  for (const std::string& code : {relocatable.ptx, relocatable.cubin, lto.lto_ir}) {
    CHECK(is_whole(*link({image(code), source(kernels)})));
    CHECK(is_whole(*link({source(kernels, {"-dlto"}), image(code)})));
  }
  const auto described = link({source(definitions), image(compiled(kernels, "-rdc=true").ptx)});
  CHECK(described->kernels.size() == 1);
}

TEST_CASE_METHOD(Fixture, "parts that do not link: the symbol and both parts", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  for (const std::vector<std::string>& options : {std::vector<std::string>(), {"-dlto"}}) {
    const KernelSource user = source(kernels, options, {"t<double>"});
    const std::string missing = failure({user});
    CHECK(has(missing, "f is used in part 1, and no part defines it"));
    CHECK(has(failure({user, source("__device__ float f(float x) { return x; }", options)}),
              "part 2 defines f(float), and only one of the two is extern \"C\""));
    CHECK(has(failure({source(definitions, options), user, source(definitions, options)}),
              "counter is defined in part 1, and again in part 3"));
    CHECK(has(failure({user, source("extern \"C\" __device__ float f(double x, int i) { return x; }", options)}),
              "f is a function (.b32) that returns .b32 in part 1, and a function (.b64, .b32) that returns .b32 in "
              "part 2"));
    CHECK(has(failure({user, source("__constant__ float table[3];", options)}),
              "table has 16 bytes in part 1, and 12 in part 2"));
  }
  CHECK(has(failure({image(compiled(definitions, "-rdc=true").cubin), source(definitions)}),
            "four(int) is defined in part 1, and again in part 2"));
}

TEST_CASE_METHOD(Fixture, "parts that cannot be linked", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  const std::string cubin = link({source(definitions)})->image;
  CHECK(has(failure({image(cubin)}), "part 1: expected a cubin that can be linked"));
  CHECK(has(failure({image(cubin.substr(0, 500))}), "expected a whole cubin or fatbin"));
  CHECK(has(failure({image("hello")}), "got something else of 5 bytes"));
  CHECK(has(failure({source(definitions, {"-dlto", "--use_fast_math"}), source(kernels, {"-dlto"})}),
            "expected the same options for arithmetic and registers in all parts with -dlto"));
}

TEST_CASE_METHOD(Fixture, "kernels that launch kernels are refused with what to write", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  const std::string text = "__global__ void a() {}\n__global__ void b() { a<<<1, 1>>>(); }";
  CHECK(has(failure({source(text)}), "kernels are launched by the script, kernel{grid"));
  CHECK_THROWS_WITH(compiler.get(source(text), cache),
                    Catch::Matchers::ContainsSubstring("kernels are launched by the script, kernel{grid"));
}

TEST_CASE_METHOD(Fixture, "a part is compiled again where it changes, and the module is kept", "[cuda][nvrtc]") {
  if (!has_toolkit()) return;
  const auto first = link({source(definitions), source(kernels)});
  CHECK(link({source(definitions), source(kernels)}) == first);
  CHECK(link({source(definitions), source(kernels + "\n__global__ void more() {}")})->kernels.size() == 2);
}
