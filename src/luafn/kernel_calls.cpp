// What only kernels have: positions of threads, memory of their own, barriers, atomic operations, operations of a warp.

#include <algorithm>
#include <string_view>

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

struct Position {
  std::string_view name, text;
  Range range;
};
// @ stands for an axis: x, y, z.
constexpr Position positions[] = {
    {"gpu.grid", "((long long)blockIdx.@ * blockDim.@ + threadIdx.@ + 1)", {1, 0x1p42}},
    {"gpu.grid_size", "((long long)gridDim.@ * blockDim.@)", {1, 0x1p42}},
    {"gpu.thread", "((int)threadIdx.@ + 1)", {1, 1024}},
    {"gpu.block_index", "((long long)blockIdx.@ + 1)", {1, 0x1p31}},
    {"gpu.block_size", "((int)blockDim.@)", {1, 1024}},
};
// In a grid of at most 2^30 threads along each axis.
constexpr Position small_positions[] = {
    {"gpu.grid", "((int)(blockIdx.@ * blockDim.@ + threadIdx.@) + 1)", {1, 0x1p30}},
    {"gpu.grid_size", "((int)(gridDim.@ * blockDim.@))", {1, 0x1p30}},
    {"gpu.block_index", "((int)blockIdx.@ + 1)", {1, 0x1p30}},
};

struct Effect {
  std::string_view name, text;
};
constexpr Effect effects[] = {
    {"gpu.barrier", "__syncthreads()"}, {"gpu.warp_barrier", "__syncwarp()"}, {"gpu.fence", "__threadfence()"}};

struct Atomic {
  std::string_view name, function, real_function;  // for integers, and for floating numbers; "": there is none
};
constexpr Atomic atomics[] = {{"gpu.atomic.add", "atomicAdd", "atomicAdd"},
                              {"gpu.atomic.sub", "atomicAdd", "atomicAdd"},
                              {"gpu.atomic.max", "atomicMax", "gpulua_atomic_max"},
                              {"gpu.atomic.min", "atomicMin", "gpulua_atomic_min"},
                              {"gpu.atomic.band", "atomicAnd", ""},
                              {"gpu.atomic.bor", "atomicOr", ""},
                              {"gpu.atomic.bxor", "atomicXor", ""},
                              {"gpu.atomic.exchange", "atomicExch", "gpulua_atomic_exchange"},
                              {"gpu.atomic.compare_exchange", "atomicCAS", "gpulua_atomic_compare"}};

// Values of 4 or 8 bytes; `second` is an integer.
constexpr Effect warp_shuffles[] = {{"gpu.warp.shuffle", "__shfl_sync"},
                                    {"gpu.warp.down", "__shfl_down_sync"},
                                    {"gpu.warp.up", "__shfl_up_sync"},
                                    {"gpu.warp.xor", "__shfl_xor_sync"}};
constexpr Effect warp_votes[] = {
    {"gpu.warp.any", "__any_sync"}, {"gpu.warp.all", "__all_sync"}, {"gpu.warp.ballot", "__ballot_sync"}};

template <class Row, std::size_t count>
const Row* find(const Row (&table)[count], std::string_view name) {
  const auto found = std::find_if(table, table + count, [&](const Row& row) { return row.name == name; });
  return found == table + count ? nullptr : found;
}

std::string along(std::string_view text, char axis) {
  std::string result(text);
  std::replace(result.begin(), result.end(), '@', axis);
  return result;
}

Value integer_value(std::string code, DType dtype, const Range& range) {
  Value value;
  value.kind = Value::Kind::integer;
  value.dtype = dtype;
  value.range = range;
  value.code = std::move(code);
  return value;
}

/// The type in which CUDA's atomic functions take a 64-bit integer.
std::string atomic_type(DType dtype) {
  return dtype == DType::int64 ? "unsigned long long" : register_type(dtype);
}

}  // namespace

bool Translator::is_kernel_call(const std::string& name) const {
  return find(positions, name) || find(effects, name) || name.starts_with("gpu.atomic.") ||
         name.starts_with("gpu.warp.") || name == "gpu.shared" || name == "gpu.local_array" || name == "gpu.lane" ||
         name == "print" || name == "error" || name == "assert";
}

