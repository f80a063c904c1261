// The variables that a function captures: Function::free.

#include <algorithm>

#include "src/luafn/parser.h"

namespace gpulua::luafn {

namespace {

bool is_within(const Function* inner, const Function& outer) {
  while (inner && inner != &outer) inner = inner->parent;
  return inner != nullptr;
}

/// Adds the paths of one function, and of the functions in it.
class Collector {
 public:
  explicit Collector(Function& function) : function_(function) {}

  void block(const Block& block) {
    for (const auto& stat : block) {
      for (const ExprPtr& expr : stat->left) expression(*expr);
      for (const ExprPtr& expr : stat->right) expression(*expr);
      for (const Block& inner : stat->blocks) this->block(inner);
    }
  }

 private:
  void expression(const Expr& expr) {
    Path path;
    if (free_path(expr, function_, path)) {
      if (std::find(function_.free.begin(), function_.free.end(), path) == function_.free.end())
        function_.free.push_back(std::move(path));
      return;
    }
    for (const ExprPtr& part : expr.parts) expression(*part);
    if (expr.function) block(expr.function->body);
  }

  Function& function_;
};

void collect_in(const Block& block);

void collect_in(const Expr& expr) {
  for (const ExprPtr& part : expr.parts) collect_in(*part);
  if (!expr.function) return;
  Collector(*expr.function).block(expr.function->body);
  collect_in(expr.function->body);
}

void collect_in(const Block& block) {
  for (const auto& stat : block) {
    for (const ExprPtr& expr : stat->left) collect_in(*expr);
    for (const ExprPtr& expr : stat->right) collect_in(*expr);
    for (const Block& inner : stat->blocks) collect_in(inner);
  }
}

}  // namespace

bool free_path(const Expr& expr, const Function& function, Path& path) {
  if (expr.kind == ExprKind::global) {
    path = {nullptr, expr.text, {}};
    return true;
  }
  if (expr.kind == ExprKind::local) {
    if (is_within(expr.local->owner, function)) return false;
    path = {expr.local, expr.local->name, {}};
    return true;
  }
  if (expr.kind != ExprKind::index || expr.parts[1]->kind != ExprKind::string) return false;
  if (!free_path(*expr.parts[0], function, path)) return false;
  path.fields.push_back(expr.parts[1]->text);
  return true;
}

void find_captures(const Chunk& chunk) {
  collect_in(chunk.main->body);
}

}  // namespace gpulua::luafn
