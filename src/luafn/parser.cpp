#include "src/luafn/parser.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/luafn/expression_builder.h"
#include "src/luafn/lexer.h"
#include "src/luafn/priority.h"

namespace gpulua::luafn {

namespace {

class Parser : private ExpressionBuilder {
 public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()), ahead_(lexer_.next()) {}

  std::unique_ptr<Chunk> parse() {
    chunk_ = std::make_unique<Chunk>();
    chunk_->main = std::make_unique<Function>();
    chunk_->main->has_varargs = true;
    function_ = chunk_->main.get();
    function_->body = block();
    if (token_.kind != Token::Kind::end) refuse("the end of the chunk");
    chunk_->functions.push_back(function_);
    return std::move(chunk_);
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    throw Error("line {}: expected {}, got \"{}\"; functions for devices are written in Lua 5.1 with LuaJIT's goto",
                token_.line, expected, token_.text);
  }
  Token take() {
    Token token = std::move(token_);
    token_ = std::move(ahead_);
    ahead_ = lexer_.next();
    return token;
  }
  bool accept(std::string_view word) {
    if (!token_.is(word)) return false;
    take();
    return true;
  }
  void expect(std::string_view word) {
    if (!accept(word)) refuse("\"" + std::string(word) + '"');
  }
  // goto is a name wherever it is no statement.
  bool at_name() const { return token_.kind == Token::Kind::name || token_.is("goto"); }
  std::string name() {
    if (!at_name()) refuse("a name");
    return take().text;
  }

  // Scopes.
  Local* declare(std::string name, int line) {
    function_->locals.push_back(std::make_unique<Local>(Local{std::move(name), line, function_}));
    return function_->locals.back().get();
  }
  void open(Local* local) { scope_.push_back(local); }
  Local* find(const std::string& name) const {
    const auto found =
        std::find_if(scope_.rbegin(), scope_.rend(), [&](const Local* local) { return local->name == name; });
    return found == scope_.rend() ? nullptr : *found;
  }
  Block scoped_block(const std::vector<Local*>& locals = {}) {
    const std::size_t outer = scope_.size();
    for (Local* local : locals) open(local);
    Block result = block();
    scope_.resize(outer);
    return result;
  }

  bool at_block_end() const {
    return token_.kind == Token::Kind::end || token_.is("end") || token_.is("else") || token_.is("elseif") ||
           token_.is("until");
  }
  Block block() {
    Block result;
    while (!at_block_end()) {
      if (accept(";")) continue;
      result.push_back(statement());
      if (result.back()->kind == StatKind::result) {
        accept(";");
        break;
      }
    }
    return result;
  }

  using ExpressionBuilder::make;
  std::unique_ptr<Stat> make(StatKind kind, int line) const {
    auto stat = std::make_unique<Stat>();
    stat->kind = kind;
    stat->line = line;
    return stat;
  }

  std::unique_ptr<Stat> statement() {
    const int line = token_.line;
    if (accept("if")) return branch(line);
    if (accept("while")) {
      auto stat = make(StatKind::while_loop, line);
      stat->right.push_back(expression());
      expect("do");
      stat->blocks.push_back(scoped_block());
      expect("end");
      return stat;
    }
    if (accept("do")) {
      auto stat = make(StatKind::block, line);
      stat->blocks.push_back(scoped_block());
      expect("end");
      return stat;
    }
    if (accept("for")) return loop(line);
    if (accept("repeat")) {
      auto stat = make(StatKind::repeat_loop, line);
      const std::size_t outer = scope_.size();
      stat->blocks.push_back(block());
      expect("until");
      stat->right.push_back(expression());
      scope_.resize(outer);
      return stat;
    }
    if (accept("function")) return function_statement(line);
    if (accept("local")) return accept("function") ? local_function(line) : local_statement(line);
    if (accept("return")) {
      auto stat = make(StatKind::result, line);
      if (!at_block_end() && !token_.is(";")) stat->right = expressions();
      return stat;
    }
    if (accept("break")) return make(StatKind::leave, line);
    if (accept("::")) {
      auto stat = make(StatKind::label, line);
      stat->text = name();
      expect("::");
      return stat;
    }
    if (token_.is("goto") && ahead_.kind == Token::Kind::name) {
      take();
      auto stat = make(StatKind::jump, line);
      stat->text = name();
      return stat;
    }
    return expression_statement(line);
  }

