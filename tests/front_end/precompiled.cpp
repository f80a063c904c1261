// The precompiled prelude means what its headers mean: the same IR for the same source and options, and the same
// messages.

#include <clang/Basic/Version.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "src/device/cpu/front_end/front_end.h"
#include "src/device/cpu/front_end/kernel_headers.h"
#include "src/device/cpu/front_end/leading_includes.h"
#include "src/device/cpu/front_end/prelude.h"
#include "tests/catch.h"

namespace gpulua::cpu {
namespace {

struct Request {
  std::string text;
  std::vector<std::string> options;
  CompileTarget target;
  std::vector<std::string> names;
};

KernelSource source_of(const Request& request) {
  KernelSource source;
  source.text = request.text;
  source.file = "script.lua";
  source.line = 10;
  source.names = request.names;
  return source;
}

/// With the prelude that is given, parsed when it is null, or as the compiler does.
template <class... Prelude>
SourceModule parse(const Request& request, Prelude... precompiled) {
  return parse_source(source_of(request), parse_options(request.options), request.target, precompiled...);
}

const PrecompiledPrelude* prelude(const Request& request) {
  CompileOptions options = parse_options(request.options);
  return precompiled_prelude(options.standard, leading_includes(source_of(request), options),
                             clang::getClangFullVersion());
}

template <class Value>
std::string print(const Value& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return text;
}

/// What the module has, by name; without the numbers of metadata and attributes, which follow the order of emission.
std::map<std::string, std::string> describe(const SourceModule& source) {
  static const std::regex numbers("[!#][0-9]+");
  std::map<std::string, std::string> result;
  for (const llvm::Function& function : *source.module) {
    std::string text = std::regex_replace(print(function), numbers, "");
    for (unsigned place = 0; place < 3 + function.arg_size(); ++place)
      text += function.getAttributes().getAsString(place == 0 ? ~0u : place - 1) + "\n";
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& instruction : block)
        if (const llvm::DebugLoc& location = instruction.getDebugLoc())
          text += location->getFilename().str() + ":" + std::to_string(location.getLine()) + "\n";
    result[function.getName().str()] = text;
  }
  for (const llvm::GlobalVariable& global : source.module->globals())
    result[global.getName().str()] = std::regex_replace(print(global), numbers, "");
  for (const SourceKernel& kernel : source.kernels)
    for (const std::string& name : kernel.names) result["kernel " + name] = to_string(name, kernel.signature);
  for (const GlobalEntry& global : source.globals) result["global " + global.name] = global.type;
  return result;
}

void require_same(const Request& request) {
  REQUIRE(prelude(request) != nullptr);
  auto parsed = describe(parse(request, nullptr)), precompiled = describe(parse(request, prelude(request)));
  for (const auto& [name, text] : parsed) {
    INFO(name);
    REQUIRE(precompiled[name] == text);
  }
  REQUIRE(parsed.size() == precompiled.size());
}

template <class... Prelude>
std::string message(const Request& request, Prelude... precompiled) {
  try {
    parse(request, precompiled...);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

const std::string kernel_of_many = R"(
    __device__ float chosen = 2.0f;
    template <class T> __global__ void scale(T* p, T by) { p[threadIdx.x] *= by; }
    __global__ void many(float* f, double* d, int* i, float3 v, const int4* w) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      f[t] = __fdividef(sinf(f[t]) / v.x, chosen) + a_b(f[t], v.y, v.z) + sin(t) + pow(f[t], 2);
      d[t] = __dadd_ru(d[t], 1.0) / d[t] + norm3d(d[t], 1.0, 2.0) + cyl_bessel_i0(d[t]) + fma(d[t], d[t], 1.0);
      i[t] = atomicAdd(i, __shfl_xor_sync(~0u, w[t].x, 1)) + __vadd4(i[t], 3) + __popc(__ballot_sync(~0u, t < 3));
      assert(i[t] != 7);
      __syncthreads();
      printf("%d %f\n", t, min(f[t], 3.0f));
      int* own = new int(t);
      delete own;
    })";
const std::string a_b = "__device__ float a_b(float a, float b, float c) { return a * b + c; }";

TEST_CASE("the precompiled prelude gives the IR that its headers give") {
  const std::vector<std::vector<std::string>> options{
      {},
      {"--use_fast_math"},
      {"--fmad=false"},
      {"--std=c++11"},
      {"--std=c++14"},
      {"--std=c++20", "--use_fast_math"},
      {"-default-device"},
      {"-DNDEBUG", "-Dcontext=3", "-Dplace", "-Ux", "-D__forceinline__="}};
  const std::vector<CompileTarget> targets{
      {}, {"x86-64", {}}, {"sapphirerapids", {}, true}, {"x86-64-v3", {"+avx512f", "-fma"}}};
  for (const auto& with : options)
    for (const auto& target : targets) {
      INFO((with.empty() ? "no options" : with[0]) << ", " << target.processor);
      require_same({a_b + kernel_of_many, with, target, {"scale<float>", "scale<int>"}});
    }
}

TEST_CASE("samples compile to the same IR with the precompiled prelude") {
  for (const auto& file : std::filesystem::directory_iterator(GPULUA_SAMPLES)) {
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    INFO(file.path());
    require_same({text.str(), {}, {}, {}});
  }
}

TEST_CASE("headers at the start of a source come precompiled") {
  const std::string use_half =
      "__global__ void k(half* p, half2 q) { *p = *p * q.x + __float2half(2.0f) + hexp(*p); }\n";
  const std::string use_bfloat =
      "__global__ void b(__nv_bfloat16* p) { *p = __hmax(*p, __float2bfloat16_rz(2.0f)); }\n";
  const std::string half = "#include <cuda_fp16.h>\n", bfloat = "/* 16 */ # include \"cuda_bf16.h\" // bits\n";
  std::set<const PrecompiledPrelude*> used;
  for (const std::string& text : {half + use_half, bfloat + use_bfloat, half + bfloat + use_half + use_bfloat,
                                  "#include <math.h>\n" + bfloat + half + use_bfloat + use_half})
    for (const std::string option : {"-DNDEBUG", "--use_fast_math"}) {
      INFO(text);
      require_same({text, {option}, {}, {}});
      used.insert(prelude({text, {option}, {}, {}}));
    }
  CHECK(used.size() == 3);
  const auto* plain = prelude({use_half, {}, {}, {}});
  CHECK(used.count(plain) == 0);
  for (const std::string& text :
       {"#define N 3\n" + half, "#if 0\n" + half + "#endif\n", "#include <none.h>\n" + half, "// " + half,
        "// \\\n" + half, "int i;\n" + half, std::string("#include <cuda_fp16.h"), std::string("#"), std::string("/*"),
        std::string()})
    CHECK(prelude({text, {}, {}, {}}) == plain);
  CHECK(prelude({half, {"-I/usr/include"}, {}, {}}) == plain);
  CHECK(prelude({half, {"--pre-include=x.h"}, {}, {}}) == plain);
  KernelSource own = source_of({half, {}, {}, {}});
  own.headers = {{"cuda_fp16.h", ""}};
  CHECK(leading_includes(own, {}).empty());
}

TEST_CASE("every header can be included after the precompiled prelude") {
  for (const PreludeHeader& header : prelude_headers()) {
    // Those that other headers alone include.
    if (header.name.starts_with("gpulua_") || header.name.ends_with(".cuh")) continue;
    INFO(header.name);
    require_same({"#include <" + std::string(header.name) + ">\n" + a_b + kernel_of_many, {}, {}, {}});
  }
}

TEST_CASE("messages are the same, suggestions included, with the precompiled prelude") {
  const std::vector<Request> requests{
      {"__global__ void k(float* p) { *p = undeclared; }", {}, {}, {}},
      {"__global__ void k(float* p) { *p = atomicAd(p, 1.0f) + thredIdx.x; }", {}, {}, {}},
      {"__global__ void k(float* p) { atomicAdd(p, p); }", {}, {}, {}},
      {"__global__ void k(float* p) { *p = missing; }", {}, {}, {}},
      {"__global__ void k() {}", {}, {}, {"missing<int>"}},
      {"__global__ void k(float* p) { *p = min(1, p); }", {}, {}, {}},
      {"__device__ float fabs(float x) { return x; }", {}, {}, {}},
      {"struct float4 {};", {}, {}, {}},
      {"__device__ int threadIdx;", {}, {}, {}},
      {"#line 7 \"other.cu\"\n__global__ void k(float3 v) { v.w = 0; }", {}, {}, {}},
      {"#include \"none.h\"", {}, {}, {}},
      {"__host__ int f(); __device__ int g() { return f(); } __global__ void k(int* p) { *p = g(); }", {}, {}, {}},
      {"template <class T> __global__ void k(T* p) { *p = sqrt(p); }", {}, {}, {"k<float>"}},
      {"__global__ void k() { asm(\"wgmma.fence;\"); }", {}, {}, {}},
      {"__global__ void k() { constexpr int x = warpSize / 0; }", {}, {}, {}},
      {"__global__ void k() {}", {"-DX=(", "-D1"}, {}, {}},
      {"__global__ void k() { requires_20 auto x = []<class T>(T) {}; }", {"--std=c++20"}, {}, {}},
      {"#error never\n", {}, {}, {}}};
  for (const Request& request : requests) {
    INFO(request.text);
    CHECK(message(request) == message(request, nullptr));
    CHECK(message(request, nullptr) != "(nothing thrown)");
  }
}

TEST_CASE("a source sees the macros of its target, not of the precompiled prelude's") {
  const std::string text = R"(
    #if defined(__AVX2__) != WITH_AVX2 || defined(__AVX512F__) != WITH_AVX512
    #error wrong processor
    #endif
    #if __cplusplus != STANDARD || __CUDA_ARCH__ != 900 || defined(GPULUA_VECTORS) || __x86_64__ != 1
    #error wrong macros
    #endif
    __global__ void k() {})";
  auto throws = [&](std::string avx2, std::string avx512, std::string standard, CompileTarget target) {
    Request request{text,
                    {"-DWITH_AVX2=" + avx2, "-DWITH_AVX512=" + avx512, "-DSTANDARD=20" + standard + "L",
                     "--std=c++" + standard.substr(0, 2)},
                    std::move(target),
                    {}};
    return message(request, prelude(request));
  };
  CHECK(throws("0", "0", "1703", {"x86-64", {}}) == "(nothing thrown)");
  CHECK(throws("1", "0", "1703", {"haswell", {}}) == "(nothing thrown)");
  CHECK(throws("1", "1", "2002", {"sapphirerapids", {}}) == "(nothing thrown)");
  CHECK(throws("1", "0", "1103", {"sapphirerapids", {"-avx512f"}}) == "(nothing thrown)");
}

