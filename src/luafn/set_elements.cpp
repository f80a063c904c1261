#include "src/luafn/set_elements.h"

namespace gpulua::luafn {

namespace {

class SetElements {
 public:
  explicit SetElements(const Local& array) : array_(array) {}

  void read(const Block& block) {
    for (const auto& stat : block) {
      for (const ExprPtr& target : stat->left) assign(*target);
      for (const ExprPtr& expr : stat->right) read(*expr);
      for (const Block& inner : stat->blocks) read(inner);
    }
  }

  std::optional<std::set<std::int64_t>> result() const {
    if (is_passed_on_) return std::nullopt;
    return positions_;
  }

 private:
  bool is_array(const Expr& expr) const {
    const Expr& inner = without_parentheses(expr);
    return inner.kind == ExprKind::local && inner.local == &array_;
  }

  void assign(const Expr& target) {
    if (target.kind != ExprKind::index || !is_array(*target.parts.front())) return read(target);
    const Expr& key = without_parentheses(*target.parts.back());
    if (key.kind != ExprKind::number) {
      is_passed_on_ = true;
    } else {
      positions_.insert(static_cast<std::int64_t>(key.number));
    }
  }

  void read(const Expr& expr) {
    if (is_array(expr)) is_passed_on_ = true;
    // An element that is read.
    const bool is_element = expr.kind == ExprKind::index && is_array(*expr.parts.front());
    for (const ExprPtr& part : expr.parts)
      if (!is_element || part != expr.parts.front()) read(*part);
    if (expr.function) read(expr.function->body);
  }

  const Local& array_;
  std::set<std::int64_t> positions_;
  bool is_passed_on_ = false;
};

}  // namespace

std::optional<std::set<std::int64_t>> set_elements(const Function& function, const Local& array) {
  SetElements elements(array);
  elements.read(function.body);
  return elements.result();
}

}  // namespace gpulua::luafn
