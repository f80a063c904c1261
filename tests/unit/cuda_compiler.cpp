
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "src/base/error.h"
#include "src/device/cuda/compiler/cubin.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "tests/catch.h"
#include "tests/unit/cuda_nvrtc.h"

using namespace gpulua;
using namespace gpulua::cuda;
namespace fs = std::filesystem;

namespace {

/// A KernelSource, field by field.
struct Source : KernelSource {
  explicit Source(std::string t) { text = std::move(t); }
  Source& at(std::string f, int l) { return file = std::move(f), line = l, *this; }
  Source& with_options(std::vector<std::string> o) { return options = std::move(o), *this; }
  Source& with_defines(std::vector<std::pair<std::string, std::string>> d) { return defines = std::move(d), *this; }
  Source& with_headers(std::vector<std::pair<std::string, std::string>> h) { return headers = std::move(h), *this; }
  Source& with_include_dirs(std::vector<std::string> i) { return include_dirs = std::move(i), *this; }
  Source& with_names(std::vector<std::string> n) { return names = std::move(n), *this; }
};

/// Runs NVRTC for real, on a cache in memory; NVRTC needs no GPU.
struct Fixture {
  Config config = Config::from_environment();
  KernelCache cache{"", 0};
  Compiler compiler{config, "sm_90", 13000};

  bool has_nvrtc() {
    return with_nvrtc([this] { compiler.get(Source("__global__ void probe() {}"), cache); });
  }

  std::shared_ptr<const CompiledModule> compile(const KernelSource& source) { return compiler.get(source, cache); }

