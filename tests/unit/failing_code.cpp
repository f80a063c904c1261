// What is left of a source without the declarations in which a compiler has found errors. Blanks and line ends do not
// count.

#include "src/device/shared/failing_code.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tests/catch.h"

using namespace gpulua;

namespace {

std::string without_blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank || (!result.empty() && result.back() != ' ')) result.push_back(is_blank ? ' ' : c);
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

/// The text after a message about each line that has "!", a mark which is a blank for the test. Nothing where it stays.
std::optional<std::string> kept(std::string text, const std::string& what = "error: wrong") {
  KernelSource source;
  source.file = "dir/program.cu";
  source.line = 10;
  std::string messages;
  int line = source.line;
  for (char& c : text) {
    if (c == '\n') ++line;
    if (c != '!') continue;
    messages += "dir/program.cu:" + std::to_string(line) + ": " + what + "\n  the line\n";
    c = ' ';
  }
  source.text = text;
  if (!drop_failing_code(source, messages)) {
    CHECK(source.text == text);
    return std::nullopt;
  }
  CHECK(std::ranges::count(source.text, '\n') == std::ranges::count(text, '\n'));
  return without_blanks(source.text);
}

const std::string kernel = "\n__global__ void k(int* x) { *x = 1; }";
const std::string plain_kernel = " __global__ void k(int* x) { *x = 1; }";

}  // namespace

TEST_CASE("types that fail lose their definitions", "[failing_code]") {
  CHECK(kept("struct A {\n !Unheard x;\n};" + kernel) == "struct A ;" + plain_kernel);
  CHECK(kept("class A : !public Unheard<ns::B, (1 > 0)> { int x; };" + kernel) == "class A ;" + plain_kernel);
  CHECK(kept("template <class T>\nstruct A<ns::B<T>> final {\n enum { n = !sizeof(unheard) };\n};" + kernel) ==
        "template <class T> struct A<ns::B<T>> final ;" + plain_kernel);
  CHECK(kept("namespace n {\nstruct A {\n int x;\n#if B\n !Unheard y;\n#endif\n};\n}" + kernel) ==
        "namespace n { struct A #if B #endif ; }" + plain_kernel);
  // One that has none goes.
  CHECK(kept("!template <> struct A<int>;\nstruct B {};" + kernel) == "struct B {};" + plain_kernel);
}

TEST_CASE("aliases and variables that fail become types without a definition", "[failing_code]") {
  CHECK(kept("!using Clock = unheard::clock;" + kernel) == "class Clock;" + plain_kernel);
  CHECK(kept("!template <class T> using Rows = unheard<T>;" + kernel) ==
        "template <class T> class Rows;" + plain_kernel);
  CHECK(kept("!static const Unheard numbers[2] = {1, 2};" + kernel) == "class numbers;" + plain_kernel);
  CHECK(kept("struct A {\n !using iterator = std::unheard<int*>;\n int x; };" + kernel) ==
        "struct A { class iterator; int x; };" + plain_kernel);
}

TEST_CASE("functions for hosts that fail go", "[failing_code]") {
  CHECK(kept("!Unheard f(int x) {\n#pragma unroll\n g(); }" + kernel) == plain_kernel.substr(1));
  CHECK(kept("struct A {\n !void save(Unheard& to);\n !friend A unheard::make(int x);\n int x; };" + kernel) ==
        "struct A { int x; };" + plain_kernel);
  // A copy would be the compiler's own.
  CHECK(kept("struct A {\n !A(const A& a, Unheard b = {});\n int x; };" + kernel) == "struct A ;" + plain_kernel);
}

TEST_CASE("kernels, code of devices and assertions stay, with all that fails beside them", "[failing_code]") {
  const std::string type = "struct A { !Unheard x; };\n";
  for (const std::string text : {
           "__global__ void k() { !missing(); }",
           "__device__ int f() { return !missing; }",
           "#define BOTH __host__ __device__\nBOTH int f() { return !missing; }",
           "__device__ !Unheard x;",
           "__constant__ int x[!missing];",
           "enum Mode { slow = !missing };",
           "!#error wanted",
           "DECLARE(!missing)",
       }) {
    INFO(text);
    CHECK_FALSE(kept(text + kernel));
    CHECK_FALSE(kept(type + text + kernel));
  }
  CHECK_FALSE(kept("struct A { !static_assert(false, \"\"); };" + kernel, "error: static assertion failed"));
  CHECK_FALSE(kept("!#include <unheard.h>\n" + type + kernel, "fatal error: 'unheard.h' file not found"));
}

TEST_CASE("headers are found by the names that compilers give them", "[failing_code]") {
  KernelSource source;
  source.text = "#include \"parts/a.h\"" + kernel;
  source.headers = {{"a.h", "struct A { int x; };\n"}, {"parts/a.h", "\n#line 7\nstruct B { Unheard x; };\n"}};
  const std::string first = source.headers[0].second;
  REQUIRE(drop_failing_code(source, "/gpulua/headers/parts/a.h:7: error: wrong\n"));
  CHECK(source.headers[0].second == first);
  CHECK(without_blanks(source.headers[1].second) == "#line 7 struct B ;");
  CHECK_FALSE(drop_failing_code(source, "/gpulua/include/vector:3: error: wrong\n"));
}