  std::unique_ptr<Stat> branch(int line) {
    auto stat = make(StatKind::branch, line);
    do {
      stat->right.push_back(expression());
      expect("then");
      stat->blocks.push_back(scoped_block());
    } while (accept("elseif"));
    if (accept("else")) stat->blocks.push_back(scoped_block());
    expect("end");
    return stat;
  }

  std::unique_ptr<Stat> loop(int line) {
    std::vector<Local*> locals{declare(name(), line)};
    auto stat = make(token_.is("=") ? StatKind::numeric_for : StatKind::generic_for, line);
    while (accept(",")) locals.push_back(declare(name(), line));
    if (!accept("=")) expect("in");
    stat->right = expressions();
    expect("do");
    stat->blocks.push_back(scoped_block(locals));
    expect("end");
    stat->locals = std::move(locals);
    return stat;
  }

  std::unique_ptr<Stat> function_statement(int line) {
    auto stat = make(StatKind::assign, line);
    stat->left.push_back(variable());
    bool is_method = false;
    while (token_.is(".") || token_.is(":")) {
      is_method = take().is(":");
      stat->left.front() = index(std::move(stat->left.front()), string(name(), line), line);
    }
    assigned(*stat->left.front());
    stat->right.push_back(function(line, is_method));
    return stat;
  }

  std::unique_ptr<Stat> local_function(int line) {
    auto stat = make(StatKind::local_function, line);
    stat->locals.push_back(declare(name(), line));
    open(stat->locals.front());
    stat->right.push_back(function(line, false));
    return stat;
  }

  std::unique_ptr<Stat> local_statement(int line) {
    auto stat = make(StatKind::local, line);
    do stat->locals.push_back(declare(name(), token_.line));
    while (accept(","));
    if (accept("=")) stat->right = expressions();
    for (Local* local : stat->locals) open(local);
    return stat;
  }

  std::unique_ptr<Stat> expression_statement(int line) {
    ExprPtr first = suffixed();
    if (!token_.is("=") && !token_.is(",")) {
      auto stat = make(StatKind::call, line);
      if (first->kind != ExprKind::call && first->kind != ExprKind::method) refuse("a statement");
      stat->right.push_back(std::move(first));
      return stat;
    }
    auto stat = make(StatKind::assign, line);
    stat->left.push_back(std::move(first));
    while (accept(",")) stat->left.push_back(suffixed());
    expect("=");
    for (const ExprPtr& target : stat->left) assigned(*target);
    stat->right = expressions();
    return stat;
  }
  static void assigned(const Expr& target) {
    if (target.kind == ExprKind::local) target.local->reassigned = true;
  }

  std::vector<ExprPtr> expressions() {
    std::vector<ExprPtr> result;
    do result.push_back(expression());
    while (accept(","));
    return result;
  }

  ExprPtr variable() {
    const int line = token_.line;
    std::string word = name();
    Local* local = find(word);
    ExprPtr expr = make(local ? ExprKind::local : ExprKind::global, line);
    expr->local = local;
    expr->text = std::move(word);
    return expr;
  }

  ExprPtr suffixed() {
    const int line = token_.line;
    ExprPtr expr;
    if (accept("(")) {
      expr = make(ExprKind::parenthesis, line);
      add(*expr, expression());
      expect(")");
    } else {
      expr = variable();
    }
    for (;;) {
      const int at = token_.line;
      if (accept(".")) {
        expr = index(std::move(expr), string(name(), at), at);
      } else if (accept("[")) {
        ExprPtr key = expression();
        expect("]");
        expr = index(std::move(expr), std::move(key), at);
      } else if (accept(":")) {
        ExprPtr call = make(ExprKind::method, at);
        call->text = name();
        add(*call, std::move(expr));
        arguments(*call);
        expr = std::move(call);
      } else if (token_.is("(") || token_.is("{") || token_.kind == Token::Kind::string) {
        ExprPtr call = make(ExprKind::call, at);
        add(*call, std::move(expr));
        arguments(*call);
        expr = std::move(call);
      } else {
        return expr;
      }
    }
  }

