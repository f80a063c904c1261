#pragma once

// Makes the expressions of a syntax tree, and bounds their depth: what reads a tree calls itself for its parts.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/luafn/syntax.h"

namespace gpulua::luafn {

class ExpressionBuilder {
 protected:
  static ExprPtr make(ExprKind kind, int line) { return std::make_unique<Expr>(Expr{kind, line}); }
  static ExprPtr string(std::string text, int line) {
    ExprPtr expr = make(ExprKind::string, line);
    expr->text = std::move(text);
    return expr;
  }
  ExprPtr index(ExprPtr object, ExprPtr key, int line) {
    ExprPtr expr = make(ExprKind::index, line);
    add(*expr, std::move(object));
    add(*expr, std::move(key));
    return expr;
  }

  /// Adds a part. Throws Error for a tree that is too deep: LuaJIT takes sums of any length.
  void add(Expr& to, ExprPtr part) {
    deepen(to, part->depth + 1);
    to.parts.push_back(std::move(part));
  }
  void deepen(Expr& expr, int depth) {
    if (depth > deepest_allowed)
      throw Error("line {}: an expression of more than {} operations; assign parts of it to locals", expr.line,
                  deepest_allowed);
    expr.depth = std::max(expr.depth, depth);
    deepest_ = std::max(deepest_, depth);
  }

  static constexpr int deepest_allowed = 1000;
  int deepest_ = 0;  // of the expressions in the function that is being read
};

}  // namespace gpulua::luafn
