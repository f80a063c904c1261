// What is left of a source with only what kernels use. Blanks and line ends do not count.

#include "src/device/shared/used_code.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "src/device/shared/host_code.h"
#include "src/device/shared/included_headers.h"
#include "tests/catch.h"
#include "tests/unit/temporary_directory.h"

using namespace gpulua;

namespace {

std::string words_of(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank || (!result.empty() && result.back() != ' ')) result.push_back(is_blank ? ' ' : c);
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string used(const std::string& text) {
  KernelSource source;
  source.text = text;
  return words_of(UsedCode(source).used().text);
}

const std::string kernel = "__global__ void k(int* x) { *x = 1; }";

}  // namespace

TEST_CASE("declarations that kernels do not mention are left out", "[used_code]") {
  for (const std::string unused : {
           "struct Box { Unheard x; };",
           "class Box : public Base<int> { public: Box(int n) : n_{n} { f(); } private: int n_; };",
           "struct Box;",
           "typedef struct Box { int a; } Box_t, *Boxes;",
           "enum Mode { fast, slow = 3 };",
           "using Clock = unheard::clock;",
           "template <class T> using List = unheard<T>;",
           "typedef int (*Callback)(int n);",
           "void f(int n = 3) { if (n) { g(); } }",
           "static inline bool operator==(const Box& a, const Box& b) { return a.n == b.n; } struct Box { int n; };",
           "bool Box::operator<(const Box& b) { return n < b.n; } struct Box { int n; };",
           "template <class T, class = enable_if_t<sizeof(T) == 4>> T f(T x) { return x; }",
           "template <class T> enable_if_t<a != b, int> f(T x) { return x; } ",
           "template void f<int>(int*);",
           "const double table[] = {f(1), 2}, other = 3;",
           "static Unheard value(3);",
           "auto f = [](int x) { return x; };",
           "extern int count, *numbers;",
           "namespace short_name = unheard;",
           "static_assert(sizeof(Box) == 4, \"size\"); struct Box { int a; };",
           "struct alignas(16) Box { int a; };",
           "template <> struct Box<int> { int a; }; template <class T> struct Box;",
       })
    CHECK(used(unused + "\n" + kernel) == kernel);
}

TEST_CASE("what kernels mention stays, and what that mentions", "[used_code]") {
  for (const std::string text : {
           "struct A { int n; }; struct B : A {}; __global__ void k(B b) {}",
           "typedef struct { int n; } A, *Pointer; __global__ void k(Pointer p) {}",
           "enum Mode { fast, slow }; __global__ void k(int* x) { *x = slow; }",
           "constexpr int two = 2; __device__ int f() { return two; } __global__ void k(int* x) { *x = f(); }",
           "template <class T> __device__ T f(T x) { return x; } template <> __device__ int f(int x) { return g(x); } "
           "__device__ int g(int x); __global__ void k(int* x) { *x = f(1); }",
           "struct A { int n; }; __device__ A operator+(A a, A b) { return a; } __global__ void k(A* a) { *a = *a + "
           "*a; }",
           "__device__ float2 operator+(float2 a, float2 b) { return a; } __global__ void k() {}",
           "namespace n { struct A {}; } using namespace n; __global__ void k(A a) {}",
           "__constant__ float table[4]; __device__ int count; __global__ void k() {}",
           "__device__ int for_other_parts(int x) { return x; } __global__ void k() {}",
           "extern \"C\" { struct A {}; __global__ void k(A a) {} }",
           "template <class T> __global__ void k(T* x) {} template __global__ void k<int>(int*);",
       })
    CHECK(used(text) == text);
}

