// Statements: one of C++ for each of Lua's. All variables are declared at the head of their function, so no goto passes
// a declaration.

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

void Translator::emit(const std::string& text) {
  current_->body += std::string(2 * indent_, ' ') + text + "\n";
}

void Translator::line_directive(int line) {
  current_->body += "#line " + std::to_string(line) + " \"" + current_->closure->file + "\"\n";
}

void Translator::declare_variable(Instance& instance, const std::string& name, const Value& type) {
  if (!instance.declared.insert(name).second) return;
  instance.declarations += (&instance == root_ ? "  " : "    ") + stored_type(type) + " " + name + "{};\n";
}

bool Translator::block(const Block& block) {
  // Labels of different blocks may have one name, which C++ takes for a whole function.
  const std::size_t outer = labels_.size();
  for (const auto& stat : block)
    if (stat->kind == StatKind::label)
      labels_.emplace_back(stat->text, stat->text + "_label" + std::to_string(++temporaries_));
  bool ends = false;
  for (const auto& stat : block)
    if (!ends || stat->kind == StatKind::label) ends = statement(*stat);
  labels_.resize(outer);
  return ends;
}

const std::string& Translator::label(const std::string& name) const {
  return std::find_if(labels_.rbegin(), labels_.rend(), [&](const auto& label) { return label.first == name; })->second;
}

bool Translator::statement(const Stat& stat) {
  if (stat.kind != StatKind::block) line_directive(stat.line);
  std::erase_if(drawn_, [&](const auto& entry) { return entry.first.first == current_; });
  switch (stat.kind) {
    case StatKind::block:
      return block(stat.blocks.front());
    case StatKind::while_loop:
      return while_loop(stat);
    case StatKind::repeat_loop:
      return repeat_loop(stat);
    case StatKind::branch:
      return branch(stat);
    case StatKind::numeric_for:
      return numeric_for(stat), false;
    case StatKind::generic_for:
      refuse(stat.line, "a device has no iterators; write for i = 1, #a do ... end");
    default:
      return simple_statement(stat);
  }
}

/// A statement without blocks. What is hoisted out of its expressions gets a block around both.
bool Translator::simple_statement(const Stat& stat) {
  const std::size_t begin = current_->body.size();
  hoisted_ = false;
  bool ends = false;
  switch (stat.kind) {
    case StatKind::local:
    case StatKind::local_function:
      declare(stat);
      break;
    case StatKind::assign:
      assign(stat);
      break;
    case StatKind::call:
      called_.clear();
      stat.right.front()->kind == ExprKind::call ? call(*stat.right.front()) : method(*stat.right.front());
      if (!called_.empty()) emit(called_ + ";");
      break;
    case StatKind::result:
      return_values(stat);
      ends = true;
      break;
    case StatKind::leave:
      breaks_ = ends = true;
      emit("break;");
      break;
    case StatKind::jump:
      ends = true;
      emit("goto " + label(stat.text) + ";");
      break;
    case StatKind::label:
      emit(label(stat.text) + ":;");
      break;
    default:
      break;
  }
  if (!hoisted_) return ends;
  current_->body.insert(begin, "  {\n");
  emit("}");
  return ends;
}

/// True for a body that has no end and no break.
bool Translator::loop_body(const Stat& stat) {
  const bool outer = std::exchange(breaks_, false);
  ++indent_;
  const bool ends = block(stat.blocks.front());
  --indent_;
  return !std::exchange(breaks_, outer) && ends;
}

bool Translator::while_loop(const Stat& stat) {
  const bool outer = breaks_;
  emit("while (" + loop_condition(*stat.right.front()) + ") {");
  breaks_ = false;
  ++indent_;
  block(stat.blocks.front());
  --indent_;
  emit("}");
  const Expr& condition = *stat.right.front();
  const bool forever = condition.kind == ExprKind::boolean && condition.number != 0;
  return !std::exchange(breaks_, outer) && forever;
}

