// What functions return.

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

/// The dtype of a result in the device's memory.
DType result_dtype(const Value& result) {
  return result.kind == Value::Kind::integer ? DType::int64 : result.dtype;
}

}  // namespace

std::string result_name(std::size_t index) {
  return "result" + std::to_string(index + 1);
}

std::vector<Value> Translator::results_of(Instance& instance, const std::string& call) {
  std::size_t count = 0;
  for (const Variable& result : instance.results) count += is_known(result.value) ? 0 : 1;
  std::vector<Value> results;
  for (std::size_t k = 0; k < instance.results.size(); ++k) {
    Value value = instance.results[k].value;
    if (!is_known(value)) value.code = count > 1 ? call + "." + result_name(k) : call;
    results.push_back(std::move(value));
  }
  called_ = call;
  return results;
}

/// The number and its derivatives by the request's levels up to `depth`, in the order of Code::results; one of kind
/// none for a derivative that is 0.
void Translator::add_parts(const Value& number, std::size_t depth, std::vector<Value>& parts) const {
  if (depth == 0) {
    parts.push_back(number);
    return;
  }
  const std::size_t first = parts.size(), count = request_.levels[depth - 1].size();
  const bool varies = !number.levels.empty() && number.levels.back().depth == static_cast<int>(depth);
  add_parts(varies ? part_of(number, "v") : number, depth - 1, parts);
  const std::size_t size = parts.size() - first;
  for (std::size_t k = 0; k < count; ++k)
    if (varies && number.levels.back().depends_on(k))
      add_parts(part_of(number, "d[" + std::to_string(k) + "]"), depth - 1, parts);
    else
      parts.resize(parts.size() + size);
}

Code Translator::code_of_results() const {
  Code code;
  for (const Variable& result : root_->results) {
    std::vector<Value> parts;
    add_parts(result.value, request_.levels.size(), parts);
    for (const Value& part : parts) {
      const bool varies = part.kind != Value::Kind::none;
      code.results.push_back(varies ? result_dtype(part) : DType::float32);
      code.varies.push_back(varies);
    }
  }
  return code;
}

/// Sets a result of the outermost function.
void Translator::set_result(std::size_t index, const Value& given, const Value& type, int line) {
  Value number = type;
  number.code = stored_text(given, type, line);
  if (type.is_active()) {
    const std::string name = "value" + std::to_string(++temporaries_);
    emit("const " + stored_type(type) + " " + name + " = " + number.code + ";");
    hoisted_ = true;
    number.code = name;
  }
  std::vector<Value> parts;
  add_parts(number, request_.levels.size(), parts);
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (parts[k].kind != Value::Kind::none) emit(result_name(index * parts.size() + k) + " = " + parts[k].code + ";");
}

void Translator::return_values(const Stat& stat) {
  Instance& instance = *current_;
  const std::vector<Value> given = values(stat.right);
  if (request_.kernel && &instance == root_ && !given.empty())
    refuse(stat.line, "a kernel returns nothing; it writes its results to an array, out[i] = ...");
  ++instance.returns;
  if (instance.returns > 1 && given.size() != instance.results.size())
    refuse(stat.line, "expected as many results as another return of the function has, " +
                          std::to_string(instance.results.size()) + ", got " + std::to_string(given.size()));
  instance.results.resize(given.size());
  std::string returned;
  std::size_t count = 0;
  const bool converts = &instance == root_ && !request_.results.empty();
  if (converts && given.size() != request_.results.size())
    refuse(stat.line, "expected a result for each of the " + std::to_string(request_.results.size()) +
                          " outputs, got " + std::to_string(given.size()));
  for (std::size_t k = 0; k < given.size(); ++k) {
    Variable& result = instance.results[k];
    if (given[k].kind == Value::Kind::none || given[k].kind == Value::Kind::nil)
      refuse(stat.line, "result " + std::to_string(k + 1) + " is nil; a device has numbers and booleans");
    Value type;
    try {
      const bool alone = result.assigned.empty() || (result.assigned.size() == 1 && result.assigned[0].site == &stat);
      if (converts) {
        type = strong_value(request_.results[k], {});
      } else if (alone && &instance != root_ && !instance.has_effects && is_known(given[k])) {
        result.assigned = {{&stat, given[k], stat.line}};
        type = given[k];
      } else {
        type = result.assign(&stat, given[k], stat.line, real_);
      }
    } catch (const Error& error) {
      refuse(stat.line, "result " + std::to_string(k + 1) + ": " + error.what());
    }
    if (!same_type(type, result.value) || is_known(type) != is_known(result.value)) changed_ = true;
    result.value = type;
    if (is_known(type)) continue;
    if (&instance == root_) {
      set_result(k, given[k], type, stat.line);
      continue;
    }
    returned += (count++ == 0 ? "" : ", ") + stored_text(given[k], type, stat.line);
  }
  emit(count == 0 ? "return;" : count > 1 ? "return {" + returned + "};" : "return " + returned + ";");
}

}  // namespace gpulua::luafn
