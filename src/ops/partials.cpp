#include "src/ops/partials.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpulua {

namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_0123456789";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), left_(text) {}

  Partial whole() {
    Partial sum = parse_sum();
    if (next() != '\0') fail("an end");
    return sum;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    throw std::logic_error("the partial derivative " + std::string(text_) + ": expected " + expected + " before \"" +
                           std::string(left_) + '"');
  }

  char next() {
    while (left_.starts_with(' ')) left_.remove_prefix(1);
    return left_.empty() ? '\0' : left_.front();
  }
  bool take(char sign) {
    if (next() != sign) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char sign) {
    if (!take(sign)) fail(sign == '(' ? "(" : ")");
  }

  static Partial call(const OpInfo& op, std::vector<Partial> inputs) {
    Partial made;
    made.kind = Partial::Kind::call;
    made.op = &op;
    made.inputs = std::move(inputs);
    return made;
  }
  static Partial call(std::string_view name, Partial x, Partial y) {
    std::vector<Partial> inputs;
    inputs.push_back(std::move(x));
    inputs.push_back(std::move(y));
    return call(op(name), std::move(inputs));
  }

  struct Operator {
    char sign;
    std::string_view row;
  };
  /// Operands between operators of one rank, which group from the left.
  Partial parse_left(Partial (Parser::*operand)(), std::initializer_list<Operator> operators) {
    Partial left = (this->*operand)();
    for (;;) {
      const auto next =
          std::find_if(operators.begin(), operators.end(), [&](const Operator& one) { return take(one.sign); });
      if (next == operators.end()) return left;
      left = call(next->row, std::move(left), (this->*operand)());
    }
  }
  Partial parse_sum() { return parse_left(&Parser::parse_product, {{'+', "add"}, {'-', "subtract"}}); }
  Partial parse_product() { return parse_left(&Parser::parse_factor, {{'*', "multiply"}, {'/', "divide"}}); }

  Partial parse_factor() {
    if (take('-')) {
      Partial factor = parse_factor();
      if (factor.kind != Partial::Kind::number) return call(op("negative"), {std::move(factor)});
      factor.number = -factor.number;
      return factor;
    }
    if (take('(')) {
      Partial sum = parse_sum();
      expect(')');
      return sum;
    }
    return digits.find(next()) != digits.npos ? parse_number() : parse_name();
  }

  Partial parse_number() {
    Partial number;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number.number);
    if (error != std::errc()) fail("a number");
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return number;
  }

  Partial parse_name() {
    const std::string_view name = left_.substr(0, left_.find_first_not_of(letters));
    if (name.empty()) fail("a name");
    left_.remove_prefix(name.size());
    constexpr std::string_view operands = "xyzw";
    Partial own;
    own.kind = Partial::Kind::operand;
    own.operand = operands.find(name);
    if (name.size() == 1 && own.operand != operands.npos) return own;
    own.kind = Partial::Kind::result;
    own.operand = 0;
    if (name == "r") return own;
    const OpInfo& row = op(name);
    std::vector<Partial> inputs;
    expect('(');
    do inputs.push_back(parse_sum());
    while (take(','));
    expect(')');
    if (inputs.size() != static_cast<std::size_t>(row.arity)) fail("as many operands as the row has");
    return call(row, std::move(inputs));
  }

  std::string_view text_, left_;
};

std::string_view text_of(const OpInfo& op, std::size_t operand) {
  return operand < op.partials.size() ? op.partials[operand] : std::string_view();
}

}  // namespace

Derivative derivative_of(const OpInfo& op, std::size_t operand) {
  const std::string_view text = text_of(op, operand);
  return text.empty() ? Derivative::constant : text == "none" ? Derivative::none : Derivative::known;
}

const Partial& partial_of(const OpInfo& op, std::size_t operand) {
  // Contexts work on threads of their own.
  thread_local std::map<std::string_view, Partial> known;
  const std::string_view text = text_of(op, operand);
  const auto found = known.find(text);
  return found != known.end() ? found->second : known.emplace(text, parse_partial(text)).first->second;
}

const Partial& partial_beside_number(const OpInfo& op, std::size_t operand) {
  // Where an operand is NaN, fmax and fmin have the number, and the others NaN.
  static const Partial if_greater = parse_partial("where(gt(x, y), 1, 0)"),
                       if_less = parse_partial("where(lt(x, y), 1, 0)"),
                       if_greater_or_nan = parse_partial("where(le(x, y), 0, where(gt(x, y), 1, x + y))"),
                       if_less_or_nan = parse_partial("where(ge(x, y), 0, where(lt(x, y), 1, x + y))");
  const bool has_nan = op.name == "maximum" || op.name == "minimum";
  const bool of_greater = op.name == "maximum" || op.name == "fmax";
  if (!has_nan && !of_greater && op.name != "fmin") return partial_of(op, operand);
  if (of_greater == (operand == 0)) return has_nan ? if_greater_or_nan : if_greater;
  return has_nan ? if_less_or_nan : if_less;
}

Partial parse_partial(std::string_view text) {
  return Parser(text).whole();
}

}  // namespace gpulua
