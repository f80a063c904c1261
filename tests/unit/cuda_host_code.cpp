// What nvcc takes beside kernels, by NVRTC: it needs no GPU.

#include <string>

#include "src/base/error.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/shared/compound_literals.h"
#include "tests/catch.h"
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
    CHECK(compiled(
              "#include <string>\n#include <vector>\n#include <algorithm>\nstatic std::vector<float> kept;\n"
              "struct Host { std::vector<std::string> names; std::string path = \"p\"; Host(int n) : names(n) {} };\n"
              "std::vector<float> f(int n) {\n"
              "  std::vector<float> v(n, 1.f), w{1, 2};\n"
              "  v.push_back(2); for (float& x : v) x += w[0];\n"
              "  std::sort(v.begin(), v.end()); kept = v; w.insert(w.end(), v.begin(), v.end()); return w;\n}\n"
              "std::string g(const std::string& a) { return a == \"b\" ? \"c\" + a + std::to_string(3) : a; }" +
              kernel) == "k ");
    CHECK(
        compiled(
            "template <class T> struct alignas(16) Four { T v[4]; __device__ T sum() const { return v[0] + v[3]; } };\n"
            "union Pair { struct __align__(4) { short first, second; }; unsigned both; };\n"
            "struct Host { cudaStream_t s; Host(int n) { cudaStreamCreate(&s); launch_all(n); }\n"
            "  ~Host() { cudaStreamDestroy(s); } int all() { return launch_all(1) + launch_all(2); } };\n"
            "void use(Unheard) {}\n"
            "__global__ void k(int* x) { Pair p; p.both = 1; *x = p.first + Four<int>{{1, 2, 3, 4}}.sum(); }") == "k ");
    // Variables of hosts, and functions that launch kernels.
    CHECK(compiled("#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\nenum Mode { fast, slow };\n"
                   "int count; float* kept = make_all(3);\nstatic const int two = 2;\n"
                   "#define ROUND(x) helper_of_hosts(x)\nint MOST = ROUND(3), other;\n"
                   "extern \"C\" void run(int* x, enum Mode mode) { k<<<1, 1>>>(x); count = MOST; }\n"
                   "__global__ void k(int* x) { *x = two; cg::this_thread_block().sync(); }") == "k ");
    // Kernels in a header alone; templates without an instance.
    CHECK(compiled("#include \"mine.h\"\nint main() { cudaDeviceReset(); }", kernel) == "k ");
    CHECK(compiled(
              "template <class T> __global__ void t(T* x) {}\nint count = 1;\nint main() { return cudaDeviceReset(); }")
              .empty());
    // A kernel that calls a host's member is refused.
    CHECK(compiled("struct V { int x; int twice() { return helper_of_hosts(x) + helper_of_hosts(x); } };\nvoid "
                   "use(Unheard) {}\n"
                   "__global__ void k(int* x) { V v{1}; *x = v.twice(); }")
              .find("mark those that they call") != std::string::npos);
    CHECK(compiled("__global__ void k(float* x) { register int i = threadIdx.x; x[i] = i; }") == "k ");
    CHECK(
        compiled("struct V { float x, y; V operator-(V o) const { return (V) {x - o.x, y}; } };\n#include \"mine.h\"\n"
                 "#define BOTH(a) (struct V) {a, a}\n"
                 "__global__ void k(V* v) { v[0] = (V) {1, 2}; v[1] = BOTH(3); v[2] = one(); }",
                 "__device__ V one() { return (V){1, 1}; }") == "k ");
  });
}