TEST_CASE("a prelude precompiled by another clang is not used") {
  CHECK(precompiled_prelude("c++17", {}, clang::getClangFullVersion()) != nullptr);
  CHECK(precompiled_prelude("c++17", {}, "clang version 19.1.0") == nullptr);
  CHECK(precompiled_prelude("c++26", {}, clang::getClangFullVersion()) == nullptr);
}

/// A kernel of the library's that begins with the headers of these numbers.
KernelSource own_kernel(std::initializer_list<std::size_t> headers, const std::string& text) {
  KernelSource source;
  for (const std::size_t header : headers) source.text += kernel_header_of(kernel_headers()[header]);
  source.text += text;
  source.file = "gpulua";
  source.own = true;
  return source;
}

TEST_CASE("a library kernel's headers come precompiled, and mean the same") {
  const std::vector<KernelSource> sources{
      own_kernel({0, 1},
                 "__global__ void k(int* x, gpulua_half* y) {\n"
                 "  *x = gpulua_multiply(*x, 3) + gpulua_add(*x, x[1]);\n"
                 "  y[1] = gpulua_to_half(gpulua_widen(*y) * 2); }"),
      own_kernel({0, 1, 2, 3, 4}, "__global__ void k(gpulua_complex64* x) { *x = *x * x[1] / x[2]; }"),
      own_kernel({}, "__global__ void k(float* x) { *x = 1; }")};
  for (const KernelSource& source : sources) {
    INFO(source.text.substr(source.text.find("__global__ void k(")));
    auto parsed = describe(parse_source(source, {}, {}, nullptr)), precompiled = describe(parse_source(source, {}, {}));
    for (const auto& [name, text] : parsed) {
      INFO(name);
      REQUIRE(precompiled[name] == text);
    }
    // The other headers have constants, which the passes remove.
    for (const auto& [name, text] : precompiled) {
      INFO(name);
      CHECK((parsed.contains(name) || text.find(" constant ") != std::string::npos));
    }
  }
}