  Error failure(const KernelSource& source) {
    try {
      compile(source);
    } catch (const Error& error) {
      return error;
    }
    throw std::logic_error("it compiled");
  }
};

std::string signature_text(const CompiledModule& module, const std::string& name) {
  const KernelEntry& entry = find_kernel(module, name);
  return to_string(entry.name, entry.signature);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "kernels have their names and C++ types", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto module = compile(Source(R"(
struct P { int a; double b; char c[5]; };
enum Color { red };
__global__ void saxpy(float a, const float* __restrict__ x, float* out, size_t n) {}
__global__ void records(P p, float3 v, bool b, unsigned char u, const P* ps) {}
namespace ns { __global__ void inner(double* x, long long n) {} }
__global__ void no_parameters() {}
__global__ void enumeration(Color c) {}
namespace { __global__ void hidden(int* x) { x[0] = 1; } }
extern "C" __global__ void plain(float a, const double* x, P p) {}
extern "C" __global__ void plain_none() {}
__global__ void with_shared(int* x) { extern __shared__ int tile[]; __shared__ float fixed[4]; fixed[0] = 1; tile[0] = x[0]; x[1] = tile[0]; }
)"));
  CHECK(signature_text(*module, "saxpy") == "saxpy(float, const float*, float*, unsigned long)");
  CHECK(signature_text(*module, "records") == "records(P, float3, bool, unsigned char, const P*)");
  CHECK(signature_text(*module, "ns::inner") == "ns::inner(double*, long long)");
  CHECK(signature_text(*module, "no_parameters") == "no_parameters()");
  CHECK(signature_text(*module, "hidden") == "hidden(int*)");
  CHECK(signature_text(*module, "plain") == "plain(float, const double*, P)");
  CHECK(signature_text(*module, "plain_none") == "plain_none()");
  CHECK(signature_text(*module, "with_shared") == "with_shared(int*)");
  CHECK(module->kernels.size() == 9);

  const Signature& saxpy = find_kernel(*module, "saxpy").signature;
  CHECK_FALSE(saxpy.parameters[1].writable);
  CHECK(saxpy.parameters[2].writable);
  const Signature& records = find_kernel(*module, "records").signature;
  CHECK(records.parameters[0].kind == ParameterKind::record);
  CHECK(records.parameters[0].size == 24);
  CHECK(records.parameters[1].kind == ParameterKind::vector);
  const Parameter& color = find_kernel(*module, "enumeration").signature.parameters[0];
  CHECK(color.kind == ParameterKind::scalar);
  CHECK(color.size == 4);
  CHECK(find_kernel(*module, "plain").signature.parameters[2].size == 24);

  CHECK(
      module->image.starts_with("\x7f"
                                "ELF"));
  CHECK(module->ptx.find(".target sm_90") != std::string::npos);
  CHECK(module->ptx.find("gpulua_signature") == std::string::npos);
  CHECK(module->ptx.find('\0') == std::string::npos);
}

TEST_CASE_METHOD(Fixture, "templates are found by the names asked for", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto module = compile(Source(R"(
namespace ns {
template <class T, int N = 4> __global__ void axpy(T a, T* x) { x[0] = a * N; }
}
template <class T> __global__ void fill(T* x, T v) { x[0] = v; }
)")
                                  .with_names({"ns::axpy<float>", " fill< unsigned int > ", "fill<double>"}));
  CHECK(signature_text(*module, "ns::axpy<float, 4>") == "ns::axpy<float, 4>(float, float*)");
  CHECK(find_kernel(*module, "ns::axpy<float>").symbol == find_kernel(*module, "ns::axpy<float, 4>").symbol);
  CHECK(signature_text(*module, "fill<double>") == "fill<double>(double*, double)");
  CHECK(find_kernel(*module, "fill< unsigned int >").signature.parameters[1].type == "unsigned int");
  CHECK(find_kernel(*module, "fill<unsigned int>").signature.parameters[1].type == "unsigned int");
}

TEST_CASE_METHOD(Fixture, "variables are listed, used or not, with their types", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto module = compile(Source(R"(
struct Q { int a; char b; };
__constant__ float coef[4];
__device__ int counter;
static __device__ double table[2][3];
namespace ns { __constant__ Q q; }
namespace { __device__ short hidden[5]; }
__global__ void k(int* x) { x[0] = counter; }
)"));
  REQUIRE(module->globals.size() == 5);
  CHECK(find_global(*module, "coef").type == "float [4]");
  CHECK(find_global(*module, "coef").bytes == 16);
  CHECK(find_global(*module, "counter").type == "int");
  CHECK(find_global(*module, "table").type == "double [2][3]");
  CHECK(find_global(*module, "ns::q").type == "Q");
  CHECK(find_global(*module, "ns::q").bytes == 8);
  CHECK(find_global(*module, "hidden").type == "short [5]");
  // They are all in the image, too.
  const std::vector<PtxGlobal> in_image = read_cubin_globals(module->image);
  CHECK(in_image.size() == 5);
  for (const GlobalEntry& global : module->globals)
    CHECK(std::ranges::any_of(
        in_image, [&](const PtxGlobal& g) { return g.symbol == global.symbol && g.bytes == global.bytes; }));
  CHECK_NOTHROW(check_binary(module->image));
  for (std::size_t cut = 0; cut < module->image.size(); cut += 97) {
    const std::string_view part = std::string_view(module->image).substr(0, cut);
    read_cubin_globals(part);
    CHECK_THROWS_AS(check_binary(part), Error);
  }
}

TEST_CASE_METHOD(Fixture, "printf's strings are no variables", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto module = compile(Source(R"(__global__ void k(int x) { printf("%d\n", x); })"));
  CHECK(module->globals.empty());
  CHECK(module->kernels.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a signature that cannot be had falls back to sizes", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  // Its symbol does not tell the namespace, so decltype(plain) names nothing.
  const auto module =
      compile(Source(R"(namespace ns { extern "C" __global__ void plain(float a, const double* x) {} })"));
  const Signature& signature = find_kernel(*module, "plain").signature;
  REQUIRE(signature.parameters.size() == 2);
  CHECK(signature.parameters[0].kind == ParameterKind::unknown);
  CHECK(signature.parameters[0].size == 4);
  CHECK(signature.parameters[1].size == 8);
}

TEST_CASE_METHOD(Fixture, "messages point into the script", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const Error error =
      failure(Source("\n__global__ void f() {\n  int x = undefined_name;\n}").at("a dir/my \"q\" s.lua", 40));
  CHECK(error.kind() == ErrorKind::compile);
  const std::string text = error.what();
  CHECK(text.starts_with("[compile] the kernel source does not compile:\n"));
  CHECK(text.find("a dir/my \"q\" s.lua:42: error: identifier \"undefined_name\" is undefined") != std::string::npos);

  CHECK(text.find("detected in the compilation") == std::string::npos);

  // Warnings are not among the errors.
  const std::string warned = failure(Source("__global__ void f() { int unused; missing; }")).what();
  CHECK(warned.find("warning") == std::string::npos);

  // Fault with the names besides does not hide that.
  const std::string both = failure(Source("int x = y;").with_names({"nothing"})).what();
  CHECK(both.starts_with("[compile] the kernel source does not compile:\n"));

  const std::string option = failure(Source("").with_options({"--no-such-option"})).what();
  CHECK(option.find("--no-such-option") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "messages end with what the compiler does not know", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto hint = [this](const std::string& body) {
    const std::string text = failure(Source("__global__ void k(float* x) { " + body + " }")).what();
    const std::size_t at = text.find("\nhint: ");
    return at == text.npos ? std::string() : text.substr(at + 1);
  };
  CHECK(hint("curandState s;") == "hint: curandState is declared in a header: #include <curand_kernel.h>");
  CHECK(hint("__half h = __float2half(1.f);") == "hint: __half is declared in a header: #include <cuda_fp16.h>");
  CHECK(hint("cg::this_grid();").find("#include <cooperative_groups.h>") != std::string::npos);
  CHECK(hint("nvcuda::wmma::mma_sync();").find("#include <mma.h>") != std::string::npos);
  CHECK(hint("cudaMalloc(&x, 4);").starts_with("hint: cudaMalloc is for host programs"));
  CHECK(hint("__shfl_down(1, 2);").find("__shfl_down_sync(0xffffffff, ...)") != std::string::npos);
  CHECK(hint("float32 v = 1;") == "hint: float32 is float in C++");
  CHECK(hint("atomicMax(x, 1.f);").starts_with("hint: atomicMax is for integers"));
  CHECK(hint("return x[0];").starts_with("hint: kernels and the bodies of gpu.elementwise return nothing"));
  CHECK(hint("mine;").empty());
  const std::string host = failure(Source("void add(float* x) {}")).what();
  CHECK(
      host.ends_with("hint: functions of a kernel's source are kernels, __global__, or called by kernels, __device__"));
  const std::string header = failure(Source("#include <iostream>\n__global__ void k() { std::cout << 1; }")).what();
  CHECK(header.ends_with("hint: std::cout is for host programs: kernels print with printf"));
}

TEST_CASE_METHOD(Fixture, "a name that names no kernel is named", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const Error error = failure(Source("template <class T> __global__ void axpy(T a) {}")
                                  .with_names({"axpy<float>", "apxy<float>", "axpy<nosuch>"}));
  CHECK(error.kind() == ErrorKind::compile);
  const std::string text = error.what();
  CHECK(text.find("names: expected expressions that name a kernel") != std::string::npos);
  CHECK(text.find("\"apxy<float>\", \"axpy<nosuch>\"") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "defines, headers and options reach the compiler", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto module = compile(Source("#include \"my.h\"\n__global__ void k(real (*x)[N]) { (*x)[0] = EMPTY 1; }\n"
                                     "static_assert(__cplusplus >= 202002L);")
                                  .with_options({"-std=c++20"})
                                  .with_defines({{"N", "4"}, {"EMPTY", ""}})
                                  .with_headers({{"my.h", "typedef double real;"}}));
  CHECK(module->kernels.size() == 1);
}

TEST_CASE_METHOD(Fixture, "the toolkit's headers are found", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  with_toolkit_headers([&] {
    const auto module =
        compile(Source("#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
                       "__global__ void k(__half a, __half2* x) { cooperative_groups::this_grid(); }"));
    CHECK(signature_text(*module, "k") == "k(__half, __half2*)");
    CHECK(find_kernel(*module, "k").signature.parameters[0].dtype == DType::float16);
    CHECK(module->globals.empty());
    compile(
        Source("#include <curand_kernel.h>\n"
               "__global__ void r(float* x) { curandStatePhilox4_32_10_t s; curand_init(1, 0, 0, &s); "
               "x[0] = curand_uniform(&s); }"));
  });
}

TEST_CASE_METHOD(Fixture, "every architecture gives an image of its own", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const Source source = Source("__constant__ int c[3]; extern \"C\" __global__ void k(float* x) { x[0] = c[0]; }");
  for (const std::string architecture : {"sm_75", "sm_90", "sm_120"}) {
    Compiler other(config, architecture, 13000);
    const auto module = other.get(source, cache);
    CHECK(module->ptx.find(".target " + architecture) != std::string::npos);
    CHECK(signature_text(*module, "k") == "k(float*)");
    CHECK(find_global(*module, "c").type == "int [3]");
  }
  SECTION("the user's wins; a virtual one gives PTX") {
    KernelSource virtual_one = source;
    virtual_one.options = {"--gpu-architecture=compute_80"};
    const auto module = compile(virtual_one);
    CHECK(module->ptx.find(".target sm_80") != std::string::npos);
    CHECK(module->image == module->ptx);
    CHECK(find_global(*module, "c").type == "int [3]");
  }
}

TEST_CASE_METHOD(Fixture, "defines do not reach into the compiler's own headers", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  Source source("__global__ void k(T* x) {}");
  source.defines = {{"T", "double"}};
  CHECK(signature_text(*compile(source), "k") == "k(double*)");
}

TEST_CASE_METHOD(Fixture, "names that nvcc brings without an include", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const auto module =
      compile(Source("__constant__ float top = INFINITY;\n#include <tuple>\n"
                     "__global__ void k(int64_t* x, uint n) { x[0] = std::min<int64_t>(n, INT_MAX) + "
                     "std::get<0>(std::make_tuple(1)); }"));
  CHECK(signature_text(*module, "k") == "k(long long*, unsigned int)");
  CHECK(module->globals.size() == 1);
  SECTION("are the source's own where it declares them") {
    compile(
        Source("typedef long int64_t;\n#define M_PI 3\nconst float NAN = 1;\n"
               "namespace std { template <class T> struct is_same {}; }\n"
               "__global__ void k(long* x, int64_t* y) { x = y; *x = NAN + M_PI; }"));
  }
  SECTION("are there where the preprocessor leaves the source's declaration out") {
    compile(Source(
        "#ifdef _WIN32\ntypedef __int64 int64_t;\nnamespace std { int max(int); }\n#endif\nstruct uint { int v; };\n"
        "__global__ void k(int64_t* x, uint* y) { y->v = 3; *x = std::max(1, 2); }"));
    compile(Source("#define MOST(a, b) std::max(a, b)\n__global__ void k(int* x) { *x = MOST(1, 2); }"));
    const std::string message = failure(Source("#if 0\ntypedef char uint8_t;\n#endif\nstruct uint { int v; "
                                               "};\n__global__ void k(uint8_t* x) { missing; }")
                                            .at("script.lua", 20))
                                    .what();
    CHECK(message.find("script.lua:24: error: identifier \"missing\" is undefined") != std::string::npos);
  }
  SECTION("go together with the headers of host programs") {
    compile(
        Source("#include <cuda.h>\n#include <cuda_runtime.h>\n#include <cuda_profiler_api.h>\n"
               "static_assert(CUDA_VERSION >= 12000);\n__global__ void k(int* x) {}"));
  }
  SECTION("go together with members of host code") {
    compile(Source(
        "#include <atomic>\n#include <condition_variable>\n#include <cuda.h>\n#include <fstream>\n#include "
        "<functional>\n#include "
        "<iostream>\n"
        "#include <map>\n#include <memory>\n#include <mutex>\n#include <optional>\n#include <queue>\n#include <set>\n"
        "#include <stdexcept>\n#include <sys/syscall.h>\n#include <thread>\n#include <unordered_map>\n"
        "struct Failure : public std::runtime_error { explicit Failure(const std::string& why) : "
        "std::runtime_error(why) {} };\n"
        "struct Plan {\n"
        "  std::map<std::string, int> sizes; std::unordered_map<int, std::vector<float>> rows; std::set<int> kept;\n"
        "  std::shared_ptr<Plan> next; std::unique_ptr<float[]> buffer; std::function<int(const Plan&, float)> call;\n"
        "  std::optional<int> limit = std::nullopt; std::mutex lock; std::ofstream log; std::thread thread;\n"
        "  std::queue<int> queue; std::condition_variable ready; std::atomic<int> users; CUtexObject object; "
        "cudaLaunchConfig_t launch;\n"
        "  int size(const std::string& name) const { return sizes.find(name) != sizes.end() ? sizes.at(name) : 0; }\n"
        "  void add(const std::string& name) { std::lock_guard<std::mutex> held(lock); sizes[name] = 1; "
        "kept.insert(2); }\n"
        "  void show() { std::cout << \"size \" << kept.size() << std::endl; log.open(\"log\"); queue.push(1); }\n"
        "};\nstatic std::map<int, std::string> names;\n"
        "__global__ void k(int* x) { cudaGridDependencySynchronize(); *x = alignof(CUtensorMap); "
        "cudaTriggerProgrammaticLaunchCompletion(); }"));
  }
  SECTION("open braces in the branches of a condition") {
    compile(Source(
        "template <class T> void launch(Unheard of) {\n#ifdef WIDE\n  if (of.wide) {\n#else\n  if (of.narrow) {\n"
        "#endif\n  }\n}\n__global__ void k(int* x) { *x = 1; }"));
  }
  SECTION("are the user's headers where there are such") {
    compile(
        Source("#include <cstdint>\n__global__ void k(mine* x) {}").with_headers({{"cstdint", "typedef int mine;"}}));
  }
  SECTION("go together with the toolkit's") {
    with_toolkit_headers([&] {
      compile(
          Source("#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <limits>\n#include <cstdint>\n"
                 "__global__ void k(uint64_t* x) { *x = std::numeric_limits<uint64_t>::max(); }"));
      compile(
          Source("#include <cooperative_groups/reduce.h>\n#include <tuple>\n"
                 "__global__ void k(int* x) { auto [a, b] = std::make_tuple(1, 2); *x = a + b; }"));
    });
  }
}

TEST_CASE_METHOD(Fixture, "a missing NVRTC", "[cuda]") {
  Config nowhere;
  nowhere.default_cuda_home = "/nowhere";
  Compiler without(nowhere, "sm_90", 13000);
  try {
    without.get(Source("__global__ void k() {}"), cache);
    WARN("skipped: the loader finds an NVRTC by itself");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
    CHECK(std::string(error.what()).find("install the CUDA toolkit's NVRTC") != std::string::npos);
  }
}

TEST_CASE_METHOD(Fixture, "a device newer than NVRTC", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  Compiler future(config, "sm_999", 13000);
  try {
    future.get(Source("__global__ void k() {}"), cache);
    FAIL("it compiled");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
    CHECK(std::string(error.what()).find("expected an NVRTC that knows sm_999") != std::string::npos);
  }
}

TEST_CASE_METHOD(Fixture, "a warm start does not load NVRTC", "[cuda][nvrtc]") {
  if (!has_nvrtc()) return;
  const fs::path folder = fs::temp_directory_path() / ("gpulua-compiler-" + std::to_string(::getpid()));
  fs::create_directories(folder / "include");
  std::ofstream(folder / "include/value.h") << "#define VALUE 1\n";
  const Source source = Source("#include <value.h>\n__global__ void k(int* x) { x[0] = VALUE; }")
                            .with_include_dirs({(folder / "include").string()});
  const auto compile_anew = [&](Compiler& fresh) {
    KernelCache disk(folder / "cache", 1 << 20);
    return fresh.get(source, disk);
  };
  Compiler cold(config, "sm_90", 13000), warm(config, "sm_90", 13000), changed(config, "sm_90", 13000),
      other(config, "sm_80", 13000);
  const auto first = compile_anew(cold);
  CHECK(cold.nvrtc_version() >= 12000);
  const auto second = compile_anew(warm);
  CHECK(warm.nvrtc_version() == 0);
  CHECK(second->image == first->image);
  CHECK(second->kernels.size() == 1);

  compile_anew(other);
  CHECK(other.nvrtc_version() != 0);

  std::ofstream(folder / "include/value.h") << "#define VALUE 2\n";
  CHECK(compile_anew(changed)->image != first->image);
  CHECK(changed.nvrtc_version() != 0);
  fs::remove_all(folder);
}

TEST_CASE("library names fit the driver first", "[cuda][nvrtc]") {
  CHECK(toolkit_library_names("libnvrtc", 13000) == std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12"});
  CHECK(toolkit_library_names("libnvrtc", 12040) == std::vector<std::string>{"libnvrtc.so.12", "libnvrtc.so.13"});
  CHECK(toolkit_library_names("libnvrtc", 99000) == std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12"});
}