bool Translator::repeat_loop(const Stat& stat) {
  emit("do {");
  const bool ends = loop_body(stat);
  line_directive(stat.right.front()->line);
  emit("} while (!(" + (ends ? "true" : loop_condition(*stat.right.front())) + "));");
  return ends;
}

/// A condition that is computed again in each iteration: nothing can be written before it.
std::string Translator::loop_condition(const Expr& expr) {
  const bool hoists = hoists_;
  hoists_ = false;
  std::string text = condition(expression(expr), expr.line);
  hoists_ = hoists;
  return text;
}

std::vector<Value> Translator::values(std::span<const ExprPtr> list, std::size_t wanted) {
  std::vector<Value> result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Expr& expr = *list[i];
    const bool is_call = expr.kind == ExprKind::call || expr.kind == ExprKind::method;
    if (i + 1 < list.size() || !is_call) {
      result.push_back(expression(expr));
      continue;
    }
    std::vector<Value> given = expr.kind == ExprKind::call ? call(expr) : method(expr);
    const std::size_t room = wanted == every ? given.size() : wanted > i ? wanted - i : 1;
    if (room > 1 && given.size() > 1) {
      if (!hoists_)
        refuse(expr.line, "several results of a call in the condition of a loop; assign them to locals first");
      // Each result is a member of what the call returns. An expression may be translated twice, and calls once.
      std::string& temporary = drawn_[{current_, &expr}].name;
      for (std::size_t k = 0; k < given.size(); ++k) {
        const std::string member = "." + result_name(k);
        if (is_known(given[k]) || !given[k].code.ends_with(member)) continue;
        if (temporary.empty()) {
          temporary = "call" + std::to_string(++temporaries_);
          emit("const auto " + temporary + " = " + given[k].code.substr(0, given[k].code.size() - member.size()) + ";");
          hoisted_ = true;
        }
        given[k].code = temporary + member;
      }
    }
    result.insert(result.end(), given.begin(), given.end());
  }
  return result;
}

void Translator::declare(const Stat& stat) {
  if (stat.kind == StatKind::local_function) {
    if (stat.locals.front()->reassigned)
      refuse(stat.line,
             "the function " + stat.locals.front()->name + " is assigned twice; a device calls the one that it knows");
    current_->variables[stat.locals.front()].value = expression(*stat.right.front());
    return;
  }
  for (std::size_t i = 0; i < std::min(stat.locals.size(), stat.right.size()); ++i)
    local_of_call_[stat.right[i].get()] = stat.locals[i]->name;
  std::vector<Value> given = values(stat.right, stat.locals.size());
  // A variable that the values read may be one that is assigned: `local x, y = f(y), x` reads outer ones, so no order
  // matters here.
  for (std::size_t i = 0; i < stat.locals.size(); ++i) {
    const Local& local = *stat.locals[i];
    const bool has_value = i < given.size() && given[i].kind != Value::Kind::nil && given[i].kind != Value::Kind::none;
    if (!has_value) continue;  // it gets its type where it is assigned
    if (local.reassigned) {
      assign_local(local, given[i], &local, stat.line);
      continue;
    }
    Variable& variable = current_->variables[&local];
    if (is_known(given[i])) {
      variable.value = given[i];
      if (given[i].kind == Value::Kind::array) {
        variable.value.name = local.name;
        keep_indices(name_of(local), variable.value);
      }
      continue;
    }
    const std::string name = name_of(local);
    Value stored = given[i];
    stored.code = name;
    declare_variable(*current_, name, stored);
    emit(name + " = " + given[i].code + ";");
    variable.value = stored;
  }
}

