
#include <string>

#include "src/base/cxx_tokens.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

/// "w:int n:1 m:;" of the tokens of a text.
std::string listed(std::string_view text) {
  std::string list;
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next())
    list.append(1, " wnscmd"[static_cast<std::size_t>(token.kind)]).append(":").append(token.text).append(" ");
  return list;
}

std::string included(std::string_view text) {
  return std::string(CxxDirective(CxxTokens(text).next()).included());
}

}  // namespace

TEST_CASE("C++ text becomes tokens") {
  CHECK(listed("int $a_1=b->c;") == "w:int w:$a_1 m:= w:b m:- m:> w:c m:; ");
  CHECK(listed("1'000'000 0x1.8p-3f .5e+3 a.x 1..2 3-4") ==
        "n:1'000'000 n:0x1.8p-3f n:.5e+3 w:a m:. w:x n:1..2 n:3 m:- n:4 ");
  CHECK(listed(R"("a\"b" 'x' '\'' u8"c" L'd' uR)") == R"(s:"a\"b" c:'x' c:'\'' s:u8"c" c:L'd' w:uR )");
  CHECK(listed("R\"(a \" // b)\" u8R\"x()\")x\" FOOR\"y\"") == "s:R\"(a \" // b)\" s:u8R\"x()\")x\" w:FOOR s:\"y\" ");
  CHECK(listed("a//b\\\nc\nd/*e\n#f*/g") == "w:a w:d w:g ");
}

TEST_CASE("lines of the preprocessor are tokens of C++ text") {
  CHECK(listed("  # define A \\\n b\nc #d\n/**/#e") == "d:# define A \\\n b w:c m:# w:d d:#e ");
  CHECK(listed("#define A \"/*\" /* b\nc */ d\r\n#error don't\n%:e") ==
        "d:#define A \"/*\" /* b\nc */ d\r d:#error don't d:%:e ");
  CHECK(listed("#define A R\"(\n#b)\"\nc") == "d:#define A R\"(\n#b)\" w:c ");
  CHECK(included("#include <a.h>") == "a.h");
  CHECK(included("%: include\t\"b c\" // d") == "b c");
  CHECK(included("#/**/include<a.h>") == "a.h");
  for (const char* other :
       {"#include", "#include A", "#include <a", "#include \"a\n\"", "#included <a>", "#", "#include /**/ <a>"})
    CHECK(included(other).empty());
}

TEST_CASE("what has no end in C++ text ends with its line, or with the text") {
  CHECK(listed("\"a\nb 'c\n") == "s:\"a w:b c:'c ");
  CHECK(listed("'a\\") == "c:'a\\ ");
  CHECK(listed("a /* b\nc") == "w:a ");
  CHECK(listed("R\"a(b)\"\nc") == "s:R\"a(b)\"\nc ");
  CHECK(listed("R\"a") == "s:R\"a ");
  CHECK(listed("#a\\") == "d:#a\\ ");
  CHECK(listed("").empty());
}
