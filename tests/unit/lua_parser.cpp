// The lexer and the parser of Lua functions for devices.

#include "src/luafn/parser.h"

#include <cmath>

#include "src/base/error.h"
#include "src/luafn/lexer.h"
#include "tests/catch.h"

using namespace gpulua::luafn;

namespace {

std::vector<Token> tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> result;
  for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) result.push_back(token);
  return result;
}

double number(std::string_view text) {
  const auto found = tokens(text);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].kind == Token::Kind::number);
  return found[0].number;
}

std::string path_text(const Path& path) {
  std::string text = (path.local ? "local " : "global ") + path.root;
  for (const std::string& field : path.fields) text += "." + field;
  return text;
}

std::vector<std::string> free_paths(const Function& function) {
  std::vector<std::string> result;
  for (const Path& path : function.free) result.push_back(path_text(path));
  return result;
}

/// The expression in `return <text>`, with parentheses around each operation.
std::string shape(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::number:
      return std::to_string(static_cast<int>(expr.number));
    case ExprKind::unary:
      return "(" + expr.text + " " + shape(*expr.parts[0]) + ")";
    case ExprKind::binary:
      return "(" + shape(*expr.parts[0]) + " " + expr.text + " " + shape(*expr.parts[1]) + ")";
    default:
      return expr.text;
  }
}

std::string shape(const std::string& text) {
  const auto chunk = parse("return " + text);
  return shape(*chunk->main->body.front()->right.front());
}

}  // namespace

TEST_CASE("numbers of Lua", "[luafn]") {
  CHECK(number("1") == 1);
  CHECK(number(".5") == 0.5);
  CHECK(number("3.") == 3);
  CHECK(number("1e-320") == 1e-320);
  CHECK(number("0x10") == 16);
  CHECK(number("0xA.8p1") == 21);
  CHECK(tokens("0x1e+1").size() == 3);  // e is a digit of a hexadecimal number
  CHECK(std::isinf(number("1e999")));
  CHECK(number("1e-999") == 0);
  CHECK(tokens("1LL").front().kind == Token::Kind::wide_number);
  CHECK(tokens("2.5i").front().kind == Token::Kind::wide_number);
  CHECK(tokens("a..1").size() == 3);
}

TEST_CASE("strings, comments and lines of Lua", "[luafn]") {
  const auto found = tokens("#!/usr/bin/gpulua\n--[==[ a\n]] ]==] x -- y\r\n'a\\n\\065\\x42\\z\n  c' [[\nd]] ]]");
  REQUIRE(found.size() == 5);
  CHECK(found[0].text == "x");
  CHECK(found[0].line == 3);
  CHECK(found[1].text == "a\nABc");
  CHECK(found[1].line == 4);
  CHECK(found[2].text == "d");
  CHECK(found[3].line == 6);
  CHECK_THROWS_WITH(tokens("x = y & z"), Catch::Matchers::ContainsSubstring("line 1: \"&\" is not part of Lua 5.1"));
}

TEST_CASE("operators of Lua bind as in its manual", "[luafn]") {
  CHECK(shape("1 + 2 * 3 - 4") == "((1 + (2 * 3)) - 4)");
  CHECK(shape("2 ^ 3 ^ 2") == "(2 ^ (3 ^ 2))");
  CHECK(shape("-x ^ 2") == "(- (x ^ 2))");
  CHECK(shape("2 ^ -x") == "(2 ^ (- x))");
  CHECK(shape("not a == b") == "((not a) == b)");
  CHECK(shape("a or b and c or d") == "((a or (b and c)) or d)");
  CHECK(shape("a .. b .. c") == "(a .. (b .. c))");
  CHECK(shape("a < b == c > d") == "(((a < b) == c) > d)");
  CHECK(shape("#a - 1") == "((# a) - 1)");
}

TEST_CASE("functions are listed in the order of their ends", "[luafn]") {
  const auto chunk =
      parse("local function a()\n return function() end\nend\nlocal t = {f = function() end, function()\n end}\n");
  std::vector<int> lines;
  for (const Function* function : chunk->functions) lines.push_back(function->line);
  CHECK(lines == std::vector<int>{2, 1, 4, 4, 0});
}

TEST_CASE("what a function captures", "[luafn]") {
  const auto chunk = parse(R"(
    local k, params = 1, {}
    function t.a:f(x)
      local y = k + params.deep.r + math.sin(x)
      local function g(z) k2 = z + y + k; return self end
      for i = 1, #params do y = y + i end
      return params[1], x:erf(), g(y).field
    end)");
  const std::vector<std::string> expected{"local k", "local params.deep.r", "global math.sin", "global k2",
                                          "local params"};
  CHECK(free_paths(*chunk->functions[1]) == expected);
  // The inner function also captures the variables of the outer one.
  const std::vector<std::string> inner{"global k2", "local y", "local k", "local self"};
  CHECK(free_paths(*chunk->functions[0]) == inner);
}

TEST_CASE("assignments mark variables", "[luafn]") {
  const auto chunk = parse("local a, b, c = 1, 2, 3; a = 2; local function f() b = c end goto done ::done::");
  const auto& locals = chunk->main->locals;
  CHECK(locals[0]->reassigned);
  CHECK(locals[1]->reassigned);
  CHECK_FALSE(locals[2]->reassigned);
}

TEST_CASE("syntax that is no Lua 5.1 is an error with its line", "[luafn]") {
  CHECK_THROWS_WITH(parse("local x <const> = 1"),
                    Catch::Matchers::ContainsSubstring("line 1: ") && Catch::Matchers::ContainsSubstring("Lua 5.1"));
  CHECK_THROWS_WITH(parse("\nx ="), Catch::Matchers::ContainsSubstring("line 2"));
}
