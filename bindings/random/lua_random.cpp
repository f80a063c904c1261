// gpu.random: streams of random words and basic draws. random.lua builds the distributions on them.

#include "bindings/random/lua_random.h"

#include <array>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/arrays/number_argument.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/library.h"
#include "bindings/lua/options_elsewhere.h"
#include "bindings/random/curand_generator.h"
#include "src/algorithms/valid_numbers.h"

namespace gpulua {

namespace {

/// The result of gpu.random.generator("philox").
struct Generator {
  std::shared_ptr<RandomStream> stream;
  std::shared_ptr<OpenDevice> device;
};

}  // namespace

template <>
struct LuaType<Generator> {
  static constexpr const char* name = "a generator made by gpu.random.generator(\"philox\")";
};

namespace {

std::uint64_t check_seed(lua_State* L, int index, const char* op) {
  const std::int64_t seed = check_integer(L, index, op, "an integer seed");
  if (seed < 0) fail(op, "a seed that is not negative", L, index);
  return static_cast<std::uint64_t>(seed);
}

// ---- numbers
// ----------------------------------------------------------------------------------------------------------

/// The stream and the device of new random numbers.
struct Source {
  std::shared_ptr<RandomStream> stream;
  std::shared_ptr<OpenDevice> device;
};

void read_generator(lua_State* L, int index, const char* op, Source& source) {
  auto& generator = check<Generator>(L, index, op);
  check_repeatable(L, op);
  source.stream = generator.stream;
  if (!source.device) source.device = generator.device;
}

void complete(lua_State* L, Source& source) {
  Bindings& bindings = bindings_of(L);
  if (!source.stream) source.stream = bindings.random;
  if (!source.device) source.device = bindings.context().current();
}

/// Reads a generator or nil, and a device or nil.
Source check_random_source(lua_State* L, int generator, int device, const char* op) {
  Source source;
  if (!lua_isnoneornil(L, device)) source.device = check_device(L, device, op);
  if (!lua_isnoneornil(L, generator)) read_generator(L, generator, op, source);
  complete(L, source);
  return source;
}

void check_floating(DType dtype, const char* op) {
  if (info(dtype).kind != DTypeKind::floating)
    throw Error("[{}] expected a floating-point dtype, got {}", op, name(dtype));
}

void check_integers(DType dtype, const char* op) {
  if (!is_integer(dtype)) throw Error("[{}] expected an integer dtype, got {}", op, name(dtype));
}

/// The option part = {first, total} of a draw of `shape`: the rows first, first + 1, ... of `total` ones along the
/// first axis.
RandomPart check_part(lua_State* L, int index, const Dims& shape, const char* op) {
  const auto refuse = [&] {
    fail(op, "part = {first, total}: the first row of this draw, and the rows of all", L, index);
  };
  if (!lua_istable(L, index) || lua_objlen(L, index) != 2) refuse();
  if (shape.empty()) throw Error("[{}] expected a shape of one or more axes with the option part", op);
  std::array<std::int64_t, 2> values;
  for (int i = 0; i < 2; ++i) {
    lua_rawgeti(L, index, i + 1);
    values[i] = check_integer(L, -1, op, "an integer in part = {first, total}");
    lua_pop(L, 1);
  }
  const auto [first, total] = values;
  Dims whole = shape;
  whole[0] = total;
  if (first < 1 || total < 0 || first - 1 > total - shape[0])
    throw Error("[{}] expected a part within its draw, got rows {} to {} of {}", op, first, first - 1 + shape[0],
                total);
  const std::int64_t all = checked_size(whole, op);
  return {total == 0 ? 0 : all / total * (first - 1), all};
}

/// gpu.rand, gpu.randn(shape... [, {dtype, device, generator, part}])
/// gpu.rand(shape... [, dtype or options]), gpu.randn.
template <bool is_normal>
int create_random(lua_State* L) {
  constexpr const char* function = is_normal ? "randn" : "rand";
  int next = 0;
  Dims shape = check_shape(L, 1, next, function);
  Source source;
  DType dtype = default_dtype(L);
  std::optional<RandomPart> part;
  const auto read_dtype = [&](int value) { dtype = parse_dtype(check_string(L, value, function, "a dtype's name")); };
  if (lua_type(L, next) == LUA_TSTRING) {
    check_end(L, next + 1, function, "the dtype", dtype_and_device(L, next));
    read_dtype(next);
  } else {
    read_options(L, next, function,
                 {{"dtype", read_dtype},
                  {"device", [&](int value) { source.device = check_device(L, value, function); }},
                  {"generator", [&](int value) { read_generator(L, value, function, source); }},
                  {"part", [&](int value) { part = check_part(L, value, shape, function); }}});
  }
  check_floating(dtype, function);
  complete(L, source);
  // Elsewhere a count, and a mean and a deviation or two bounds.
  if (shape.size() == 3 && shape[0] > 0 && shape[1] == 0 && shape[2] == 1 && !lua_istable(L, 1)) {
    const std::string count = std::to_string(shape[0]);
    warn_at(bindings_of(L).context(), bindings_of(L).origin(),
            std::string("[") + function + "] makes no numbers: " + count + ", 0 and 1 are sizes; gpu.random." +
                (is_normal ? "normal(" : "uniform(") + count + ", 0, 1) draws " + count);
  }
  const OpInfo& row = op(is_normal ? "random_normal" : "random_uniform");
  push_array(L, part ? random_part(source.device, row, std::move(shape), dtype, source.stream, *part)
                     : random(source.device, row, std::move(shape), dtype, source.stream));
  return 1;
}

/// draw(function, row, shape, dtype, generator or nil, device or nil [, compute dtype, parameters...]): random numbers
/// of the distribution `row`, a name in the op table. `function`: the name in errors.
int draw(lua_State* L) {
  const std::string function(check_string(L, 1, "random", "a name"));
  const OpInfo& row = op(check_string(L, 2, function.c_str(), "a row"));
  Dims shape = check_one_shape(L, 3, function.c_str());
  const DType dtype = parse_dtype(check_string(L, 4, function.c_str(), "a dtype's name"));
  const Source source = check_random_source(L, 5, 6, function.c_str());
  std::optional<DType> compute;
  if (!lua_isnoneornil(L, 7)) compute = parse_dtype(check_string(L, 7, function.c_str(), "a dtype's name"));
  std::vector<Operand> parameters;
  for (int index = 8; index <= lua_gettop(L); ++index) {
    if (const Array* array = test<Array>(L, index))
      parameters.emplace_back(*array);
    else
      parameters.emplace_back(check_number(L, index, function.c_str(), "a number or an array"));
  }
  push_array(L, random(source.device, row, std::move(shape), dtype, source.stream, parameters, compute));
  return 1;
}

/// draw_integers(function, shape, low, high, dtype, generator or nil, device or nil, ends_before): integers from `low`
/// to `high`, or with `ends_before` to `high` - 1.
int draw_integers(lua_State* L) {
  const std::string function(check_string(L, 1, "random", "a name"));
  Dims shape = check_one_shape(L, 2, function.c_str());
  const auto low = wide_integer(L, 3), end = wide_integer(L, 4);
  if (!low) fail(function.c_str(), "an integer for the lowest", L, 3);
  if (!end) fail(function.c_str(), "an integer for the end of the range", L, 4);
  const __int128 high = *end - (lua_toboolean(L, 8) ? 1 : 0);
  const DType dtype = parse_dtype(check_string(L, 5, function.c_str(), "a dtype's name"));
  check_integers(dtype, function.c_str());
  const auto scalar = [](__int128 number) {
    if (number >= __int128{1} << 63 && number < __int128{1} << 64) return Scalar(static_cast<std::uint64_t>(number));
    const auto integer = static_cast<std::int64_t>(number);
    return integer == number ? Scalar(integer) : Scalar(static_cast<double>(number));
  };
  if (*low > high)
    throw Error("[{}] expected a range of at least one integer, got {} to {}; the first argument is the shape",
                function, to_string(scalar(*low)), to_string(scalar(high)));
  std::array<char, 16> bytes;
  for (const __int128 limit : {*low, high}) encode(dtype, scalar(limit), bytes.data());  // throws if it does not fit
  const Source source = check_random_source(L, 6, 7, function.c_str());
  const auto first = static_cast<std::uint64_t>(*low);
  const Operand range[] = {Scalar(static_cast<std::uint64_t>(high) - first + 1), Scalar(first)};  // 0 means 2^64
  push_array(
      L, random(source.device, op("random_integers"), std::move(shape), dtype, source.stream, range, DType::uint64));
  return 1;
}

/// floating_dtype(function, dtype), integer_dtype(function, dtype): checks the kind of the dtype and returns its name.
template <void (*check_kind)(DType, const char*)>
int dtype_of_kind(lua_State* L) {
  const std::string function(check_string(L, 1, "random", "a name"));
  const DType dtype = parse_dtype(check_string(L, 2, function.c_str(), "a dtype's name"));
  check_kind(dtype, function.c_str());
  lua_pushlstring(L, name(dtype).data(), name(dtype).size());
  return 1;
}

// ---- streams
// ----------------------------------------------------------------------------------------------------------

/// {seed=, offset=}.
int push_state(lua_State* L, const RandomStream& stream, const char* op) {
  lua_newtable(L);
  push_scalar(L, stream.seed);
  lua_setfield(L, -2, "seed");
  push_scalar(L, stream.offset);
  lua_setfield(L, -2, "offset");
  seal_result(L, op);
  return 1;
}

RandomStream check_state(lua_State* L, int index, const char* op) {
  RandomStream state;
  if (!lua_istable(L, index)) fail(op, "a table that state() has given", L, index);
  const auto read_offset = [&](int value) {
    const std::int64_t offset = check_integer(L, value, op, "an offset that is a multiple of 4");
    if (offset < 0 || offset % 4 != 0) fail(op, "an offset that is a multiple of 4", L, value);
    state.offset = static_cast<std::uint64_t>(offset);
  };
  read_options(L, index, op,
               {{"seed", [&](int value) { state.seed = check_seed(L, value, op); }}, {"offset", read_offset}});
  for (const char* field : {"seed", "offset"}) {
    lua_pushstring(L, field);
    lua_rawget(L, index);
    if (lua_isnil(L, -1))
      throw Error("[{}] expected {{seed = ..., offset = ...}}, as state() gives, got no {}", op, field);
    lua_pop(L, 1);
  }
  return state;
}

/// A recorded function reserves its numbers anew each time that it runs again, from wherever its streams stand then.
void check_not_recording(lua_State* L, const char* op) {
  if (is_recording(bindings_of(L).context()))
    throw Error("[{}] expected a call outside of a function that gpu.fuse or gpu.graph records", op);
}

/// gpu.random.seed(seed)
int seed(lua_State* L) {
  check_repeatable(L, "random.seed");
  Bindings& bindings = bindings_of(L);
  const std::uint64_t seed = check_seed(L, 1, "random.seed");
  check_not_recording(L, "random.seed");
  *bindings.random = {seed, 0};
  return 0;
}

/// gpu.random.state()
int state(lua_State* L) {
  return push_state(L, *bindings_of(L).random, "random.state");
}

/// gpu.random.set_state(state)
int set_state(lua_State* L) {
  Bindings& bindings = bindings_of(L);
  const RandomStream state = check_state(L, 1, "random.set_state");
  check_not_recording(L, "random.set_state");
  *bindings.random = state;
  return 0;
}

/// gpu.random.generator(algorithm [, {seed, dimensions, offset, device}])
/// The default seed is 0, so that a script's numbers are the same in each run.
int new_generator(lua_State* L) {
  constexpr const char* op = "random.generator";
  const std::string_view algorithm =
      check_string(L, 1, op, "the name of an algorithm, as in gpu.random.generator(\"philox\", {seed = 1})");
  CurandOptions given;
  std::shared_ptr<OpenDevice> device;
  const auto read_offset = [&](int value) {
    const std::int64_t offset = check_integer(L, value, op, "an offset of 0 or more");
    if (offset < 0) fail(op, "an offset of 0 or more", L, value);
    given.offset = static_cast<std::uint64_t>(offset);
  };
  read_options(
      L, 2, op,
      {{"seed", [&](int value) { given.seed = check_seed(L, value, op); }},
       {"dimensions", [&](int value) { given.dimensions = check_integer(L, value, op, "a number of dimensions"); }},
       {"offset", read_offset},
       {"device", [&](int value) { device = check_device(L, value, op); }}});
  if (!device) device = bindings_of(L).context().current();
  if (algorithm != "philox") return push_curand_generator(L, device, algorithm, given), 1;
  if (given.dimensions || given.offset)
    throw Error("[{}] expected dimensions and offset of a Sobol sequence, got them for philox", op);
  push(L, Generator{std::make_shared<RandomStream>(given.seed.value_or(0), std::uint64_t{0}), device});
  return 1;
}

/// g:state()
int generator_state(lua_State* L) {
  return push_state(L, *check<Generator>(L, 1, "state").stream, "state");
}

/// g:set_state(state)
int generator_set_state(lua_State* L) {
  auto& generator = check<Generator>(L, 1, "set_state");
  const RandomStream state = check_state(L, 2, "set_state");
  check_not_recording(L, "set_state");
  *generator.stream = state;
  return 0;
}

/// g:skip(n)
int generator_skip(lua_State* L) {
  auto& generator = check<Generator>(L, 1, "skip");
  const std::int64_t words = check_integer(L, 2, "skip", "a count of 0 or more");
  if (words < 0) fail("skip", "a count of 0 or more", L, 2);
  check_not_recording(L, "skip");
  generator.stream->reserve((static_cast<std::uint64_t>(words) + 3) / 4);
  return 0;
}

/// check_numbers(text, array, {least =, most =, above =, below =, whole =}): check_numbers of valid_numbers.h; nothing
/// for a pending array, which becomes part of a kernel, and in a function that gpu.fuse records.
int lua_check_numbers(lua_State* L) {
  const Array& array = check<Array>(L, 2, "random");
  if (array->pending() || array->device().evaluator().trace()) return 0;
  const auto number = [&](const char* field) {
    lua_getfield(L, 3, field);
    const double value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
  };
  const auto flag = [&](const char* field) {
    lua_getfield(L, 3, field);
    const bool value = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return value;
  };
  const ValidNumbers valid{number("least"), number("most"), flag("above"), flag("below"), flag("whole")};
  push_array(L, check_numbers(std::string(check_string(L, 1, "random", "a text")), array, valid));
  return 1;
}

int generator_text(lua_State* L) {
  lua_pushfstring(L, "philox generator on %s", check<Generator>(L, 1, "tostring").device->name().c_str());
  return 1;
}

}  // namespace

void open_random(lua_State* L) {
  open_curand_generators(L);
  set_functions(L, {{"rand", protect<create_random<false>>}, {"randn", protect<create_random<true>>}});
  lua_newtable(L);
  set_functions(L, {{"generator", protect<new_generator>},
                    {"seed", protect<seed>},
                    {"set_state", protect<set_state>},
                    {"state", protect<state>}});
  lua_setfield(L, -2, "random");

  new_type<Generator>(L, {{"__tostring", protect<generator_text>}}, "g:",
                      {{"set_state", protect<generator_set_state>},
                       {"skip", protect<generator_skip>},
                       {"state", protect<generator_state>}});
  lua_pushlightuserdata(L, const_cast<char*>(&LuaBox<Generator>::identity));
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_getfield(L, -1, "__index");
  lua_setfield(L, LUA_REGISTRYINDEX, generator_methods_key);
  lua_pop(L, 1);
}

void check_repeatable(lua_State* L, const char* op) {
  if (bindings_of(L).repeatable_calls != 0)
    throw Error(
        "[{}] expected numbers of the default stream in a function of gpu.checkpoint, which draws them again; draw "
        "others outside and give them as arguments",
        op);
}

namespace {

/// begin_repeatable(), end_repeatable(): what runs between them may be run again.
template <int step>
int count_repeatable(lua_State* L) {
  bindings_of(L).repeatable_calls += step;
  return 0;
}

}  // namespace

void add_random_functions(lua_State* L) {
  set_functions(L, {{"begin_repeatable", protect<count_repeatable<1>>},
                    {"end_repeatable", protect<count_repeatable<-1>>},
                    {"check_numbers", protect<lua_check_numbers>},
                    {"draw", protect<draw>},
                    {"draw_integers", protect<draw_integers>},
                    {"floating_dtype", protect<dtype_of_kind<check_floating>>},
                    {"integer_dtype", protect<dtype_of_kind<check_integers>>}});
  lua_getfield(L, LUA_REGISTRYINDEX, generator_methods_key);
  lua_setfield(L, -2, "generator_methods");
}

}  // namespace gpulua
