// Generators of the vendor's library.

#include "bindings/random/curand_generator.h"

#include <algorithm>
#include <cmath>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/lua/library.h"
#include "bindings/lua/state.h"
#include "bindings/random/lua_random.h"
#include "src/array/capture.h"
#include "src/array/views.h"
#include "src/expressions/transfer.h"
#include "src/runtime/counted_memory.h"

namespace gpulua {

namespace {

struct GeneratorHandle {
  std::shared_ptr<OpenDevice> device;
  std::string algorithm;
  std::shared_ptr<RngGenerator> generator;  // destroyed before its device
  // Of a sequence: its dimensions, and the number of the next point.
  std::int64_t dimensions = 0;
  std::shared_ptr<std::uint64_t> next = std::make_shared<std::uint64_t>(0);

  bool is_sequence() const { return dimensions > 0; }
};

}  // namespace

template <>
struct LuaType<GeneratorHandle> {
  static constexpr const char* name = "a random number generator";
};

namespace {

/// The dtype in a generator's last argument: its name, or {dtype=}.
DType check_real_dtype(lua_State* L, int index, const char* op) {
  DType dtype = default_dtype(L);
  const auto read = [&](int at) { dtype = parse_dtype(check_string(L, at, op, "the name of a dtype")); };
  if (lua_type(L, index) == LUA_TSTRING) {
    check_end(L, index + 1, op, "the dtype");
    read(index);
  } else {
    read_options(L, index, op, {{"dtype", read}});
  }
  if (dtype != DType::float32 && dtype != DType::float64)
    throw Error("[{}] expected float32 or float64, got {}", op, name(dtype));
  return dtype;
}

/// The shape in memory of a sequence's numbers, which come coordinate by coordinate: the last axis, which has a size
/// for each dimension, is the first.
Dims by_coordinates(const GeneratorHandle& handle, Dims shape, const char* op) {
  if (shape.empty() || shape.back() != handle.dimensions)
    throw Error("[{}] expected a shape whose last size is the {} dimensions of the sequence, got {}", op,
                handle.dimensions, to_string(shape));
  std::rotate(shape.begin(), shape.end() - 1, shape.end());
  return shape;
}

/// An array on the generator's device, filled by `fill(generator, out, count, stream)`.
template <class Fill>
int push_filled(lua_State* L, GeneratorHandle& handle, Dims shape, DType dtype, const char* op, Fill fill) {
  check_repeatable(L, op);
  OpenDevice& device = *handle.device;
  const bool is_turned = handle.dimensions > 1;
  if (is_turned) shape = by_coordinates(handle, std::move(shape), op);
  Array array = empty(device, std::move(shape), dtype);
  const auto points = static_cast<std::uint64_t>(array->layout.size() / std::max<std::int64_t>(handle.dimensions, 1));
  // The generator's state is the host's, so a graph cannot hold the call.
  const auto work = [target = array.get(), generator = handle.generator, next = handle.next, points,
                     fill](const StreamRef& stream) {
    char* const to = target->write(stream);
    const auto count = static_cast<std::size_t>(target->layout.size());
    target->device().run_library("random", *stream, [&] { fill(*generator, to, count, *stream); });
    *next += points;
  };
  if (array->layout.size() > 0) {
    if (Capture* capture = device.evaluator().capture())
      capture->before_launch(array, work);
    else
      work(device.stream());
  }
  if (is_turned) {
    const std::size_t first[] = {0}, last[] = {array->layout.shape.size() - 1};
    array = view(array, move_axes(array->layout, first, last));
  }
  push_array(L, std::move(array));
  return 1;
}

/// c:uniform(shape... [, {dtype}])
/// Numbers in (0, 1], float32 or float64.
int uniform(lua_State* L) {
  constexpr const char* op = "uniform";
  auto& handle = check<GeneratorHandle>(L, 1, op);
  int next = 0;
  Dims shape = check_shape(L, 2, next, op);
  const DType dtype = check_real_dtype(L, next, op);
  return push_filled(L, handle, std::move(shape), dtype, op,
                     [=](auto& generator, void* out, std::size_t count, Stream& stream) {
                       generator.uniform(dtype, out, count, stream);
                     });
}

/// c:normal, c:lognormal(shape [, mean [, deviation]] [, {dtype}])
/// The defaults are mean 0 and deviation 1.
/// c:lognormal(...): exp of normal numbers.
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
  return push_filled(L, handle, std::move(shape), dtype, op,
                     [=](auto& generator, void* out, std::size_t count, Stream& stream) {
                       (generator.*generate)(dtype, out, count, mean, deviation, stream);
                     });
}

/// c:poisson(shape, mean)
/// An array of uint32.
int poisson(lua_State* L) {
  constexpr const char* op = "poisson";
  auto& handle = check<GeneratorHandle>(L, 1, op);
  Dims shape = check_one_shape(L, 2, op);
  const double mean = check_number(L, 3, op, "a mean above 0");
  if (!(mean > 0) || !std::isfinite(mean)) fail(op, "a mean above 0", L, 3);
  return push_filled(L, handle, std::move(shape), DType::uint32, op,
                     [=](auto& generator, void* out, std::size_t count, Stream& stream) {
                       generator.poisson(out, count, mean, stream);
                     });
}

/// The generator, which must be one of a sequence.
GeneratorHandle& check_sequence(lua_State* L, const char* op) {
  auto& handle = check<GeneratorHandle>(L, 1, op);
  if (!handle.is_sequence()) throw Error("[{}] expected a generator of a Sobol sequence, got {}", op, handle.algorithm);
  if (is_recording(bindings_of(L).context()))
    throw Error("[{}] expected a call outside of a function that gpu.fuse or gpu.graph records", op);
  return handle;
}

std::uint64_t check_points(lua_State* L, int index, const char* op) {
  const std::int64_t points = check_integer(L, index, op, "a number of points of 0 or more");
  if (points < 0) fail(op, "a number of points of 0 or more", L, index);
  return static_cast<std::uint64_t>(points);
}

void seek(GeneratorHandle& handle, std::uint64_t point) {
  handle.generator->seek(point);
  *handle.next = point;
}

/// c:skip(n)
int curand_skip(lua_State* L) {
  auto& handle = check_sequence(L, "skip");
  seek(handle, *handle.next + check_points(L, 2, "skip"));
  return 0;
}

/// c:state()
/// {offset=}, the number of the next point.
int curand_state(lua_State* L) {
  const auto& handle = check_sequence(L, "state");
  lua_newtable(L);
  push_scalar(L, *handle.next);
  lua_setfield(L, -2, "offset");
  seal_result(L, "state");
  return 1;
}

/// c:set_state(state)
int curand_set_state(lua_State* L) {
  auto& handle = check_sequence(L, "set_state");
  if (!lua_istable(L, 2)) fail("set_state", "a table that state() has given", L, 2);
  std::uint64_t offset = 0;
  read_options(L, 2, "set_state", {{"offset", [&](int value) { offset = check_points(L, value, "set_state"); }}});
  seek(handle, offset);
  return 0;
}

/// The generator, whose memory counts as long as it lives.
std::shared_ptr<RngGenerator> counted(const std::shared_ptr<OpenDevice>& device,
                                      std::unique_ptr<RngGenerator> generator) {
  struct Counted {
    CountedMemory memory;
    std::unique_ptr<RngGenerator> generator;  // destroyed before its device
  };
  const std::size_t bytes = generator->bytes();
  std::shared_ptr<Counted> both(new Counted{{device, bytes}, std::move(generator)});
  return {both, both->generator.get()};
}

int curand_text(lua_State* L) {
  const auto& handle = check<GeneratorHandle>(L, 1, "tostring");
  lua_pushfstring(L, "%s generator on %s", handle.algorithm.c_str(), handle.device->name().c_str());
  return 1;
}

}  // namespace

