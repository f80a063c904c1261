#pragma once

// One translation of a function. It walks the syntax tree, types each expression and writes its text in one go. A
// variable's type is known when all its assignments were seen, so the walk is repeated until no type changes; the last
// text is the result.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/luafn/translate.h"
#include "src/luafn/value.h"
#include "src/ops/op_table.h"
#include "src/ops/partials.h"

namespace gpulua::luafn {

/// A value that a variable gets.
struct Assignment {
  const void* site;  // where in the tree
  Value value;
  int line;
};

/// A local variable, or a result.
struct Variable {
  Value value;  // of one that is assigned once: that value; of others the type, and the name as code
  std::vector<Assignment> assigned{};  // in the order of the walk

  /// Notes the assignment. Gives what all of them have in common. Throws the Error of Join::add.
  Value assign(const void* site, const Value& given, int line, DType real);
};

/// A function with the types of its arguments. All but the outermost are lambdas.
struct Instance {
  const Function* function = nullptr;
  const Closure* closure = nullptr;
  Instance* scope = nullptr;  // that of the enclosing function; null: the function is no part of another one
  Instance* place = nullptr;  // the instance whose code has its lambda
  std::vector<Value> arguments{};
  std::string name{};

  std::map<const Local*, Variable> variables{};
  std::vector<Variable> results{};
  int returns = 0;           // statements
  bool has_effects = false;  // a call of it does more than give results
  bool is_open = false;      // being translated
  int round = 0;             // of the latest translation
  int open_derivatives = 0;  // those within which it is translated

  std::string declarations{}, lambdas{}, body{};
  std::set<std::string> declared{};
};

class Translator {
 public:
  explicit Translator(const TranslationRequest& request);
  Code translate();

 private:
  // ---- functions.cpp
  void begin_round();
  void declare_arrays();
  void translate_body(Instance& instance);
  void bind_parameters(Instance& instance);
  Instance* place_of_lambda(const Value& callee, const std::vector<Value>& arguments) const;
  std::string lambda_text(Instance& instance);
  std::vector<Value> call_function(const Value& callee, std::vector<Value> arguments, int line);
  Instance& instance_of(const Value& callee, const std::vector<Value>& arguments);
  std::vector<Value> results_of(Instance& instance, const std::string& call);
  void note_effect();

  // ---- results.cpp
  void return_values(const Stat& stat);
  void add_parts(const Value& number, std::size_t depth, std::vector<Value>& parts) const;
  void set_result(std::size_t index, const Value& given, const Value& type, int line);
  Code code_of_results() const;

  // ---- derivatives.cpp
  Value variable_of_request(Value argument, std::size_t index);
  Value differentiated(const std::string& name, const Expr& call);
  std::vector<Value> call_derivative(const Value& callee, std::vector<Value> arguments, int line);
  Value as_variable(const Value& argument, const Level& level, std::size_t k, std::size_t position, int line);
  std::string name_of_dual(const std::string& base, const std::string& text);

  // ---- duals.cpp
  /// A part of the number by its innermost level: "v", or "d[k]".
  static Value part_of(const Value& number, const std::string& member);
  /// The number without derivatives.
  static Value without_derivatives(Value number);
  /// The text of a variable of that type.
  std::string stored_text(const Value& value, const Value& type, int line);
  std::string converted_dual(const Value& value, DType dtype, int line);
  Value apply_dual(const OpInfo& row, std::vector<Value> operands, int line);
  /// The operands of a row within a function of dual numbers.
  struct DualOperands {
    std::vector<Value> operands{}, values{};  // as they are given, and without the level that the function computes
    std::vector<const Partial*> partials{};   // by the operands that have the level; null for others
    Value result{};                           // for the values
  };
  Levels levels_of(const OpInfo& row, std::vector<Value>& operands, int line) const;
  std::string tangents(const DualOperands& inner, const Level& level, int line);
  Value partial_times(const Partial& partial, const Value& tangent, const DualOperands& inner, int line);
  Value partial_value(const Partial& partial, const DualOperands& inner, int line);