TEST_CASE("headers are taken from the start of a library kernel's text alone") {
  const auto rest = [](KernelSource source) { return without_kernel_headers(source); };
  const KernelSource source = own_kernel({0, 4, 1}, "int rest;\n");
  CHECK(rest(source).text == "int rest;\n");
  CHECK(static_cast<std::size_t>(rest(source).line) ==
        1 + static_cast<std::size_t>(std::ranges::count(source.text, '\n')) - 1);
  KernelSource of_script = source, changed = source, later = source;
  of_script.own = false;
  CHECK(rest(of_script).text == of_script.text);
  changed.text.insert(0, "#define GPULUA_WIDE\n");
  CHECK(rest(changed).text == changed.text);
  later.text += kernel_header_of(kernel_headers()[2]);
  CHECK(rest(later).text == "int rest;\n" + std::string(kernel_header_of(kernel_headers()[2])));
}

TEST_CASE("a library kernel with a script's mistake, or with names of its headers, compiles from the text") {
  const auto message_of = [](const KernelSource& source, auto... precompiled) -> std::string {
    try {
      parse_source(source, {}, {}, precompiled...);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "compiles";
  };
  const KernelSource wrong = own_kernel({0}, "#line 7 \"a.lua\"\n__global__ void k(int* x) { *x = wrong; }");
  CHECK(message_of(wrong) == message_of(wrong, nullptr));
  CHECK(message_of(wrong).find("a.lua:7") != std::string::npos);
  CHECK(message_of(own_kernel({0}, "struct gpulua_divisor {};\n__global__ void k() {}")) == "compiles");
}

TEST_CASE("kernels with a line of a script have lines and can unwind, the library's others need neither") {
  const auto has_lines = [](const KernelSource& source) {
    const SourceModule parsed = parse_source(source, {}, {});
    const llvm::Function* kernel = parsed.module->getFunction("k");
    REQUIRE(kernel != nullptr);
    CHECK((kernel->getSubprogram() != nullptr) == kernel->hasUWTable());
    return kernel->hasUWTable();
  };
  const std::string text = "extern \"C\" __global__ void k(float* x) { *x = 1; }";
  CHECK(has_lines(source_of({text, {}, {}, {}})));
  CHECK_FALSE(has_lines(own_kernel({0}, text)));
  CHECK(has_lines(own_kernel({0}, "\n#line 3 \"a.lua\"\n" + text)));
}

}  // namespace
}  // namespace gpulua::cpu