void push_curand_generator(lua_State* L, const std::shared_ptr<OpenDevice>& device, std::string_view algorithm,
                           const CurandOptions& options) {
  constexpr const char* op = "random.generator";
  const bool is_sequence = std::find(std::begin(sequences), std::end(sequences), algorithm) != std::end(sequences);
  Rng& rng = device->device().rng();
  if (!is_sequence) {
    std::shared_ptr<RngGenerator> generator = counted(device, rng.create(algorithm, options.seed.value_or(0)));
    if (options.dimensions || options.offset)
      throw Error("[{}] expected dimensions and offset of a Sobol sequence, got them for {}", op, algorithm);
    push(L, GeneratorHandle{device, std::string(algorithm), std::move(generator)});
    return;
  }
  if (options.seed)
    throw Error("[{}] expected no seed for {}, which is one sequence; the option offset begins it at another point", op,
                algorithm);
  const std::int64_t dimensions = options.dimensions.value_or(1);
  if (dimensions < 1 || dimensions > most_sequence_dimensions)
    throw Error("[{}] expected from 1 to {} dimensions, got {}", op, most_sequence_dimensions, dimensions);
  GeneratorHandle handle{device, std::string(algorithm),
                         counted(device, rng.create_sequence(algorithm, static_cast<std::uint32_t>(dimensions))),
                         dimensions};
  if (options.offset) seek(handle, *options.offset);
  push(L, std::move(handle));
}

void open_curand_generators(lua_State* L) {
  new_type<GeneratorHandle>(L, {{"__tostring", protect<curand_text>}}, "c:",
                            {{"uniform", protect<uniform>},
                             {"normal", protect<normal<&RngGenerator::normal>>},
                             {"lognormal", protect<normal<&RngGenerator::lognormal>>},
                             {"poisson", protect<poisson>},
                             {"set_state", protect<curand_set_state>},
                             {"skip", protect<curand_skip>},
                             {"state", protect<curand_state>}});
}

}  // namespace gpulua
