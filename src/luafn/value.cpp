#include "src/luafn/value.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/base/name_row.h"
#include "src/ops/promotion.h"

namespace gpulua::luafn {

namespace {

std::string lines(int one, int other) {
  if (one == other) return "line " + std::to_string(one);
  return "lines " + std::to_string(std::min(one, other)) + " and " + std::to_string(std::max(one, other));
}

}  // namespace

Levels joined(const Levels& x, const Levels& y) {
  Levels all = x;
  for (const Level& level : y) {
    const auto at = std::lower_bound(all.begin(), all.end(), level,
                                     [](const Level& one, const Level& other) { return one.depth < other.depth; });
    if (at != all.end() && at->depth == level.depth)
      at->varying |= level.varying;
    else
      all.insert(at, level);
  }
  return all;
}

Value uniform_value(const Uniform* uniform) {
  Value value;
  value.kind = uniform->is_boolean                    ? Value::Kind::boolean
               : uniform->number == NumberClass::real ? Value::Kind::real
                                                      : Value::Kind::integer;
  value.uniform = uniform;
  value.range = uniform->range;
  value.dtype = DType::boolean;
  return value;
}

Value strong_value(DType dtype, std::string code) {
  Value value;
  value.kind = dtype == DType::boolean ? Value::Kind::boolean : Value::Kind::strong;
  value.dtype = dtype;
  value.code = std::move(code);
  return value;
}

std::string_view name_of_cuda(std::string_view name) {
  constexpr NameRow rows[] = {{"atomicAdd", "gpu.atomic.add(x, i, value)"},
                              {"atomicCAS", "gpu.atomic.compare_exchange(x, i, old, value)"},
                              {"atomicMax", "gpu.atomic.max(x, i, value)"},
                              {"atomicMin", "gpu.atomic.min(x, i, value)"},
                              {"blockDim", "gpu.block_size()"},
                              {"blockIdx", "gpu.block_index()"},
                              {"sync", "gpu.barrier()"},
                              {"syncthreads", "gpu.barrier()"},
                              {"syncwarp", "gpu.warp_barrier()"},
                              {"threadIdx", "gpu.thread()"},
                              {"threadfence", "gpu.fence()"}};
  static_assert(std::ranges::is_sorted(rows, {}, &NameRow::name));
  const std::size_t first = name.find('.') + 1;
  const std::string_view own = name.substr(first, name.find('.', first) - first);
  return here_of(rows, own);
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::none:
    case Value::Kind::nil:
      return "nil";
    case Value::Kind::integer:
      return "an integer";
    case Value::Kind::real:
      return "a number";
    case Value::Kind::boolean:
      return "a boolean";
    case Value::Kind::strong:
      return "a number of dtype " + std::string(gpulua::name(value.dtype));
    case Value::Kind::array:
      return "the array " + value.name;
    case Value::Kind::shape:
      return "the shape of " + value.name;
    case Value::Kind::function:
      return "a function";
    case Value::Kind::builtin: {
      const std::string_view here = name_of_cuda(value.name);
      return value.name + (here.empty() ? "" : ", for which there is " + std::string(here));
    }
    case Value::Kind::string:
      return "the string \"" + value.name + '"';
    case Value::Kind::table:
      return "the table " + value.name;
    case Value::Kind::random:
      return "a generator of gpu.random.at";
  }
  return "a value";
}

void Join::add(const Value& value, int line) {
  levels_ = joined(levels_, value.levels);
  if (value.kind == Value::Kind::boolean) {
    boolean_ = true;
    boolean_line_ = line;
  } else if (value.is_weak()) {
    (value.kind == Value::Kind::integer ? integer_ : real_) = true;
    number_line_ = line;
  } else if (value.kind == Value::Kind::strong) {
    if (strong_ && info(*strong_).kind != info(value.dtype).kind) {
      const DType common = is_integer(*strong_) ? value.dtype : *strong_;  // which keeps fractions
      throw Error("its dtype is {} and {}, by {}; gpu.{}(...) converts the other one, that of an argument in a local",
                  gpulua::name(*strong_), gpulua::name(value.dtype), lines(strong_line_, line), gpulua::name(common));
    }
    strong_ = strong_ ? promote(*strong_, value.dtype) : value.dtype;
    strong_line_ = number_line_ = line;
  } else {
    const bool is_array = value.kind == Value::Kind::array, is_function = value.kind == Value::Kind::function;
    throw Error("expected a number or a boolean, got {}{}", describe(value),
                is_array      ? "; an element has an index for each axis, a[i][j], and a variable stays the array that "
                                "it is declared as: make two arrays the arguments of a function, f(a, b) or f(b, a)"
                : is_function ? "; a function has its name from its declaration, local function f"
                              : "");
  }
  if (boolean_ && (integer_ || real_ || strong_))
    throw Error("it is a boolean and a number, by {}; (condition and 1 or 0) makes a number of a boolean",
                lines(boolean_line_, number_line_));
}

Value Join::result(DType real) const {
  Value value;
  if (boolean_) return strong_value(DType::boolean, {});
  if (strong_) {
    DType dtype = *strong_;
    if (real_) dtype = promote_weak(dtype, Scalar(0.5), real);
    value = strong_value(dtype, {});
  } else if (real_) {
    value.kind = Value::Kind::real;
    value.dtype = real;
  } else if (integer_) {
    value.kind = Value::Kind::integer;
    value.dtype = DType::int64;
  }
  value.levels = levels_;
  return value;
}

}  // namespace gpulua::luafn