  void arguments(Expr& call) {
    if (token_.kind == Token::Kind::string || token_.is("{")) {
      add(call, simple());
      return;
    }
    expect("(");
    if (accept(")")) return;
    for (ExprPtr& argument : expressions()) add(call, std::move(argument));
    expect(")");
  }

  ExprPtr simple() {
    const int line = token_.line;
    if (token_.kind == Token::Kind::string) return string(take().text, line);
    if (token_.kind == Token::Kind::number || token_.kind == Token::Kind::wide_number) {
      ExprPtr expr = make(token_.kind == Token::Kind::number ? ExprKind::number : ExprKind::wide_number, line);
      expr->number = token_.number;
      expr->text = take().text;
      return expr;
    }
    if (accept("nil")) return make(ExprKind::nil, line);
    if (accept("...")) return make(ExprKind::vararg, line);
    if (token_.is("true") || token_.is("false")) {
      ExprPtr expr = make(ExprKind::boolean, line);
      expr->number = take().is("true") ? 1 : 0;
      return expr;
    }
    if (token_.is("{")) return table();
    if (accept("function")) return function(line, false);
    return suffixed();
  }

  ExprPtr table() {
    ExprPtr expr = make(ExprKind::table, token_.line);
    expect("{");
    while (!accept("}")) {
      if (accept("[")) {
        add(*expr, expression());
        expect("]");
        expect("=");
      } else if (at_name() && ahead_.is("=")) {
        take();
        take();
        expr->text = "fields";
      }
      add(*expr, expression());
      if (!accept(",")) accept(";");
    }
    return expr;
  }

  ExprPtr expression(int limit = 0) {
    ExprPtr left;
    const int line = token_.line;
    if (token_.is("not") || token_.is("-") || token_.is("#")) {
      left = make(ExprKind::unary, line);
      left->text = take().text;
      add(*left, expression(unary_priority));
    } else {
      left = simple();
    }
    for (auto powers = priority(token_); powers.first > limit; powers = priority(token_)) {
      ExprPtr both = make(ExprKind::binary, token_.line);
      both->text = take().text;
      add(*both, std::move(left));
      add(*both, expression(powers.second));
      left = std::move(both);
    }
    return left;
  }

  ExprPtr function(int line, bool is_method) {
    ExprPtr expr = make(ExprKind::function, line);
    expr->function = std::make_unique<Function>();
    Function* outer = std::exchange(function_, expr->function.get());
    const int outer_deepest = std::exchange(deepest_, 0);
    function_->parent = outer;
    function_->line = line;
    if (is_method) function_->parameters.push_back(declare("self", line));
    expect("(");
    while (!accept(")")) {
      if (accept("..."))
        function_->has_varargs = true;
      else
        function_->parameters.push_back(declare(name(), token_.line));
      accept(",");
    }
    function_->body = scoped_block(function_->parameters);
    function_->last_line = token_.line;
    expect("end");
    chunk_->functions.push_back(function_);
    function_ = outer;
    deepen(*expr, deepest_ + 1);
    deepest_ = std::max(deepest_, outer_deepest);
    return expr;
  }

  Lexer lexer_;
  Token token_, ahead_;
  std::unique_ptr<Chunk> chunk_;
  Function* function_ = nullptr;
  std::vector<Local*> scope_;
};

}  // namespace

std::unique_ptr<Chunk> parse(std::string_view text) {
  std::unique_ptr<Chunk> chunk = Parser(text).parse();
  find_captures(*chunk);
  return chunk;
}

}  // namespace gpulua::luafn
