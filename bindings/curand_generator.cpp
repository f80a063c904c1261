// Generators of the vendor's library.

#include "bindings/curand_generator.h"

#include <cmath>

#include "bindings/array_options.h"
#include "bindings/lua_array.h"
#include "bindings/lua_device.h"
#include "bindings/lua_random.h"
#include "bindings/state.h"
#include "src/array/capture.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

struct GeneratorHandle {
  std::shared_ptr<OpenDevice> device;
  std::string algorithm;
  std::shared_ptr<RngGenerator> generator;  // destroyed before its device
};

}  // namespace

template <>
struct LuaType<GeneratorHandle> {
  static constexpr const char* name = "a random number generator";
};

namespace {

/// The dtype in a generator's last argument: its name, or {dtype=}.
DType check_real_dtype(lua_State* L, int index, const char* op) {
  DType dtype = DType::float32;
  const auto read = [&](int at) { dtype = parse_dtype(check_string(L, at, op, "the name of a dtype")); };
  if (lua_type(L, index) == LUA_TSTRING) {
    check_end(L, index + 1, op, "the dtype");
    read(index);
  } else {
    read_options(L, index, op, {{"dtype", read}});
  }
  if (dtype != DType::float32 && dtype != DType::float64)
    throw Error("[" + std::string(op) + "] expected float32 or float64, got " + std::string(name(dtype)));
  return dtype;
}

/// An array on the generator's device, filled by `fill(generator, out, count, stream)`.
template <class Fill>
int push_filled(lua_State* L, GeneratorHandle& handle, Dims shape, DType dtype, Fill fill) {
  OpenDevice& device = *handle.device;
  Array array = empty(device, std::move(shape), dtype);
  // The generator's state is the host's, so a graph cannot hold the call.
  const auto work = [target = array.get(), generator = handle.generator, fill](const StreamRef& stream) {
    fill(*generator, target->write(stream), static_cast<std::size_t>(target->layout.size()), *stream);
  };
  if (array->layout.size() > 0) {
    if (Capture* capture = device.evaluator().capture())
      capture->before_launch(array, work);
    else
      work(device.stream());
  }
  push_array(L, std::move(array));
  return 1;
}

/// g:uniform(shape... [, dtype or {dtype=}]): numbers in (0, 1], float32 or float64.
int uniform(lua_State* L) {
  constexpr const char* op = "uniform";
  auto& handle = check<GeneratorHandle>(L, 1, op);
  int next = 0;
  Dims shape = check_shape(L, 2, next, op);
  const DType dtype = check_real_dtype(L, next, op);
  return push_filled(L, handle, std::move(shape), dtype,
                     [=](auto& generator, void* out, std::size_t count, Stream& stream) {
                       generator.uniform(dtype, out, count, stream);
                     });
}

/// Reads a shape: a table or one number.
Dims check_one_shape(lua_State* L, int index, const char* op) {
  if (!lua_istable(L, index)) return {check_integer(L, index, op, "a shape: a table or a number")};
  int next = 0;
  return check_shape(L, index, next, op);
}

/// g:normal(shape [, mean [, deviation]] [, dtype or {dtype=}]): the defaults are mean 0 and deviation 1.
/// g:lognormal(...): exp of normal numbers.
template <void (RngGenerator::*generate)(DType, void*, std::size_t, double, double, Stream&)>
int normal(lua_State* L) {
  constexpr const char* op = generate == &RngGenerator::normal ? "normal" : "lognormal";
  auto& handle = check<GeneratorHandle>(L, 1, op);
  Dims shape = check_one_shape(L, 2, op);
  if (lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) == 0 && lua_type(L, 3) == LUA_TNUMBER)
    fail(op, "the shape first; {0} is a shape without elements", L, 2);
  // Options can replace parameters.
  int options = 3;
  while (options < 5 && lua_type(L, options) != LUA_TTABLE && lua_type(L, options) != LUA_TSTRING) ++options;
  const auto parameter = [&](int index, double otherwise, const char* what) {
    if (index >= options) return otherwise;
    const double value = lua_isnoneornil(L, index) ? otherwise : check_number(L, index, op, what);
    if (!std::isfinite(value)) fail(op, what, L, index);
    return value;
  };
  const double mean = parameter(3, 0, "a finite mean");
  const double deviation = parameter(4, 1, "a finite standard deviation");
  if (deviation < 0) fail(op, "a standard deviation that is not negative", L, 4);
  const DType dtype = check_real_dtype(L, options, op);
  return push_filled(L, handle, std::move(shape), dtype,
                     [=](auto& generator, void* out, std::size_t count, Stream& stream) {
                       (generator.*generate)(dtype, out, count, mean, deviation, stream);
                     });
}

/// g:poisson(shape, mean): uint32.
int poisson(lua_State* L) {
  constexpr const char* op = "poisson";
  auto& handle = check<GeneratorHandle>(L, 1, op);
  Dims shape = check_one_shape(L, 2, op);
  const double mean = check_number(L, 3, op, "a mean above 0");
  if (!(mean > 0) || !std::isfinite(mean)) fail(op, "a mean above 0", L, 3);
  return push_filled(L, handle, std::move(shape), DType::uint32,
                     [=](auto& generator, void* out, std::size_t count, Stream& stream) {
                       generator.poisson(out, count, mean, stream);
                     });
}

int generator_text(lua_State* L) {
  const auto& handle = check<GeneratorHandle>(L, 1, "tostring");
  lua_pushfstring(L, "%s generator on %s", handle.algorithm.c_str(), handle.device->name().c_str());
  return 1;
}

}  // namespace

void push_curand_generator(lua_State* L, const std::shared_ptr<OpenDevice>& device, std::string_view algorithm,
                           std::uint64_t seed) {
  push(L, GeneratorHandle{device, std::string(algorithm), device->device().rng().create(algorithm, seed)});
}

void open_curand_generators(lua_State* L) {
  new_type<GeneratorHandle>(L, {{"__tostring", protect<generator_text>}}, "c:",
                            {{"uniform", protect<uniform>},
                             {"normal", protect<normal<&RngGenerator::normal>>},
                             {"lognormal", protect<normal<&RngGenerator::lognormal>>},
                             {"poisson", protect<poisson>}});
}

}  // namespace gpulua