  // ---- statements.cpp
  // These are true when the next statement is never reached.
  bool block(const Block& block);
  bool statement(const Stat& stat);
  bool simple_statement(const Stat& stat);
  bool while_loop(const Stat& stat);
  bool repeat_loop(const Stat& stat);
  bool branch(const Stat& stat);
  const std::string& label(const std::string& name) const;
  void declare(const Stat& stat);
  void assign(const Stat& stat);
  void assign_local(const Local& local, const Value& value, const void* site, int line);
  void numeric_for(const Stat& stat);
  bool loop_body(const Stat& stat);
  std::string loop_condition(const Expr& expr);
  /// The values of a list of expressions; a call at its end gives as many as are wanted.
  std::vector<Value> values(std::span<const ExprPtr> list, std::size_t wanted = every);
  static constexpr std::size_t every = static_cast<std::size_t>(-1);
  std::string stored_type(const Value& value) const;
  void declare_variable(Instance& instance, const std::string& name, const Value& type);
  void emit(const std::string& text);
  void line_directive(int line);

  // ---- expressions.cpp
  Value expression(const Expr& expr);
  Value variable(const Local& local, int line);
  Value unary(const Expr& expr);
  Value binary(const Expr& expr);
  Value power(const Value& x, Value y, int line);
  Value exponent_of_integers(const Value& base, const Value& exponent, int line);
  void check_truth(const Value& value, const Expr& expr);
  void discard(const Value& value, int line);
  Value both(const Expr& expr);
  Value either(const Expr& expr);
  Value choice(std::span<const Expr* const> alternatives);
  /// The boolean as text; refuses any other value.
  std::string condition(const Value& value, int line);
  /// The number as a number of that dtype.
  std::string as(const Value& value, DType dtype, int line);

  // ---- elements.cpp
  Value field(const Value& object, const std::string& name, int line);
  // Without `load` the array with its indices, for an assignment.
  Value index(const Expr& expr, bool load = true);
  Value entry(const Value& table, const Expr& key);
  static bool is_index(const Value& key);
  Value index_value(const Expr& key);
  [[noreturn]] void refuse_index(const std::string& name, const Value& index, const Expr& key, int line) const;
  Value indexed(Value array, const Expr& key, int line, bool load = true);
  std::string about_table(const Expr& target);
  std::string place(const Value& array, int line);
  Value element(const Value& array, int line);
  void keep_indices(const std::string& prefix, Value& array);
  Value target(const Expr& expr);
  void store(const Value& array, const Value& value, int line);
  void check_stored(const Value& array, const Value& value, int line) const;
  std::string about_whole(const Value& array) const;
  const HostValue& array_of(const Value& value) const;
  const Uniform* extent(const Value& array, std::size_t axis);
  std::string array_name(const Value& array);
  std::string position(const Value& array, std::size_t axis, DType dtype, int line);
  std::string index_checks(const Value& array, int line);

  // ---- apply.cpp
  Value apply(std::string_view row, const std::vector<Value>& operands, int line);
  Value apply(const OpInfo& row, const std::vector<Value>& operands, int line);
  DType promoted(const OpInfo& row, const std::vector<Value>& operands, const Range& range, int line) const;
  std::string row_code(const OpInfo& row, DType compute, DType result, const std::vector<Value>& operands, int line);

  // ---- calls.cpp
  std::vector<Value> call(const Expr& expr);
  void keep_call(std::vector<Value>& results, int line);
  std::vector<Value> method(const Expr& expr);
  std::vector<Value> builtin(const std::string& name, const Expr& call);
  std::vector<Value> math_function(const std::string& name, const Expr& call, std::vector<Value> arguments);
  [[noreturn]] void refuse_name(const std::string& name, int line) const;
  Value floor_of(const OpInfo& row, const Expr& argument, const Value& value, int line);
  std::vector<Value> parts_of(const Value& value, int line);
  Value complex_number(const std::vector<Value>& parts, int line);
  Value cast(const Value& value, DType dtype, int line);

