#include "src/luafn/division.h"

namespace gpulua::luafn {

namespace {

/// How many variables a division is followed through.
constexpr int most_variables = 3;

int line_in(const Expr& expr, int variables);

/// A division in a value that the statements assign to the variable.
int line_in_values(const Block& block, const Local& variable, int variables) {
  for (const auto& stat : block) {
    for (std::size_t i = 0; i < stat->right.size(); ++i) {
      const bool declares = stat->kind == StatKind::local && i < stat->locals.size() && stat->locals[i] == &variable;
      const bool assigns = stat->kind == StatKind::assign && i < stat->left.size() &&
                           stat->left[i]->kind == ExprKind::local && stat->left[i]->local == &variable;
      if (!declares && !assigns) continue;
      if (const int line = line_in(*stat->right[i], variables)) return line;
    }
    for (const Block& inner : stat->blocks)
      if (const int line = line_in_values(inner, variable, variables)) return line;
  }
  return 0;
}

int line_in(const Expr& expr, int variables) {
  if (expr.kind == ExprKind::binary && expr.text == "/") return expr.line;
  if (expr.kind == ExprKind::local && expr.local->owner != nullptr && variables > 0)
    return line_in_values(expr.local->owner->body, *expr.local, variables - 1);
  // What a call or an element gives does not follow from the numbers in it.
  if (expr.kind != ExprKind::binary && expr.kind != ExprKind::unary && expr.kind != ExprKind::parenthesis) return 0;
  for (const ExprPtr& part : expr.parts)
    if (const int line = line_in(*part, variables)) return line;
  return 0;
}

}  // namespace

int line_of_division(const Expr& expr) {
  return line_in(expr, most_variables);
}

}  // namespace gpulua::luafn