std::vector<std::string_view> Translator::kernel_names() {
  std::vector<std::string_view> names{"gpu.shared", "gpu.local_array", "gpu.lane", "gpu.random.at"};
  for (const Position& row : positions) names.push_back(row.name);
  for (const Effect& row : effects) names.push_back(row.name);
  return names;
}

std::vector<Value> Translator::kernel_call(const std::string& name, const Expr& call) {
  if (!request_.kernel)
    refuse(call.line,
           name + " is for kernels, which gpu.jit makes; a function of elements knows no threads and reports nothing");
  if (find(positions, name)) return thread_position(name, call);
  if (name != "gpu.lane" && name != "gpu.shared" && name != "gpu.local_array") note_effect();
  if (const Effect* effect = find(effects, name)) {
    if (call.parts.size() != 1) refuse(call.line, "expected no arguments for " + name);
    called_ = effect->text;
    return {};
  }
  if (name == "gpu.shared" || name == "gpu.local_array") return {own_array(name, call)};
  if (name == "gpu.lane")
    return {integer_value("((int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32) + 1)",
                          DType::int32, {1, 32})};
  if (name.starts_with("gpu.atomic.")) return {atomic(name, call)};
  if (name.starts_with("gpu.warp.")) return {warp_call(name, call)};
  return report(name, call);
}

double Translator::constant_of(const Expr& expr, const std::string& what) {
  const Value value = expression(expr);
  if (!value.uniform || value.uniform->is_boolean || !make_constant(*value.uniform))
    refuse(expr.line,
           "expected " + what + ", a constant, got " + describe(value) +
               (value.uniform && !value.uniform->is_boolean
                    ? "; a number argument can be one, as in k(x, x.size), the size of an array in the kernel cannot"
                : value.is_number()
                    ? "; a captured number or a number argument, as in k(x, 32), can be one, an element of an array "
                      "or what a thread computes cannot"
                    : ""));
  return std::get<double>(evaluate(*value.uniform, request_.values));
}

/// Makes the numbers in the expression constants of the text; the next round has them as such. False for one that
/// depends on an array's size.
bool Translator::make_constant(const Uniform& uniform) {
  if (uniform.kind == Uniform::Kind::value && constants_.insert(uniform.index).second) changed_ = true;
  if (uniform.kind == Uniform::Kind::value || uniform.kind == Uniform::Kind::constant) return true;
  return uniform.kind == Uniform::Kind::operation &&
         std::all_of(uniform.inputs.begin(), uniform.inputs.end(),
                     [&](const Uniform* input) { return make_constant(*input); });
}

/// gpu.grid(n) and the others: n positions, counted from 1.
std::vector<Value> Translator::thread_position(const std::string& name, const Expr& call) {
  const Position* small = request_.small_grid ? find(small_positions, name) : nullptr;
  const Position& row = small ? *small : *find(positions, name);
  const double axes = call.parts.size() == 2   ? constant_of(*call.parts[1], "a number of axes")
                      : call.parts.size() == 1 ? 1
                                               : 0;
  if (axes != 1 && axes != 2 && axes != 3) refuse(call.line, "expected 1, 2 or 3 axes, as in " + name + "(2)");
  std::vector<Value> results;
  for (const char axis : std::string_view("xyz").substr(0, static_cast<std::size_t>(axes)))
    results.push_back(
        integer_value(along(row.text, axis), row.range.fits_int() ? DType::int32 : DType::int64, row.range));
  return results;
}

