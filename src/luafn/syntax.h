#pragma once

// The syntax tree of a Lua chunk: Lua 5.1 with LuaJIT's goto and number suffixes. Names are resolved: a use of a local
// variable points to its declaration.

#include <memory>
#include <string>
#include <vector>

namespace gpulua::luafn {

struct Function;

/// A declaration of a local variable or a parameter.
struct Local {
  std::string name;
  int line = 0;
  const Function* owner = nullptr;
  bool reassigned = false;  // it is assigned elsewhere than in its declaration
};

enum class ExprKind {
  nil,
  boolean,
  number,
  wide_number,  // with a suffix, 1LL or 2i: FFI values
  string,
  vararg,
  local,
  global,
  index,   // parts: object, key
  call,    // parts: callee, arguments
  method,  // parts: object, arguments; text: the name
  function,
  table,
  unary,       // text: the operator
  binary,      // text: the operator; and, or among them
  parenthesis  // cuts a call to one value
};

struct Expr {
  ExprKind kind;
  int line = 0;
  std::string text{};  // of a string, a global's or a method's name, an operator
  double number = 0;   // a boolean's is 1 or 0
  Local* local = nullptr;
  std::vector<std::unique_ptr<Expr>> parts{};
  std::unique_ptr<Function> function{};
  int depth = 1;  // of the tree of its parts
};
using ExprPtr = std::unique_ptr<Expr>;

inline const Expr& without_parentheses(const Expr& expr) {
  const Expr* inner = &expr;
  while (inner->kind == ExprKind::parenthesis) inner = inner->parts.front().get();
  return *inner;
}

enum class StatKind {
  local,           // locals = right
  local_function,  // locals.front(), in scope in right.front()
  assign,          // left = right
  call,            // right.front()
  block,
  while_loop,   // right.front() is the condition
  repeat_loop,  // right.front() sees the locals of the body
  branch,       // right: conditions; blocks: one for each, and that of else
  numeric_for,  // right: first, last and, if there is one, step
  generic_for,
  result,  // return right
  leave,   // break
  jump,    // goto text
  label
};

struct Stat;
using Block = std::vector<std::unique_ptr<Stat>>;

struct Stat {
  StatKind kind;
  int line = 0;
  std::string text{};  // of a label or a jump
  std::vector<Local*> locals{};
  std::vector<ExprPtr> left{}, right{};
  std::vector<Block> blocks{};
};

/// A use of a variable of an enclosing function, or of a global, with the fields that follow it: `math.sin`, `k`.
struct Path {
  const Local* local = nullptr;  // null: a global
  std::string root;
  std::vector<std::string> fields;

  bool operator==(const Path&) const = default;
};

struct Function {
  const Function* parent = nullptr;  // null: the chunk
  int line = 0, last_line = 0;
  bool has_varargs = false;
  std::vector<Local*> parameters{};
  std::vector<std::unique_ptr<Local>> locals{};  // all of its own
  Block body{};
  std::vector<Path> free{};  // in order of their first use, also in functions within this one
};

struct Chunk {
  std::unique_ptr<Function> main;
  std::vector<const Function*> functions;  // in order of their ends; the last is main
};

/// The path that the expression is in `function`: a variable from outside with constant fields. False for others.
bool free_path(const Expr& expr, const Function& function, Path& path);

}  // namespace gpulua::luafn