  // ---- bit_calls.cpp
  static bool is_bit_function(std::string_view name);
  static std::vector<std::string> bit_names();
  std::string bits_of(const Value& value, DType dtype, int line);
  Value bit_function(const std::string& name, const std::vector<Value>& arguments, int line);

  // ---- kernel_calls.cpp
  bool is_kernel_call(const std::string& name) const;
  static std::vector<std::string_view> kernel_names();
  std::vector<Value> kernel_call(const std::string& name, const Expr& call);
  std::vector<Value> thread_position(const std::string& name, const Expr& call);
  Value own_array(const std::string& name, const Expr& call);
  Value atomic(const std::string& name, const Expr& call);
  void check_lane(const std::string& name, const Value& lane, int line) const;
  Value warp_call(const std::string& name, const Expr& call);
  std::vector<Value> report(const std::string& name, const Expr& call);
  std::string literal_text(const Expr& expr, const std::string& name);
  double constant_of(const Expr& expr, const std::string& what);
  bool make_constant(const Uniform& uniform);

  // ---- random_calls.cpp
  Value* drawn_before(const Expr& call);
  Value random_generator(const Expr& call);
  Value random_number(const Value& generator, const Expr& call);

  // ---- names and parameters
  /// "[op] script.lua:12: "
  std::string place_of(int line) const;
  [[noreturn]] void refuse(int line, const std::string& message) const;
  void check_nesting(std::string_view text) const;
  std::string name_of(const Local& local);
  const std::string& parameter(Parameter parameter, const std::string& key, const std::string& base);
  std::string uniform_name(const Uniform& uniform, DType dtype, int line);
  Value host_value(const HostValue& value, std::size_t index, const std::string& name, int line);
  Value captured(const Path& path, int line);

  const TranslationRequest& request_;
  std::shared_ptr<Uniforms> uniforms_ = std::make_shared<Uniforms>();
  std::map<std::string, Instance> instances_;
  Instance* root_ = nullptr;
  Instance* current_ = nullptr;
  DType function_real_;                              // of weak numbers with fractions that are not uniform
  DType real_;                                       // the same; within math.floor double
  int open_derivatives_ = 0;                         // those within which the code being written is
  std::string variables_;                            // those of the request
  std::string duals_;                                // functions of dual numbers
  std::map<std::string, std::string> name_of_dual_;  // by their text
  bool changed_ = false;
  int round_ = 0;
  std::size_t indent_ = 1;
  bool indexing_ = false;     // within brackets, where sums of small integers do not wrap
  bool hoists_ = true;        // here a statement may precede the one that is being written
  bool hoisted_ = false;      // one does
  bool conditional_ = false;  // the code being written is the right operand of `and` or `or`
  std::map<std::pair<const Instance*, const Expr*>, Value>
      drawn_;            // by the calls of the statement: what is computed before it
  bool breaks_ = false;  // the loop that is being written has a break
  int temporaries_ = 0;
  int effects_ = 0;                                          // the number of expressions with effects translated so far
  int depth_ = 0;                                            // of the calls that are being translated
  static constexpr int most_calls = 64;                      // a call with a constant is a translation of its own
  std::vector<std::pair<std::string, std::string>> labels_;  // those in scope: in Lua, and in C++
  std::string called_;                                       // the latest call, as a statement
  std::map<const Local*, std::string> names_;
  std::map<std::string, int> uses_;  // of names
  std::vector<Parameter> parameters_;
  std::map<std::string, std::size_t> parameter_of_key_;
  std::set<std::size_t> constants_;  // numbers of the list of values that are constants
  std::set<std::size_t> written_;    // arrays that the function assigns to
  // Arrays of the function itself, gpu.shared: their indices follow those of the list of values. By the call's place.
  std::vector<std::pair<const Expr*, HostValue>> own_arrays_;
  std::map<const Expr*, std::string> local_of_call_;  // the local that gets what the expression gives
};

}  // namespace gpulua::luafn