/// gpu.shared(32, 33, "float32"): an array of the block; gpu.local_array: of the thread.
Value Translator::own_array(const std::string& name, const Expr& call) {
  const auto found =
      std::find_if(own_arrays_.begin(), own_arrays_.end(), [&](const auto& entry) { return entry.first == &call; });
  const auto index = static_cast<std::size_t>(found - own_arrays_.begin());
  const bool is_shared = name == "gpu.shared";
  const std::string expected = "expected sizes and a dtype, constants, as in " + name + "(32, 33, \"float32\")";
  if (call.parts.size() < 3) refuse(call.line, expected);
  HostValue array;
  array.kind = HostValue::Kind::array;
  std::string extents;
  for (std::size_t i = 1; i + 1 < call.parts.size(); ++i) {
    const double size = constant_of(*call.parts[i], "a size of " + name);
    if (!(size >= 1 && size <= 0x1p24) || size != static_cast<double>(static_cast<std::int64_t>(size)))
      refuse(call.line, expected);
    array.shape.push_back(static_cast<std::int64_t>(size));
    extents += "[" + std::to_string(array.shape.back()) + "]";
  }
  const Value dtype = expression(*call.parts.back());
  if (dtype.kind != Value::Kind::string || !find_dtype(dtype.name)) refuse(call.line, expected);
  array.dtype = *find_dtype(dtype.name);
  array.small = true;
  if (found == own_arrays_.end()) own_arrays_.emplace_back(&call, array);
  Value result;
  result.kind = Value::Kind::array;
  result.dtype = array.dtype;
  result.array = request_.values.size() + index;
  result.code = result.name = "array" + std::to_string(index + 1);
  if (const auto local = local_of_call_.find(&call); local != local_of_call_.end())
    result.code = local->second + "_" + result.code;
  if (root_->declared.insert(result.code).second)
    root_->declarations += std::string(is_shared ? "  __shared__ " : "  ") + element_type(array.dtype) + " " +
                           result.code + extents + (is_shared ? ";\n" : " = {};\n");
  return result;
}

/// gpu.atomic.add(a, i, value): i is an index, or a table of one for each axis. Gives the element before.
Value Translator::atomic(const std::string& name, const Expr& call) {
  const Atomic* row = find(atomics, name);
  const bool compares = name == "gpu.atomic.compare_exchange";
  if (!row)
    refuse(call.line,
           "expected gpu.atomic.add, sub, max, min, band, bor, bxor, exchange or compare_exchange, got " + name);
  if (call.parts.size() != (compares ? 5u : 4u))
    refuse(call.line,
           "expected an array, an index and " + std::string(compares ? "two values" : "a value") + " for " + name);
  Value array = expression(*call.parts[1]);
  if (array.kind != Value::Kind::array) refuse(call.line, "expected an array for " + name + ", got " + describe(array));
  const Expr& key = *call.parts[2];
  if (key.kind == ExprKind::table)
    for (const ExprPtr& part : key.parts) array = indexed(std::move(array), *part, call.line, false);
  else
    array = indexed(std::move(array), key, call.line, false);
  if (array.indices.size() != array_of(array).shape.size())
    refuse(call.line, "expected an index for each axis of " + array.name);
  const DType dtype = array.dtype;
  const bool integer =
      dtype == DType::int32 || dtype == DType::uint32 || dtype == DType::int64 || dtype == DType::uint64;
  const bool real = dtype == DType::float32 || dtype == DType::float64;
  if (!integer && !(real && !row->real_function.empty()))
    refuse(call.line, name + " has no form for " + std::string(gpulua::name(dtype)) +
                          "; integers of 32 and 64 bits have all, float32 and float64 those that need no bits");
  written_.insert(array.array);
  const bool extreme = name == "gpu.atomic.max" || name == "gpu.atomic.min";
  const std::string type = extreme ? register_type(dtype) : atomic_type(dtype);
  std::string text =
      std::string(real ? row->real_function : row->function) + "((" + type + "*)&" + place(array, call.line);
  for (std::size_t i = 3; i < call.parts.size(); ++i) {
    const Value value = expression(*call.parts[i]);
    check_stored(array, value, call.line);
    const std::string number = "(" + type + ")" + as(value, dtype, call.line);
    text += ", " + (name == "gpu.atomic.sub" ? "(" + type + ")(0 - " + number + ")" : number);
  }
  called_ = text + ")";
  return strong_value(dtype, "(" + register_type(dtype) + ")" + called_);
}

/// Refuses a lane, or a distance, that is always out of a warp.
void Translator::check_lane(const std::string& name, const Value& lane, int line) const {
  const bool is_lane = name == "gpu.warp.shuffle";
  const double least = is_lane ? 1 : 0, most = is_lane ? 32 : 31;
  if (!is_integer_number(lane) || !lane.is_weak() || (lane.range.high >= least && lane.range.low <= most)) return;
  refuse(line, std::string(is_lane ? "expected a lane from 1 to 32" : "expected a distance from 0 to 31") + " for " +
                   name + ", got " + std::to_string(static_cast<std::int64_t>(lane.range.high)));
}

