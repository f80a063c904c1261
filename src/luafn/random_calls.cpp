// gpu.random.at(seed, sequence), and the numbers that it gives: r:uniform(), r:normal(), r:integer(n).

#include <algorithm>

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

/// What a call has drawn already in this statement: an expression may be translated twice, and draws once.
Value* Translator::drawn_before(const Expr& call) {
  if (!hoists_ || conditional_)
    refuse(call.line, "random numbers in the condition of a loop, or after `and` or `or`; assign them to locals first");
  const auto found = drawn_.find({current_, &call});
  return found == drawn_.end() ? nullptr : &found->second;
}

/// A generator is a variable at the head of its function, which the call sets.
Value Translator::random_generator(const Expr& call) {
  if (call.parts.size() != 3)
    refuse(call.line, "expected a seed and a number of a sequence, as in gpu.random.at(1, i)");
  if (const Value* before = drawn_before(call)) return *before;
  Value generator;
  generator.kind = Value::Kind::random;
  generator.scope = current_;
  generator.name = "random" + std::to_string(++temporaries_);
  std::string numbers;
  for (std::size_t i = 1; i < 3; ++i) {
    const Value number = expression(*call.parts[i]);
    if (!is_integer_number(number) && !number.whole)
      refuse(call.line, "expected integers for gpu.random.at, got " + describe(number));
    numbers += (i > 1 ? ", " : "") + std::string("(unsigned long long)") + as(number, DType::int64, call.line);
  }
  if (current_->declared.insert(generator.name).second)
    current_->declarations +=
        std::string(current_ == root_ ? "  " : "    ") + "gpulua_sequence " + generator.name + "{};\n";
  emit(generator.name + " = gpulua_sequence::of(" + numbers + ");");
  return drawn_[{current_, &call}] = generator;
}

/// A number of the generator. It goes into a variable, so that numbers are drawn in the order of the text.
Value Translator::random_number(const Value& generator, const Expr& call) {
  const bool integer = call.text == "integer";
  if (!integer && call.text != "uniform" && call.text != "normal")
    refuse(call.line, "expected r:uniform(), r:normal() or r:integer(n) of gpu.random.at, got " + call.text);
  if (const Value* before = drawn_before(call)) return *before;
  note_effect();
  Value number;
  std::string drawn;
  if (integer) {
    if (call.parts.size() != 2) refuse(call.line, "expected the greatest integer, as in r:integer(6)");
    const Value count = expression(*call.parts[1]);
    if (!is_integer_number(count)) refuse(call.line, "expected an integer for r:integer(n), got " + describe(count));
    if (count.is_weak() && count.range.high < 1)
      refuse(call.line, "expected an integer of 1 or more for r:integer(n), got " +
                            std::to_string(static_cast<std::int64_t>(count.range.high)));
    number.kind = Value::Kind::integer;
    number.dtype = DType::int64;
    number.range = {1, std::max(1.0, count.is_weak() ? count.range.high : 0x1p63)};
    drawn = ".integer(" + as(count, DType::int64, call.line) + ")";
  } else {
    DType dtype = real_;
    number.kind = Value::Kind::real;
    if (call.parts.size() > 1) {
      const Value named = expression(*call.parts[1]);
      const auto found = named.kind == Value::Kind::string ? find_dtype(named.name) : std::nullopt;
      if (call.parts.size() > 2 || !found || (*found != DType::float32 && *found != DType::float64))
        refuse(call.line, "expected \"float32\" or \"float64\", or nothing, for r:" + call.text);
      dtype = *found;
      number.kind = Value::Kind::strong;
    }
    number.dtype = dtype;
    drawn = std::string(call.text == "normal" ? ".standard_" : ".uniform_") +
            (dtype == DType::float64 ? "double()" : "float()");
  }
  number.code = "drawn" + std::to_string(++temporaries_);
  emit("const " + stored_type(number) + " " + number.code + " = " + generator.name + drawn + ";");
  hoisted_ = true;
  return drawn_[{current_, &call}] = number;
}

}  // namespace gpulua::luafn