TEST_CASE("macros are followed", "[used_code]") {
  for (const std::string text : {
           "#define KERNEL __global__\nKERNEL void k(int* x) { *x = 1; }",
           "struct A {};\n#define TYPE A\n__global__ void k(TYPE a) {}",
           "#define MAKE(name) __global__ void name(int* x) { *x = 1; }\nMAKE(a)\nMAKE(b)",
           "#define DEFINE(name) struct name##2 { int x, y; };\nDEFINE(pair)\nDEFINE(other)\n"
           "__global__ void k(pair p, other o) {}",
           "#define BEGIN namespace n {\n#define END }\nBEGIN\nstruct A {};\nEND\n__global__ void k(n::A a) {}",
       })
    CHECK(used(text) == words_of(text));
  CHECK(used("#define EXPORT(T) template void host<T>(T*);\nnamespace n {\nEXPORT(int)\nEXPORT(float)\n}\n" + kernel) ==
        "#define EXPORT(T) template void host<T>(T*); namespace n { } " + kernel);
  // A macro that ends a declaration may stand before another macro.
  CHECK(
      used("#define TYPE(x) typedef struct x x;\n#define INLINE static __device__\nstruct A {};\nTYPE(A)\nINLINE A f() "
           "{ "
           "return A(); }\n__global__ void k() { f(); }") ==
      "#define TYPE(x) typedef struct x x; #define INLINE static __device__ struct A {}; TYPE(A) INLINE A f() { return "
      "A(); } __global__ void k() { f(); }");
  // Conditions are not evaluated.
  CHECK(used("#ifdef A\nvoid f(int x) {\n#else\nvoid f(float x) {\n#endif\n  g(x); }\n" + kernel) ==
        "#ifdef A #else #endif " + kernel);
}

TEST_CASE("members of a type for hosts are left out where no kernel calls them", "[used_code]") {
  const std::string rest = "__global__ void k(A a, int* x) { *x = a.size(); }";
  CHECK(used("struct A { int n; A(Unheard u) : n{1}, m(2) {} void save(Unheard u) const; bool operator==(Other o); "
             "__device__ int size() { return n; } };\n" +
             rest) == "struct A { int n; __device__ int size() { return n; } }; " + rest);
  // A copy would be another without these, and friends have the members' rights.
  const std::string kept =
      "struct A { A(); A(const A& a); A& operator=(const A& a); ~A(); friend void f(A a); int size(); int n; }; ";
  CHECK(used(kept + rest) == kept + rest);
  CHECK(used("struct A { struct B { void load(Unheard u); int n; } b; int size(); }; " + rest) ==
        "struct A { struct B { int n; } b; int size(); }; " + rest);
}

TEST_CASE("what a compiler stops at is left out", "[used_code]") {
  KernelSource source;
  source.file = "a.cu";
  source.line = 10;
  source.headers = {{"b.h", "struct A { int n; };\nstruct B : Unheard {};\ntypedef Unheard C;\nvoid B(C c);\n"}};
  source.text = "__global__ void k(A* B, int C) {}\n__device__ int f();";
  UsedCode code(source);
  CHECK(words_of(code.used().headers[0].second) == words_of(source.headers[0].second));
  // Kernels and device functions stay, and so does what stands in no line of the source.
  for (const char* message :
       {"a.cu:10: error: x", "a.cu:11: error: x", "c.h:1: error: x", "b.h:2: note: x", "b.h:90: error: x"})
    CHECK(!code.leave_out(message));
  CHECK(code.leave_out("a.cu:10: error: x\nb.h:2: error: x\n  struct B\nb.h:3: error: x\nb.h:4: error: x"));
  // The names of types do not stand for others.
  CHECK(words_of(code.used().headers[0].second) == "struct A { int n; }; struct B; struct C;");
  CHECK(words_of(code.used().text) == words_of(source.text));
}

TEST_CASE("all of a template's definitions are left out together", "[used_code]") {
  KernelSource source;
  source.file = "a.cu";
  source.text =
      "template <class T> struct A {};\ntemplate <> struct A<int> : Unheard {};\n__global__ void k(A<int> a) {}";
  UsedCode code(source);
  CHECK(code.leave_out("a.cu:2: error: x"));
  CHECK(words_of(code.used().text) == "__global__ void k(A<int> a) {}");
}

