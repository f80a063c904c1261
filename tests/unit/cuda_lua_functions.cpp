// Kernels of Lua functions, compiled by NVRTC.

#include "src/codegen/body.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/luafn/parser.h"
#include "src/luafn/translate.h"
#include "src/ops/op_text.h"
#include "tests/catch.h"
#include "tests/unit/cuda_nvrtc.h"

using namespace gpulua;
using namespace gpulua::cuda;
using luafn::HostValue;

namespace {

HostValue array(DType dtype, luafn::ElementOrder order) {
  HostValue value;
  value.kind = HostValue::Kind::array;
  value.dtype = dtype;
  value.shape = {4, 64};
  value.strides = {64, 1};
  value.order = order;
  value.small = order == luafn::ElementOrder::row_major;
  return value;
}

/// The kernel of the function that the text returns, which uses nothing but `gpu` and Lua's libraries.
std::string kernel_text(const std::string& text, std::vector<HostValue> values) {
  const std::shared_ptr<const luafn::Chunk> chunk = luafn::parse(text);
  auto closure = std::make_shared<luafn::Closure>();
  closure->chunk = chunk;
  closure->function = chunk->functions[chunk->functions.size() - 2];  // it ends before the chunk
  closure->file = "test.lua";
  closure->first = values.size();
  for (const luafn::Path& path : closure->function->free) {
    HostValue value;
    value.kind = HostValue::Kind::builtin;
    value.name = path.root;
    values.push_back(value);
  }
  const luafn::Code code =
      luafn::translate({.op = "test", .function = closure, .values = values, .kernel = true, .small_grid = true});
  std::string parameters;
  for (const luafn::Parameter& parameter : code.parameters) {
    const bool is_array = parameter.kind == luafn::Parameter::Kind::array;
    parameters += (parameters.empty() ? "" : ", ") +
                  (is_array ? element_type(parameter.dtype) + "* " : register_type(parameter.dtype) + " ") +
                  parameter.name;
  }
  const std::string body = "extern \"C\" __global__ void test(" + parameters + ") {\n" + code.body + "}\n";
  return headers(body) + body;
}

constexpr const char* everything = R"(
return function(x, n)
  local tile, own = gpu.shared(64, "float32"), gpu.local_array(4, "float32")
  local i, t = gpu.grid(), gpu.thread()
  local columns, rows = gpu.grid_size(2)
  if i > x.shape[1] then return end
  local r = gpu.random.at(7, i)
  tile[t] = r:uniform() + r:normal() + r:uniform("float64") + r:normal("float64") + r:integer(6)
  own[1] = math.sin(tile[t]) % 3 + 2 ^ 0.5
  own[2], own[3] = math.modf(own[1] ^ 2)
  gpu.barrier()
  gpu.fence()
  local v = gpu.warp.down(tile[65 - t], 1) + gpu.warp.shuffle(own[1], 3)
  gpu.warp_barrier()
  assert(gpu.warp.any(v > 0), "a text")
  print("value", v, i, rows > columns)
  if v < -1e30 then error("too small") end
  local function row(a) for k = 1, #a do a[k] = a[k] * 0.5 + n end end
  row(x[i])
  gpu.atomic.add(x, {i, 1}, v)
  gpu.atomic.max(x, {i, 1}, gpu.abs(gpu.complex(v, gpu.atomic.exchange(x, {i, 2}, v))))
  gpu.atomic.sub(x, {i, 1}, gpu.atomic.min(x, {i, 2}, gpu.atomic.compare_exchange(x, {i, 3}, 0, v)))
end)";

constexpr const char* counting = R"(
return function(x, n)
  local i = gpu.thread()
  gpu.atomic.add(x, {1, i}, n)
  gpu.atomic.max(x, {2, i}, n)
  gpu.atomic.min(x, {3, i}, i)
  gpu.atomic.band(x, {3, i}, gpu.atomic.bor(x, {2, i}, gpu.atomic.bxor(x, {1, i}, n)))
  local old = gpu.atomic.exchange(x, {4, -1}, 3)
  x[1][1], x[1][2] = bit.rol(x[1][2], i), bit.rshift(x[1][1], 3) + gpu.square(gpu.atomic.add(x, {1, i}, 1) + 1)
  x[1][i] = gpu.atomic.compare_exchange(x, {4, i}, old, n) + bit.bxor(i, 5) + gpu.warp.ballot(i < 3)
end)";

constexpr const char* derived = R"(
return function(x, n)
  local i = gpu.thread()
  local function f(a, b)
    local s = 0
    while s < n do s = s + math.sin(a) ^ 2 * gpu.erf(b) / (1 + math.abs(a * b)) + gpu.float16(a) + gpu.float32(b) end
    return math.max(s, a) % 3, a < b and math.log(a) or gpu.atan2(a, b)
  end
  local value, da, db, rest = gpu.value_and_grad(f, {1, 2})(x[1][i], x[2][i])
  x[1][i] = value + gpu.grad(gpu.grad(f), 2)(da, db) + rest
end)";

}  // namespace

TEST_CASE("Kernels of Lua functions compile for GPUs", "[cuda]") {
  const Config config = Config::from_environment();
  KernelCache cache("", 0);
  HostValue number;
  number.kind = HostValue::Kind::number;
  number.number = 3;
  with_nvrtc([&] {
    for (const char* architecture : {"sm_75", "sm_90"}) {
      Compiler compiler(config, architecture, 13000);
      const auto compile = [&](const char* text, DType dtype, luafn::ElementOrder order) {
        KernelSource source;
        source.text = kernel_text(text, {array(dtype, order), number});
        CAPTURE(source.text);
        CHECK_NOTHROW(compiler.get(source, cache));
      };
      for (const auto order : {luafn::ElementOrder::row_major, luafn::ElementOrder::strided_rows,
                               luafn::ElementOrder::strided, luafn::ElementOrder::backwards}) {
        compile(everything, DType::float32, order);
        compile(everything, DType::float64, order);
      }
      for (const DType dtype : {DType::float16, DType::float32, DType::float64})
        compile(derived, dtype, luafn::ElementOrder::row_major);
      for (const DType dtype : {DType::int32, DType::uint32, DType::int64, DType::uint64})
        compile(counting, dtype, luafn::ElementOrder::row_major);
    }
  });
}