TEST_CASE("what no kernel uses is left out", "[cuda][nvrtc]") {
  with_nvrtc([] {
    const std::string kernel = "\n__global__ void k(int* x) { *x = 1; }";
    // Libraries for hosts, variables that only hosts can compute, C's initialisers, marks that are not known.
    CHECK(compiled("#include <thrust/device_vector.h>\n#include <random>\nthrust::device_vector<int> kept;\n"
                   "class Host { std::mt19937 engine; thrust::host_vector<int> v; void f(Unheard); };" +
                   kernel) == "k ");
    CHECK(compiled("double start();\nconst double begun = start() * 2;\nstruct Config { int code, more; };\n"
                   "EXPORTED void f() { Config c = {.code = strlen(\"a\"), .more = 2}; cudaMalloc(&c, 3); }\n"
                   "#define EXPORTED\n" +
                   kernel) == "k ");
    CHECK(compiled("#include <helper_timer.h>\nStopWatchInterface* timer = 0;\nvoid f() { sdkStartTimer(&timer); }" +
                   kernel) == "k ");
    CHECK(compiled("#include <chrono>\nusing namespace std;\nusing namespace chrono;\n"
                   "struct Host { std::chrono::time_point<std::chrono::system_clock> began; };" +
                   kernel) == "k ");
    CHECK(compiled("typedef struct Pair { int a, b; } Pair, *PairPointer;\nvoid use(Unheard) {}\n"
                   "__global__ void k(PairPointer p) { p->a = p->b; }") == "k ");
    CHECK(compiled("#include <wchar.h>\nvoid f(const wchar_t* name) { register_name(name); }" + kernel) == "k ");
    // Of a type that a kernel uses, members for hosts.
    CHECK(
        compiled(
            "struct A { int n; A(std::mt19937& e) : n(e()) {} void save(Unheard u); __device__ int get() { return n; }"
            " };\n__global__ void k(A a, int* x) { *x = a.get(); }") == "k ");
    // Kernels that macros make.
    CHECK(compiled("struct Host { Unheard u; };\n#define MAKE(name) __global__ void name(int* x) { *x = 1; }\n"
                   "MAKE(a)\nMAKE(b)\n") == "a b ");
    CHECK(compiled("struct Host { Unheard u; };\n__global__ void k(int* x) {\n  *x = missing; }")
              .find("identifier \"missing\" is undefined") != std::string::npos);
  });
}

TEST_CASE("host libraries that kernels mention by name alone", "[cuda][nvrtc]") {
  with_nvrtc([] {
    const auto with_header = [](const std::string& header, const std::string& kernel) {
      return compiled("#include \"mine.h\"\nvoid use(Unheard) {}\n" + kernel, header);
    };
    // A kernel's `format` and `view` are others than the library's, whose parts need what is not there.
    const std::string library =
        "#define CALLED inline\n"
        "namespace lib {\ntemplate <int n, bool packed> struct format;\n"
        "template <int n> struct format<n, std::unheard<n>::value> { int x; };\n"
        "struct view : std::unheard_view { std::unheard begin(); };\n"
        "typedef std::unheard_iterator iterator;\n"
        "CALLED view make(iterator i) { try { return view(i); } catch (...) { throw; } }\n}\n";
    CHECK(with_header(library,
                      "template <class T> struct box { using iterator = T*; T format(T x) const { return x; } };\n"
                      "__global__ void k(int* x, int view, int make) { box<int>::iterator i = x; *i = view + make; int "
                      "format = 1; *x += format; }") == "k ");
    // Of a type that a kernel uses, an alias of what is not there.
    CHECK(compiled("template <class T> struct array { T v[2]; using back = std::unheard<T*>; __device__ T first() { "
                   "return v[0]; } };\nvoid use(Unheard) {}\n__global__ void k(array<int> a, int* x) { *x = a.first(); "
                   "}") == "k ");
    // What a kernel needs is not replaced by what has the same name: another type, a template's other definitions.
    CHECK(compiled("struct T { int n; };\nnamespace n {\nusing T = std::unheard;\n__global__ void k(T* x) { x->n = 1; "
                   "}\n}\nvoid use(Unheard) {}")
              .find("error: ") != std::string::npos);
    CHECK(compiled("template <class T> struct size { static const int n = 1; };\n"
                   "template <> struct size<float> : std::unheard { static const int n = 2; };\n"
                   "__global__ void k(int* x) { *x = size<float>::n; }\nvoid use(Unheard) {}")
              .find("\"unheard\"") != std::string::npos);
    // Assertions hold, and device functions are not left out.
    CHECK(compiled("static_assert(sizeof(int) == 5, \"size\");\n__global__ void k(int* x) { *x = 1; }\nvoid "
                   "use(Unheard) {}")
              .find("static assertion failed") != std::string::npos);
    CHECK(compiled("__device__ int f(long x) { return 1; }\n__device__ int f(int x) { return missing; }\n"
                   "__global__ void k(int* x) { *x = f(1); }\nvoid use(Unheard) {}")
              .find("script.lua:2: error: identifier \"missing\" is undefined") != std::string::npos);
  });
}