void Translator::assign(const Stat& stat) {
  const bool several = stat.left.size() > 1;
  // Lua computes all indices and values before it assigns the first.
  std::vector<Value> targets(stat.left.size());
  for (std::size_t i = 0; i < stat.left.size(); ++i) {
    if (stat.left[i]->kind != ExprKind::index) continue;
    targets[i] = target(*stat.left[i]);
    if (several) keep_indices("target" + std::to_string(++temporaries_), targets[i]);
  }
  std::vector<Value> given = values(stat.right, stat.left.size());
  if (given.size() < stat.left.size())
    refuse(stat.line, "expected a value for each of the " + std::to_string(stat.left.size()) + " variables, got " +
                          std::to_string(given.size()) + "; a device has no nil");
  if (several) {
    for (std::size_t i = 0; i < stat.left.size(); ++i) {
      if (is_known(given[i])) continue;
      const std::string temporary = "value" + std::to_string(++temporaries_);
      emit("const " + stored_type(given[i]) + " " + temporary + " = " + given[i].code + ";");
      given[i].code = temporary;
      hoisted_ = true;
    }
  }
  for (std::size_t i = stat.left.size(); i-- > 0;) {  // as LuaJIT, the last first
    const Expr& left = *stat.left[i];
    Path path;
    if (left.kind == ExprKind::index) {
      store(targets[i], given[i], left.line);
      continue;
    }
    if (free_path(left, *current_->closure->function, path))
      refuse(left.line, "it assigns " + path.root + ", a variable from outside of the function; " +
                            (request_.kernel ? "out[i] = value writes to an array that is an argument, and "
                                               "gpu.atomic.add(out, 1, value) adds what all threads give"
                                             : "return the value instead"));
    assign_local(*left.local, given[i], &left, left.line);
  }
}

void Translator::assign_local(const Local& local, const Value& value, const void* site, int line) {
  if (value.kind == Value::Kind::nil || value.kind == Value::Kind::none)
    refuse(line, local.name + " = nil; a device has no nil");
  Instance* owner = current_;
  while (owner->scope && owner->function != local.owner) owner = owner->scope;
  if (owner != current_) note_effect();
  if (value.is_active() && value.levels.back().depth > owner->open_derivatives)
    refuse(line, "it assigns " + local.name +
                     ", a variable from outside of the function that is differentiated; "
                     "return the value, or assign gpu.detach(x)");
  Variable& variable = owner->variables[&local];
  Value type;
  try {
    type = variable.assign(site, value, line, real_);
  } catch (const Error& error) {
    refuse(line, "the variable " + local.name + ": " + error.what());
  }
  type.code = name_of(local);
  if (!same_type(type, variable.value)) changed_ = true;
  variable.value = type;
  declare_variable(*owner, type.code, type);
  emit(type.code + " = " + stored_text(value, type, line) + ";");
}

/// A condition that is known when the function is translated decides: the other branch is not translated.
bool Translator::branch(const Stat& stat) {
  const std::size_t begin = current_->body.size();
  bool ends = true, complete = false, hoisted = false;
  std::string closing;
  bool first = true;
  for (std::size_t i = 0; i < stat.blocks.size(); ++i) {
    const bool is_else = i == stat.right.size();
    Value value;
    if (!is_else) {
      if (!first) {
        emit("} else {");
        ++indent_;
        line_directive(stat.right[i]->line);
        closing += "}";
      }
      hoisted_ = false;
      value = expression(*stat.right[i]);
      hoisted = hoisted || hoisted_;
    }
    const bool constant = value.uniform && value.uniform->kind == Uniform::Kind::constant && value.uniform->is_boolean;
    if (constant && !std::get<bool>(value.uniform->constant)) {
      if (!first) emit("if (false) {");
      if (first && i + 1 < stat.blocks.size()) continue;
      if (first) break;
      first = false;
      continue;
    }
    const bool always = is_else || constant;
    if (always && !is_else && !first) emit("if (true) {");
    if (always && first) emit("{");
    if (always && is_else && !first) emit("} else {");
    if (!always) emit("if (" + condition(value, stat.right[i]->line) + ") {");
    first = false;
    ++indent_;
    ends = block(stat.blocks[i]) && ends;
    --indent_;
    complete = always;
    if (always) break;
  }
  for (std::size_t i = closing.size(); i > 0; --i) {
    emit("}");
    --indent_;
  }
  if (!first) emit("}");
  if (hoisted) {
    current_->body.insert(begin, "  {\n");
    emit("}");
  }
  return ends && complete;
}

