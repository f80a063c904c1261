#include "src/base/json_string.h"
#include "src/base/utf8.h"

#include <string>

#include "tests/catch.h"

using namespace gpulua;

TEST_CASE("a text in JSON has its quotes, backslashes and control characters escaped") {
  REQUIRE(to_json("a\"b\\c\n\x01\xc3\xa4") == "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa4\"");
}

TEST_CASE("bytes that are no UTF-8 are replaced, each by a character") {
  const std::string no = "\xef\xbf\xbd";
  REQUIRE(valid_utf8("plain") == "plain");
  // Characters of one to four bytes, the last ones of each.
  for (const std::string text : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
                                 "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    REQUIRE(valid_utf8(text) == text);
  // A continuation alone, overlong forms, a surrogate, a code past the last one, and what ends too early.
  REQUIRE(valid_utf8("a\x80") == "a" + no);
  REQUIRE(valid_utf8("\xc0\xaf") == no + no);
  REQUIRE(valid_utf8("\xe0\x9f\xbf") == no + no + no);
  REQUIRE(valid_utf8("\xed\xa0\x80") == no + no + no);
  REQUIRE(valid_utf8("\xf4\x90\x80\x80") == no + no + no + no);
  REQUIRE(valid_utf8("\xe2\x82") == no + no);
  REQUIRE(valid_utf8("\xe2\x82z") == no + no + "z");
  REQUIRE(valid_utf8("\xff") == no);
}