TEST_CASE("a type keeps its virtual functions, which give it its size", "[used_code]") {
  const std::string text =
      "struct A { virtual void save(Unheard u); void load(Unheard u); int n; }; __global__ void k(A a) {}";
  CHECK(used(text) == "struct A { virtual void save(Unheard u); int n; }; __global__ void k(A a) {}");
}

TEST_CASE("names of options count", "[used_code]") {
  KernelSource source;
  source.text = "struct A {}; struct B {}; struct C {}; template <class T> __global__ void k(T x, TYPE y) {}";
  source.names = {"k<A>"};
  source.defines = {{"TYPE", "B"}};
  CHECK(words_of(UsedCode(source).used().text) ==
        "struct A {}; struct B {}; template <class T> __global__ void k(T x, TYPE y) {}");
}

TEST_CASE("host code: types with names behind them, operators, classes in capitals", "[used_code]") {
  CHECK(words_of(without_host_code("typedef struct A { int n; } A, *PA;")) == "typedef struct A { int n; } A, *PA;");
  CHECK(words_of(without_host_code("struct { int n; } a, b;")) == "struct { int n; } a, b;");
  CHECK(
      words_of(without_host_code("bool operator==(A a, A b) { return true; } bool operator!=(A a, A b) { return f(); } "
                                 "bool operator+=(A a, A b) { return true; }"))
          .empty());
  CHECK(words_of(without_host_code("enable_if_t<a == b, int> f() { return 1; } struct A {};")) == "struct A {};");
  CHECK(words_of(without_host_code("NET::NET(int n) { f(); } NET* make() { return f(); } void SAVE(NET& n) { f(); }"))
            .empty());
  // Lines keep their numbers, and conditions of others stay.
  CHECK(
      without_host_code("struct A {\n  int f() {\n\n    return 1;\n  }\n};").find("\n  int f() {gpulua_host();\n\n") !=
      std::string::npos);
  CHECK(words_of(without_host_code("#ifdef X\nvoid f() {\n#else\nvoid f(int n) {\n#endif\n  g();\n}\nstruct A {};")) ==
        "#ifdef X #else #endif struct A {};");
  // Braces among arguments, bases that decltype gives.
  CHECK(words_of(without_host_code("template <class T> __device__ void f(T x, T y = {}) { g(x); }")) ==
        "template <class T> __device__ void f(T x, T y = {}) { g(x); }");
  CHECK(words_of(without_host_code("struct A : decltype(f(1)) {};")) == "struct A : decltype(f(1)) {};");
  CHECK(words_of(without_host_code("HOST_DEVICE int f() { return 1; }")) == "HOST_DEVICE int f() { return 1; }");
}

TEST_CASE("each file of the folders is read once, under one name", "[used_code]") {
  const TemporaryDirectory folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name) << text;
  };
  write("a/common.h", "#pragma once\n#include \"sizes.h\"\n#include \"../b/common.h\"\nstruct InA {};\n");
  write("a/sizes.h", "struct Sizes {};\n");
  write("b/common.h", "#include \"../a/common.h\"\n#include <sizes.h>\nstruct InB {};\n");
  KernelSource source;
  source.text = "#include \"a/common.h\"\n";
  source.include_dirs = {folder.path().string()};
  read_included_headers(source);
  std::map<std::string, std::string> headers(source.headers.begin(), source.headers.end());
  REQUIRE(headers.size() == 3);
  CHECK(source.text == "#include \"a/common.h\"\n");
  CHECK(headers.at("a/common.h") == "#pragma once\n#include \"sizes.h\"\n#include \"b/common.h\"\nstruct InA {};\n");
  CHECK(headers.at("sizes.h") == "struct Sizes {};\n");
  // What stands between < and > is not looked for beside the file.
  CHECK(headers.at("b/common.h") == "#include \"a/common.h\"\n#include <sizes.h>\nstruct InB {};\n");
}