void Translator::numeric_for(const Stat& stat) {
  const Local& local = *stat.locals.front();
  emit("{");
  ++indent_;
  std::vector<Value> bounds = values(std::span(stat.right).first(stat.right.size()), 3);
  if (bounds.size() < 2 || bounds.size() > 3)
    refuse(stat.line, "expected the first and the last value of the loop, and a step");
  if (bounds.size() == 2) bounds.push_back(uniform_value(uniforms_->constant(1.0)));
  for (const Value& bound : bounds)
    if (!bound.is_number()) refuse(stat.line, "expected numbers as bounds of the loop, got " + describe(bound));
  bounds[1] = without_derivatives(bounds[1]);
  const auto& [first, last, step] = std::tie(bounds[0], bounds[1], bounds[2]);
  const bool constant_step = step.uniform && step.uniform->kind == Uniform::Kind::constant;
  const double step_value = constant_step ? std::get<double>(step.uniform->constant) : 0;
  if (constant_step && step_value == 0) refuse(stat.line, "the loop's step is 0");

  Value counter;
  std::string stop;
  if (is_integer_number(first) && is_integer_number(step)) {
    counter.kind = Value::Kind::integer;
    counter.range = {std::min(first.range.low, last.range.low), std::max(first.range.high, last.range.high)};
    // The counter passes its last value by a step.
    const Range passed{counter.range.low - std::fabs(step_value), counter.range.high + std::fabs(step_value)};
    const bool small = first.is_weak() && last.kind == Value::Kind::integer && constant_step && passed.fits_int();
    if (!small) counter.range = {};
    counter.dtype = small ? DType::int32 : DType::int64;
    if (is_integer_number(last)) {
      stop = as(last, counter.dtype, stat.line);
    } else {  // a last value with a fraction
      const std::string whole = last.kind == Value::Kind::real ? as(last, DType::float64, stat.line) : last.code;
      const DType dtype = last.kind == Value::Kind::real ? DType::float64 : last.dtype;
      stop = converted((constant_step && step_value < 0 ? "ceil(" : "floor(") + whole + ")", dtype, counter.dtype);
    }
  } else {
    Join join;
    for (const Value& bound : bounds) join.add(bound, stat.line);
    counter = join.result(DType::float64);  // counted as Lua does
    stop = as(last, counter.dtype, stat.line);
  }
  const std::string name = name_of(local), counting = local.reassigned ? name + "at" : name;
  counter.code = counting;
  declare_variable(*current_, counting, counter);
  const std::string end = name + "last", type = stored_type(counter);
  const std::string by = as(step, counter.dtype, stat.line);
  std::string test = counting + (step_value < 0 ? " >= " : " <= ") + end, advance = counting + " += " + by;
  emit("const " + type + " " + end + " = " + stop + ";");
  if (!constant_step) {
    emit("const " + type + " " + name + "step = " + by + ";");
    test = name + "step >= 0 ? " + counting + " <= " + end + " : " + counting + " >= " + end;
    advance = counting + " += " + name + "step";
  }
  emit("for (" + counting + " = " + as(first, counter.dtype, stat.line) + "; " + test + "; " + advance + ") {");
  ++indent_;
  if (local.reassigned)
    assign_local(local, counter, &local, stat.line);
  else
    current_->variables[&local].value = counter;
  --indent_;
  loop_body(stat);
  emit("}");
  --indent_;
  emit("}");
}

}  // namespace gpulua::luafn
