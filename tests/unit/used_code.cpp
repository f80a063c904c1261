// What is left of a source with only what kernels use. Blanks and line ends do not count.

#include "src/device/shared/used_code.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
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

/// The text after a message about each line that has "!", a mark which is a blank for the test; nothing where it stays.
/// A kernel mentions `names`.
std::optional<std::string> left(std::string text, const std::string& names) {
  KernelSource source;
  source.file = "dir/program.cu";
  source.line = 10;
  std::string messages;
  int line = source.line;
  for (char& c : text) {
    if (c == '\n') ++line;
    if (c != '!') continue;
    messages += "dir/program.cu:" + std::to_string(line) + ": error: wrong\n  the line\n";
    c = ' ';
  }
  const std::string user = "\n__global__ void user() { " + names + "; }";
  source.text = text + user;
  UsedCode code(source);
  CHECK(words_of(code.used().text) == words_of(source.text));
  if (!code.leave_out(messages)) {
    CHECK(words_of(code.used().text) == words_of(source.text));
    return std::nullopt;
  }
  std::string rest = code.used().text;
  CHECK(std::ranges::count(rest, '\n') == std::ranges::count(source.text, '\n'));
  CHECK(rest.ends_with(user));
  return words_of(rest.substr(0, rest.size() - user.size()));
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
  // What a macro says of a type, several calls in a row.
  CHECK(used("typedef struct ALIGNED(8) { int x; } A; typedef struct ALIGNED(8) { int x; } B; __global__ void k(B b) "
             "{}") == "typedef struct ALIGNED(8) { int x; } B; __global__ void k(B b) {}");
  CHECK(used("#define EACH(X) X(int)\n#define LINE(T) template struct A<T>;\ntemplate <class T> struct A {};\n"
             "EACH(LINE)\nEACH(LINE)\ntemplate <class T> struct B {};\n" +
             kernel) == "#define EACH(X) X(int) #define LINE(T) template struct A<T>; " + kernel);
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

TEST_CASE("types that a compiler stops at lose their definitions", "[used_code]") {
  CHECK(left("struct A {\n !Unheard x;\n};", "A") == "struct A;");
  CHECK(left("class A : !public Unheard<ns::B, (1 > 0)> { int x; };", "A") == "struct A;");
  CHECK(left("namespace n {\nstruct A {\n int x;\n#if B\n !Unheard y;\n#endif\n};\n}", "A") ==
        "namespace n { struct A; #if B #endif }");
  CHECK(left("!template <> struct A<int>;\nstruct B {};", "A B") == "struct B {};");
  CHECK(left("#define TEMPLATE template <class T>\ntemplate <class T> class A;\nTEMPLATE\nclass A { !Unheard x; };",
             "A") == "#define TEMPLATE template <class T>");
  // A copy would be the compiler's own.
  CHECK(left("struct A {\n !A(const A& a, Unheard b = {});\n int x; };", "A") == "struct A;");
  CHECK(
      left("template <class T, bool = (sizeof(T) > 4)> struct A {};\n!template <> struct A<int, (1 < 2)> : Unheard {};",
           "A") == "");
}

TEST_CASE("aliases and variables that a compiler stops at become types", "[used_code]") {
  CHECK(left("!using Clock = unheard::clock;", "Clock") == "struct Clock;");
  CHECK(left("!static const Unheard numbers[2] = {1, 2};", "numbers") == "struct numbers;");
  CHECK(left("struct A {\n !using iterator = std::unheard<int*>;\n int x; };", "A") ==
        "struct A { struct iterator; int x; };");
  // No other template of the name takes the place.
  CHECK(left("template <class T> struct Rows {};\nnamespace n {\n!template <class T> using Rows = unheard<T>;\n}",
             "Rows") == "namespace n { }");
}

TEST_CASE("functions for hosts that a compiler stops at are left out", "[used_code]") {
  CHECK(left("!Unheard f(int x) {\n#pragma unroll\n g(); }", "f") == "");
  CHECK(left("struct A {\n !void save(Unheard& to);\n !friend A unheard::make(int x);\n int x; };", "A; save") ==
        "struct A { int x; };");
}

TEST_CASE("a compiler's messages leave kernels, code of devices and assertions", "[used_code]") {
  for (const std::string text : {
           "__global__ void k() { !missing(); }",
           "__device__ int f() { return !missing; }",
           "#define BOTH __host__ __device__\nBOTH int f() { return !missing; }",
           "__device__ !Unheard x;",
           "__constant__ int x[!missing];",
           "enum Mode { slow = !missing };",
           "!#error wanted",
           "!#include <unheard.h>",
           "static_assert(!missing, \"\");",
       }) {
    INFO(text);
    CHECK_FALSE(left(text, "f slow"));
  }
  CHECK(
      left("struct A { !friend __device__ int f(A a) { return 1; } template <class T> __device__ T x(); enum { n }; };",
           "A") == "struct A;");
}

TEST_CASE("headers are found by the names that compilers give them", "[used_code]") {
  KernelSource source;
  source.text = "__global__ void k(A a, B b) {}";
  source.headers = {{"a.h", "struct A { int x; };\n"}, {"parts/a.h", "\n#line 7\nstruct B { Unheard x; };\n"}};
  UsedCode code(source);
  CHECK_FALSE(code.leave_out("/gpulua/include/vector:3: error: wrong\n/folder/parts/other-a.h:7: error: wrong\n"));
  REQUIRE(code.leave_out("/gpulua/headers/parts/a.h:7: error: wrong\n"));
  CHECK(code.used().headers[0].second == source.headers[0].second);
  CHECK(words_of(code.used().headers[1].second) == "#line 7 struct B;");
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