TEST_CASE("what comes from nvcc's host compiler", "[cuda][nvrtc]") {
  with_nvrtc([] {
    CHECK(compiled("#if !defined(__linux__) || !defined(__unix__)\n#error system\n#endif\n#include <unistd.h>\n"
                   "#if _POSIX_VERSION < 200112L\n#error version\n#endif\n__global__ void k(int* x) { *x = 1; }") ==
          "k ");
    CHECK(compiled("#include <bits/stdc++.h>\nusing namespace std;\nint main() { cout << vector<int>{1, 2}.size(); }\n"
                   "__global__ void k(int* x) { *x = max(*x, 1); }") == "k ");
    CHECK(compiled("struct Event { int code; float value; };\n"
                   "__global__ void k(Event* e) { *e = Event{.code = 1, .value = 2}; }\nvoid use(Unheard) {}") == "k ");
    CHECK(compiled("#include <cblas.h>\n#include <cxxabi.h>\n#include <syslog.h>\n#include <fmt/format.h>\n"
                   "void f() { cblas_daxpy(1); }\n__global__ void k(int* x) { *x = 1; }") == "k ");
  });
}

TEST_CASE("traits by functions without a body", "[cuda][nvrtc]") {
  with_nvrtc([] {
    CHECK(compiled("template <int n> struct number { static const int value = n; };\n"
                   "template <class T> auto find(T*) -> number<sizeof(T)>;\nauto find(...) -> number<0>;\n"
                   "template <class T> struct size_of : decltype(find((T*)0)) {};\nvoid use(Unheard) {}\n"
                   "__global__ void k(int* x) { *x = size_of<int>::value; }") == "k ");
  });
}

TEST_CASE("options of nvcc", "[cuda][nvrtc]") {
  with_nvrtc([] {
    KernelCache cache{"", 0};
    cuda::Compiler compiler{Config::from_environment(), "sm_90", 13000};
    KernelSource source;
    source.text = "template <class F> __global__ void k(F f) { f(); }\n";
    for (const char* option :
         {"--extended-lambda", "-extended-lambda", "--expt-extended-lambda", "--expt-relaxed-constexpr"}) {
      source.options = {option};
      CHECK_NOTHROW(compiler.get(source, cache));
    }
  });
}

TEST_CASE("thrust::complex", "[cuda][nvrtc]") {
  with_nvrtc([] {
    for (const std::string part : {"float", "double"})
      CHECK(compiled("#include <thrust/complex.h>\nusing T = " + part + R"(;
          typedef thrust::complex<T> C;
          __host__ void f() { C z(1, 2); z = thrust::sqrt(z) * 2; }
          __global__ void k(C* out, const C* in) {
            __shared__ C kept[4];
            C z = in[0], w = z;
            w += z; w -= 1; w *= 2; w /= thrust::complex<double>(1, 1); w = 3; w = thrust::complex<float>(1, 2);
            kept[threadIdx.x] = z; w.real(4); w.imag(2);
            C a = 2 * z + z * 2.5 - z / 3 + 1.0f / z - (-z) + +z;
            a += pow(z, 2) + pow(2.5f, z) + pow(z, z) + thrust::polar(T(1), 2.0) + thrust::polar(T(2)) + kept[1];
            a += abs(z) + arg(z) + norm(z) + conj(z) + proj(z) + exp(z) + log(z) + log10(z) + sqrt(z) + sin(z) + cos(z);
            a += tan(z) + sinh(z) + cosh(z) + tanh(z) + asin(z) + acos(z) + atan(z) + asinh(z) + acosh(z) + atanh(z);
            out[0] = z == w || z != 2 || 2 == z ? a : w;
          })") == "k ");
  });
}

TEST_CASE("errors beside host code", "[cuda][nvrtc]") {
  with_nvrtc([] {
    const std::string message = compiled("void f() {}\n__global__ void k(int* x) {\n  *x = missing;\n}");
    CHECK(message.find("script.lua:3: error: identifier \"missing\" is undefined") != std::string::npos);
    CHECK(message.find("JIT mode") == std::string::npos);
    CHECK(compiled("#include <stdio.h>\n__global__ void k(int* x) { fprintf(stderr, \"\"); }")
              .find("\nhint: fprintf is for host programs: kernels have printf") != std::string::npos);
    for (const char* use :
         {"*x = v->size();", "v->push_back(1);", "*x = (*v)[1];", "std::vector<int> w(3); *x = w.at(0);"})
      CHECK(compiled("#include <vector>\n__global__ void k(int* x, std::vector<int>* v) { " + std::string(use) + " }")
                .find("\nhint: std::vector is for host programs: kernels have pointers") != std::string::npos);
    CHECK(compiled("#include <string>\n__global__ void k(int* x) { std::string s(\"a\"); *x = s.size(); }")
              .find("\nhint: std::string is for host programs: kernels have pointers") != std::string::npos);
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
