
#include "src/device/shared/source_functions.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

std::string listed(const std::string& text) {
  std::string list;
  for (const SourceFunction& function : source_functions(text)) {
    list += std::string(function.is_template ? "template " : "") + (function.is_kernel ? "kernel " : "") +
            function.name + "(";
    for (const std::string& parameter : function.parameters) list += parameter + ",";
    list += ") ";
  }
  return list;
}

}  // namespace

TEST_CASE("functions are found in a source's text") {
  CHECK(listed("__global__ void k(const float* __restrict__ x, unsigned n) { if (n) { x[0]; } }") == "kernel k(x,n,) ");
  CHECK(listed("extern \"C\" __global__ void k(void) {} int f() { return 1; }") == "kernel k() f() ");
  CHECK(listed("namespace a { namespace b { __global__ void k(P p) {} } } extern \"C\" { __global__ void m(int i = "
               "f(1, 2)) {} }") == "kernel k(p,) kernel m(i,) ");
  CHECK(listed("template <class T, int n = 3> __global__ void __launch_bounds__(256, 2) k(T x[], std::pair<int, T> y, "
               "float) {}") == "template kernel k(x,y,,) ");
  CHECK(listed("// __global__ void a() {}\n/* void b() {} */\n#define F void c() {}\nchar* s = \"void d() {\"; struct "
               "P { void e() {} };")
            .empty());
  CHECK(listed("int table[] = {1, 2}; __constant__ float t[2] = {f(1), 2}; __global__ void declared(int x);").empty());
  CHECK(listed("__global__ void k(float* x) { x[1'000] = 1; } void f() { char* s = R\"(\"})\"; }") ==
        "kernel k(x,) f() ");
  for (const char* broken :
       {"", "}", "{", "(", "void k(", "void k() {", "/*", "\"", "template <", "#", "#\\", "__global__ void"})
    CHECK(listed(std::string(broken)).size() < 20);
}

TEST_CASE("a kernel's parameters have their names") {
  const std::string text =
      "namespace a { template <class T> __global__ void axpy(T a, T* x) {} } __global__ void axpy(int) {}";
  CHECK(parameter_name(text, "a::axpy<float>", 2, 1) == "x");
  CHECK(parameter_name(text, "axpy", 1, 0).empty());
  CHECK(parameter_name(text, "axpy", 3, 0).empty());
  CHECK(parameter_name("__global__ void k(int a) {} __global__ void k(float b) {}", "k", 1, 0).empty());
}

TEST_CASE("the parameters that a kernel assigns are known") {
  const auto written = [](const std::string& body) {
    return written_parameters("__global__ void k(float* a, float* b) {" + body + "}", "k", 2);
  };
  const auto only_a = std::vector<bool>{true, false}, none = std::vector<bool>{false, false};
  for (const char* body :
       {"a[i] = b[i];", "if (i < n) a[b[i]] = 1;", "*a = b[0];", "for (;;) { *a += 1; }", "a[0]++;", "a[i].x = b[1];",
        "a[i] <<= 1;", "a[i] -= b[i] == 1;", "atomicAdd(&a[i], b[i]);", "atomicMax(a, 1);", "atomicAdd(a + i, 1);"})
    CHECK(written(body) == only_a);
  for (const char* body : {"if (a[i] == b[i]) printf(\"a\");", "x = a[i] <= b[i];", "float x = c * a;", "s.a[0] = 1;",
                           "store(a, 1);", "a += 1;", "x = *a;", "// a[i] = 1\n", "x = a[i] >= 2 || b[i] != 1;"})
    CHECK(written(body) == none);
  const std::string twice =
      "namespace x { __global__ void k(int* a) { *a = 1; } } __global__ void k(int* a) { *a = 1; }";
  CHECK(written_parameters(twice, "k", 1) == std::vector<bool>{false});
  CHECK(written_parameters("#if A\n#endif\n__global__ void k(int* a) { *a = 1; }", "k", 1) == std::vector<bool>{false});
}

