// What nvcc takes beside kernels, by NVRTC: it needs no GPU.

#include <catch2/catch.hpp>

#include <string>

#include "src/base/error.h"
#include "src/device/cuda/cuda_compiler.h"
#include "src/device/shared/compound_literals.h"
#include "tests/unit/cuda_nvrtc.h"

using namespace gpulua;

namespace {

/// The names of the kernels that NVRTC makes of `text`, or the message that it gives.
std::string compiled(const std::string& text, const std::string& header = "") {
  KernelCache cache{"", 0};
  cuda::Compiler compiler{Config::from_environment(), "sm_90", 13000};
  KernelSource source;
  source.text = text;
  source.file = "script.lua";
  source.headers = {{"mine.h", header}};
  try {
    std::string names;
    for (const KernelEntry& kernel : compiler.get(source, cache)->kernels) names += kernel.name + " ";
    return names;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::compile) throw;
    return error.what();
  }
}

}  // namespace

TEST_CASE("host code beside kernels", "[cuda][nvrtc]") {
  with_nvrtc([] {
    const std::string kernel = "\n__global__ void k(int* x) { *x = 1; }";
    CHECK(compiled("struct Box { float a[9]; void invert(); };" + kernel) == "k ");
    CHECK(compiled("static int count = 3;\nvoid prepare(int n) { count += n; }\nint main() { prepare(3); }" + kernel) ==
          "k ");
    CHECK(compiled("__host__ void f() {}\n__host__ __device__ int g() { return 1; }\n"
                   "__global__ void k(int* x) { *x = g(); }") == "k ");
    CHECK(compiled("#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nextern \"C\" int save(FILE* f);\n"
                   "static void complain() { fprintf(stderr, \"no\\n\"); srand(time(0)); exit(1); }" +
                   kernel) == "k ");
    CHECK(compiled("__global__ void k(float* x) { register int i = threadIdx.x; x[i] = i; }") == "k ");
    CHECK(
        compiled("struct V { float x, y; V operator-(V o) const { return (V) {x - o.x, y}; } };\n#include \"mine.h\"\n"
                 "#define BOTH(a) (struct V) {a, a}\n"
                 "__global__ void k(V* v) { v[0] = (V) {1, 2}; v[1] = BOTH(3); v[2] = one(); }",
                 "__device__ V one() { return (V){1, 1}; }") == "k ");
  });
}

TEST_CASE("errors beside host code", "[cuda][nvrtc]") {
  with_nvrtc([] {
    const std::string message = compiled("void f() {}\n__global__ void k(int* x) {\n  *x = missing;\n}");
    CHECK(message.find("script.lua:3: error: identifier \"missing\" is undefined") != std::string::npos);
    CHECK(message.find("JIT mode") == std::string::npos);
    CHECK(compiled("#include <stdio.h>\n__global__ void k(int* x) { fprintf(stderr, \"\"); }")
              .find("\nhint: fprintf is for host programs: kernels have printf") != std::string::npos);
  });
}

TEST_CASE("compound literals", "[base]") {
  CHECK(with_typed_braces("v = (V) {1, 2};\nreturn (const ns::P<int, 3>){};") ==
        "v = gpulua_typed<V> {1, 2};\nreturn gpulua_typed<const ns::P<int, 3>>{};");
  CHECK(with_typed_braces("f((struct V){1}, (float[]) {1})") ==
        "f(gpulua_typed<struct V>{1}, gpulua_typed<float[]> {1})");
  CHECK(with_typed_braces("#define C(a) (V){a}\n#define D \\\n  (V){}\n#define E 1 + (V){}") ==
        "#define C(a) gpulua_typed<V>{a}\n#define D \\\n  gpulua_typed<V>{}\n#define E 1 + gpulua_typed<V>{}");
  CHECK(with_typed_braces("x = (V){(W){1}, 2}") == "x = gpulua_typed<V>{gpulua_typed<W>{1}, 2}");
  for (const char* same :
       {"if (x) { }", "void f(V) { }", "V operator-(V a) { }", "bool operator<=(const V a) { }",
        "auto f = [=](int) { };", "#define IF(x) if (x) {", "// = (V) {1}\n\"= (V) {1}\"", "R\"(= (V) {1})\"",
        "template <> void f<int>(int) { }", "while (a && (b)) { }", "for (;;) { }", "#if (X) \n{\n#endif",
        "struct A { A() : b(c) { } };", "x = (a + b);", "= (V"})
    CHECK(with_typed_braces(same) == same);
}