Value Translator::warp_call(const std::string& name, const Expr& call) {
  constexpr std::string_view mask = "(0xffffffffu, ";
  if (const Effect* shuffle = find(warp_shuffles, name)) {
    if (call.parts.size() != 3) refuse(call.line, "expected a value and a lane or a distance for " + name);
    const Value value = expression(*call.parts[1]), lane = expression(*call.parts[2]);
    const DType dtype = value.kind == Value::Kind::integer ? DType::int64
                        : value.kind == Value::Kind::real  ? real_
                                                           : value.dtype;
    const std::size_t bytes = size_of(dtype);
    check_lane(name, lane, call.line);
    if (value.kind == Value::Kind::boolean || info(dtype).kind == DTypeKind::complex || (bytes != 4 && bytes != 8))
      refuse(call.line, "expected a number of 4 or 8 bytes for " + name + ", got " + describe(value));
    std::string at = as(lane, DType::int32, call.line);
    if (name == "gpu.warp.shuffle") at = "(" + at + " - 1)";  // lanes are counted from 1
    Value result = value.kind == Value::Kind::integer ? integer_value({}, DType::int64, {}) : value;
    result.uniform = nullptr;
    result.whole = false;
    result.dtype = dtype;
    result.code = std::string(shuffle->text) + std::string(mask) + as(value, dtype, call.line) + ", " + at + ")";
    return result;
  }
  const Effect* vote = find(warp_votes, name);
  if (!vote) refuse(call.line, "expected gpu.warp.shuffle, down, up, xor, any, all or ballot, got " + name);
  if (call.parts.size() != 2) refuse(call.line, "expected a boolean for " + name);
  const std::string text =
      std::string(vote->text) + std::string(mask) + condition(expression(*call.parts[1]), call.line) + ")";
  if (name == "gpu.warp.ballot") return strong_value(DType::uint32, text);
  return strong_value(DType::boolean, "(" + text + " != 0)");
}

/// A constant string as a literal of C++.
std::string Translator::literal_text(const Expr& expr, const std::string& name) {
  const Value value = expression(expr);
  if (value.kind != Value::Kind::string)
    refuse(expr.line, "expected a constant string for " + name + "; a device makes no strings");
  std::string text;
  for (const char c : value.name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ') {
      text += std::string("\\0") + static_cast<char>('0' + byte / 8) + static_cast<char>('0' + byte % 8);
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

/// print, error and assert.
std::vector<Value> Translator::report(const std::string& name, const Expr& call) {
  const auto arguments = std::span(call.parts).subspan(1);
  if (name == "error") {
    if (arguments.size() != 1) refuse(call.line, "expected a constant string for error");
    called_ = "gpulua_lua_error(\"" + literal_text(*arguments[0], name) + "\")";
    return {};
  }
  if (name == "assert") {
    if (arguments.empty() || arguments.size() > 2)
      refuse(call.line, "expected a boolean, and a constant string, for assert");
    const std::string message = arguments.size() == 2 ? literal_text(*arguments[1], name) : "assertion failed!";
    called_ = "gpulua_lua_assert(" + condition(expression(*arguments[0]), call.line) + ", \"" + message + "\")";
    return {};
  }
  std::string format, list;
  for (const ExprPtr& argument : arguments) {
    format += format.empty() ? "" : "\\t";
    const Value value = without_derivatives(expression(*argument));
    if (value.kind == Value::Kind::string) {
      list += ", \"" + literal_text(*argument, name) + "\"";
      format += "%s";
      continue;
    }
    const bool integer = is_integer_number(value);
    if (value.kind == Value::Kind::boolean) {
      list += ", " + condition(value, call.line) + " ? \"true\" : \"false\"";
      format += "%s";
    } else {
      list += ", " + as(value, integer ? DType::int64 : DType::float64, call.line);
      format += integer ? "%lld" : "%.14g";
    }
  }
  called_ = "printf(\"" + format + "\\n\"" + list + ")";
  return {};
}

}  // namespace gpulua::luafn