TEST_CASE("kernels with dynamic shared memory are known") {
  const auto uses = [](const std::string& text) { return uses_dynamic_shared(text, "k"); };
  CHECK(uses("__global__ void k() { extern __shared__ float s[]; s[0] = 1; }"));
  CHECK(uses("__global__ void k() { extern __shared__ __align__(16) char s[]; s[0] = 1; }"));
  CHECK(uses("extern __shared__ float s[]; __global__ void k() { s[0] = 1; }"));
  CHECK(
      uses("extern __shared__ float s[]; __device__ void f() { s[0] = 1; } __device__ void g() { f(); } __global__ "
           "void k() { g(); }"));
  CHECK(
      uses("template <class T> struct Shared { __device__ operator T*() { extern __shared__ int s[]; return (T*)s; } };"
           "template <class T> __global__ void k(T* x) { T* s = Shared<T>(); s[0] = x[0]; }"));
  CHECK(uses("__global__ void k() { extern __shared__ float s[][4]; s[0][0] = 1; }"));
  CHECK_FALSE(uses("__global__ void k(float* x) { extern __shared__ float s[2][4]; s[0][0] = 1; float* p[] = {x}; }"));
  CHECK_FALSE(uses("extern __shared__ float s[4]; __global__ void k() { s[0] = 1; }"));
  CHECK_FALSE(uses("struct S { int v; }; __global__ void k() { extern __shared__ S s; s.v = 1; }"));
  CHECK_FALSE(uses("extern __shared__ float s[]; __global__ void k(float* x) { x[0] = 1; }"));
  CHECK_FALSE(uses(
      "__device__ void f() { extern __shared__ float s[]; s[0] = 1; } __global__ void k() { int f = 3; f += 1; }"));
  CHECK_FALSE(uses("extern \"C\" __global__ void k() { __shared__ float s[4]; s[0] = 1; }"));
  CHECK_FALSE(uses("// extern __shared__ float s[];\n__global__ void k() {}"));
  // Which version the compiler takes is not known.
  CHECK_FALSE(uses("#ifdef A\n__global__ void k() { extern __shared__ float s[]; s[0] = 1; }\n#endif\n"));
}

TEST_CASE("the members of structs are known where they are plain") {
  const auto members = [](const std::string& body) {
    return struct_members("namespace n { struct Range { " + body + " }; } __global__ void k(n::Range r) {}",
                          "n::Range");
  };
  CHECK(members("float low, high;") == "float low, high;");
  CHECK(members("float m[4][2]; // rows\n const unsigned char* p;") == "float m[4][2]; const unsigned char* p;");
  CHECK(members("float3 v; uint2 a[4]; double4 d;") ==
        "struct { float x, y, z; } v; struct __attribute__((aligned(8))) { unsigned int x, y; } a[4]; struct "
        "__attribute__((aligned(16))) { double x, y, z, w; } d;");
  CHECK(members("Other* next; int n;") == "void* next; int n;");
  CHECK(members("Other o;").empty());
  CHECK(members("float5 v;").empty());
  CHECK(members("float x; __device__ float f() { return x; }").empty());
  CHECK(members("int flag : 1;").empty());
  CHECK(members("float x = 1;").empty());
  CHECK(struct_members("struct A { int a; };", "B").empty());
  CHECK(struct_members("typedef struct { int a; } A; struct B { A one[2]; float b; };", "B") ==
        "struct { int a; } one[2]; float b;");
  CHECK(struct_members("typedef struct tag { int a; } A;", "A") == "int a;");
  CHECK(struct_members("struct A { A a; };", "A").empty());
  for (const char* text : {"struct A : B { int a; };", "struct __align__(16) A { int a; };", "struct alignas(8) A { int a; };",
                           "struct A { int a; } __attribute__((packed));", "union A { int a; float b; };",
                           "#pragma pack(1)\nstruct A { char c; int a; };", "struct A {\n#if 1\nint a;\n#endif\n};"})
    CHECK(struct_members(text, "A").empty());
  CHECK(struct_members("template <class T> struct A { T a; };", "A<float>").empty());
  CHECK(struct_members("struct A { int a; }; namespace n { struct A { int b; }; }", "A").empty());
}
