// gpu.jit(f): a Lua function as a kernel. It is launched as the kernels of modules are; which kernel runs depends on
// the types of the arguments.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/captured_values.h"
#include "bindings/functions/function_parts.h"
#include "bindings/kernels/kernel_source.h"
#include "bindings/kernels/launch.h"
#include "bindings/kernels/lost_output.h"
#include "bindings/lua/state.h"
#include "src/base/characters.h"
#include "src/codegen/body.h"
#include "src/luafn/translate.h"
#include "src/ops/op_text.h"

namespace gpulua {

namespace {

struct JitCall;

/// An object of gpu.jit. The userdata's environment holds the Lua function at 1.
struct JitKernel {
  std::string name;
  bool contract = true;
  // The latest call of any launch, with a small grid or another.
  std::shared_ptr<std::array<std::shared_ptr<JitCall>, 2>> latest =
      std::make_shared<std::array<std::shared_ptr<JitCall>, 2>>();
};

/// The kernel for arguments and captured values of given types.
struct JitVariant : FunctionVariant {
  luafn::Code code;
  std::string text;
  KernelRef kernel;  // null until it is launched
};

}  // namespace

template <>
struct LuaType<JitKernel> {
  static constexpr const char* name = "a Lua kernel";
};

namespace {

std::string kernel_text(const std::string& name, const luafn::Code& code) {
  std::string parameters;
  for (const luafn::Parameter& parameter : code.parameters) {
    const bool is_array = parameter.kind == luafn::Parameter::Kind::array;
    parameters += (parameters.empty() ? "" : ", ") + std::string(is_array && parameter.written ? "" : "const ") +
                  (is_array ? element_type(parameter.dtype) + "* " : register_type(parameter.dtype) + " ") +
                  parameter.name;
  }
  const std::string body = "extern \"C\" __global__ void " + name + "(" + parameters + ") {\n" + code.body + "}\n";
  return headers(body) + body;
}

/// The arguments of one call, the first at stack index 2, and the variant for their types.
struct JitCall {
  JitCall(lua_State* L, const JitKernel& kernel, int function, bool small_grid)
      : captured(L, kernel.name, {.strides = true}) {
    const LocatedFunction& located = locate_device_function(L, function, kernel.name.c_str());
    const auto& parameters = located.function->parameters;
    const auto count = static_cast<std::size_t>(function - 2);
    if (count != parameters.size()) {
      std::string names;
      for (const luafn::Local* parameter : parameters) names += (names.empty() ? "" : ", ") + parameter->name;
      throw Error("[{}] expected {} arguments ({}), got {}", kernel.name, parameters.size(), names, count);
    }
    captured.add_arguments(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Array& array = captured.array(i);
      if (!array) continue;
      if (!device) device = array->device_ref();
      if (device.get() != &array->device())
        throw Error("[{}] {}: expected an array on {}, got one on {}; x:to(name) copies one over", kernel.name,
                    parameters[i]->name, device->name(), array->device().name());
    }
    if (!device) device = bindings_of(L).context().current();
    const std::shared_ptr<LuaChunk> chunk = located.chunk;
    const auto closure = captured.add_function(function);
    checks = device->device().checking();
    const std::string key = "jit," + kernel.name + (kernel.contract ? ",c" : ",") + (small_grid ? "s" : "") +
                            (checks ? "i," : ",") + device->name() + "," +
                            std::to_string(reinterpret_cast<std::uintptr_t>(closure->function)) + "," + captured.key();
    variant = chunk->variants[key + constants_key(chunk->constants[key])];
    if (variant) return;
    auto made = std::make_shared<JitVariant>();
    made->values = captured.values();
    made->code = luafn::translate({.op = kernel.name,
                                   .function = closure,
                                   .values = captured.values(),
                                   .contract = kernel.contract,
                                   .kernel = true,
                                   .small_grid = small_grid,
                                   .check_indices = checks,
                                   .real = captured.real()});
    made->text = kernel_text(kernel.name, made->code);
    std::set<std::size_t>& constants = chunk->constants[key];
    constants.insert(made->code.constants.begin(), made->code.constants.end());
    variant = chunk->variants[key + constants_key(constants)] = std::move(made);
  }

  /// Turns this into the call with the arguments that are on the stack now. False: they have other types, and this
  /// object cannot be used again.
  bool refresh(lua_State* L, int function) {
    if (!std::exchange(is_valid, false)) return false;
    if (!captured.refresh(L, function) || device->device().checking() != checks) return false;
    bool any = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(function - 2); ++i) {
      if (!captured.array(i)) continue;
      if (&captured.array(i)->device() != device.get()) return false;
      any = true;
    }
    if (!any && bindings_of(L).context().current() != device) return false;
    for (const std::size_t index : made().code.constants)
      if (captured.values()[index].number != made().values[index].number) return false;
    return is_valid = true;
  }

  const JitVariant& made() const { return static_cast<const JitVariant&>(*variant); }

  CapturedValues captured;
  std::shared_ptr<OpenDevice> device;
  bool checks = false, is_valid = true;
  std::shared_ptr<const FunctionVariant> variant;

 private:
  /// The numbers that are constants of the text.
  std::string constants_key(const std::set<std::size_t>& constants) const {
    std::string key;
    for (const std::size_t index : constants)
      key.append(reinterpret_cast<const char*>(&captured.values()[index].number), sizeof(double));
    return key;
  }
};

/// kernel{...} or kernel:over(n), which a script can keep. The environment holds the function at 1 and the options
/// at 2.
struct JitLaunch {
  JitKernel kernel;
  std::optional<std::int64_t> items;  // of over()
  bool small_grid;                    // of at most 2^30 threads along each axis
  CallReminder reminder;
  std::shared_ptr<const FunctionVariant> variant{};
  std::optional<Launch> launch{};  // of that variant
};

}  // namespace

template <>
struct LuaType<JitLaunch> {
  static constexpr const char* name = "a launch of a Lua kernel";
};

namespace {

KernelRef compile_variant(const JitCall& call, const JitKernel& kernel) {
  KernelSource source;
  source.text = call.made().text;
  source.file = "<gpu.jit>";
  source.lua_function = true;
  const std::shared_ptr<Module> module = call.device->compile(source);
  const auto text = std::make_shared<const std::string>(source.text);
  return bind_kernel(call.device, module->kernel(find_kernel(module->compiled(), kernel.name)), text, true);
}

/// The memory that the elements of a strided array span, as a vector.
Array memory_of(const Array& array) {
  const Extent touched = extent(array->layout);
  Layout layout = row_major({touched.end - touched.begin});
  layout.offset = touched.begin;
  return view(array, std::move(layout));
}

[[noreturn]] void refuse(const std::string& kernel, const luafn::Parameter& parameter, const std::string& message) {
  throw Error("[{}] {}: {}", kernel, parameter.name.substr(0, parameter.name.rfind('_')), message);
}

/// Throws Error for an array that the kernel writes and whose elements share memory, and for a call all of whose
/// written arrays are temporaries. The function follows the arguments.
void check_written(lua_State* L, const JitKernel& kernel, const JitCall& call, int function) {
  const luafn::Parameter* lost = nullptr;
  bool kept = false;
  for (const luafn::Parameter& parameter : call.made().code.parameters) {
    if (!parameter.written) continue;
    const Array& array = call.captured.array(parameter.index);
    if (!array->contiguous && array->layout.overlaps_itself())
      refuse(kernel.name, parameter,
             "expected an array to write to, got a view whose elements share memory; x:copy() makes an array");
    const int index = static_cast<int>(parameter.index) + 2;
    kept = kept || index >= function || !is_temporary(L, function - 2, index, *array);
    lost = &parameter;
  }
  if (lost && !kept) refuse(kernel.name, *lost, lost_output_text(*call.captured.array(lost->index)));
}

/// Writes the arguments of the kernel's signature. Gives the buffers whose elements depend on checks.
std::vector<BufferRef> write_arguments(const JitCall& call, Launch& launch, const StreamRef& stream) {
  std::vector<BufferRef> guarded;
  const auto& parameters = call.made().code.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const luafn::Parameter& parameter = parameters[i];
    void* value = launch.arguments().value(i);
    if (parameter.kind == luafn::Parameter::Kind::array) {
      const Array& array = call.captured.array(parameter.index);
      if (array->freed()) refuse(launch.kernel().name(), parameter, array->buffer()->why_freed());
      const Array memory = call.captured.values()[parameter.index].strides.empty() ? array : memory_of(array);
      *static_cast<void**>(value) = parameter.written ? launch.write(*memory, stream) : memory->read(stream);
      if (array->buffer()->guarded()) guarded.push_back(array->buffer());
      continue;
    }
    luafn::write_argument(parameter, call.captured.values(), value);
    if (Evaluator& of = call.device->evaluator(); of.capture())
      std::visit([&](auto x) { of.note_number(x); }, luafn::argument_value(parameter, call.captured.values()));
  }
  return guarded;
}

void run(const JitCall& call, Launch& launch) {
  for (std::size_t i = 0; i < call.captured.values().size(); ++i)
    if (const Array& array = call.captured.array(i)) check_not_followed(*array, launch.kernel().name());
  const StreamRef stream = launch.stream();
  const std::vector<BufferRef> guarded = write_arguments(call, launch, stream);
  if (launch.is_empty()) return;
  for (const luafn::Parameter& parameter : call.made().code.parameters)
    for (const BufferRef& source : guarded)
      if (parameter.written) call.captured.array(parameter.index)->buffer()->depend_on(*source);
  launch.start(stream);
}

bool is_kernel_name(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_word);
}

/// Pushes an environment for the userdata at the top: {function, options}.
void set_environment(lua_State* L, int function, int options) {
  lua_createtable(L, 2, 0);
  lua_pushvalue(L, function);
  lua_rawseti(L, -2, 1);
  if (options != 0) {
    lua_pushvalue(L, options);
    lua_rawseti(L, -2, 2);
  }
  lua_setfenv(L, -2);
}

/// Pushes entry `index` of the environment of the userdata at `value`.
void push_entry(lua_State* L, int value, int index) {
  lua_getfenv(L, value);
  lua_rawgeti(L, -1, index);
  lua_remove(L, -2);
}

constexpr std::int64_t most_small = (std::int64_t{1} << 30) - 1024;  // a last block may not be full

/// The number at `index`, or in the table there at `axis`; 1 for others.
double extent_of(lua_State* L, int index, int axis) {
  if (!lua_istable(L, index)) return axis == 1 && lua_isnumber(L, index) != 0 ? lua_tonumber(L, index) : 1;
  lua_rawgeti(L, index, axis);
  const double extent = lua_isnumber(L, -1) != 0 ? lua_tonumber(L, -1) : 1;
  lua_pop(L, 1);
  return extent;
}

/// True for options whose grid has at most 2^30 threads along each axis. Their values are checked later.
bool has_small_grid(lua_State* L, int options) {
  lua_pushliteral(L, "grid");
  lua_rawget(L, options);
  lua_pushliteral(L, "block");
  lua_rawget(L, options);
  const int block = lua_gettop(L);
  bool small = true;
  for (int axis = 1; axis <= 3; ++axis)
    small = small && extent_of(L, block - 1, axis) * extent_of(L, block, axis) <= static_cast<double>(most_small);
  lua_pop(L, 2);
  return small;
}

/// gpu.jit(f [, {name, fmad}])
int new_jit_kernel(lua_State* L) {
  check_source_rights(L, "jit");
  if (!lua_isfunction(L, 1)) fail("jit", "a Lua function, the work of one thread", L, 1);
  JitKernel kernel{"jit"};
  const auto read_name = [&](int value) {
    kernel.name = check_string(L, value, "jit", "name = a string");
    if (!is_kernel_name(kernel.name)) fail("jit", "name = letters, digits and underscores", L, value);
  };
  const auto read_fmad = [&](int value) { kernel.contract = check_flag(L, value, "jit", "fmad"); };
  read_options(L, 2, "jit", {{"name", read_name}, {"fmad", read_fmad}});
  locate_function(L, 1, kernel.name.c_str());  // its errors belong to this line
  push(L, std::move(kernel));
  set_environment(L, 1, 0);
  return 1;
}

/// kernel{grid=, block=, ...}
int configure_jit(lua_State* L) {
  const JitKernel& kernel = check<JitKernel>(L, 1, "jit");
  if (lua_type(L, 2) != LUA_TTABLE || lua_gettop(L) > 2)
    fail(kernel.name.c_str(),
         "a launch configuration first, as in k:over(count)(arguments) or k{grid=..., block=...}(arguments)", L, 2);
  push_entry(L, 1, 1);
  push(L, JitLaunch{kernel, {}, has_small_grid(L, 2), {bindings_of(L).context(), kernel.name}});
  set_environment(L, 3, 2);
  return 1;
}

/// j:over(count)(arguments...)
int jit_over(lua_State* L) {
  const JitKernel& kernel = check<JitKernel>(L, 1, "over");
  const std::int64_t items = check_items(L, 2, kernel.name);
  push_entry(L, 1, 1);
  const int function = lua_gettop(L);
  push(L, JitLaunch{kernel, items, items < most_small, {bindings_of(L).context(), kernel.name}});
  set_environment(L, function, 0);
  return 1;
}

/// launch(arguments...)
int call_jit(lua_State* L) {
  auto& launch = check<JitLaunch>(L, 1, "launch");
  launch.reminder.called();
  push_entry(L, 1, 1);
  const int function = lua_gettop(L);
  std::shared_ptr<JitCall>& latest = (*launch.kernel.latest)[launch.small_grid ? 1 : 0];
  // A Lua finalizer may call the kernel meanwhile, so this call is hidden from it.
  struct Current {
    std::shared_ptr<JitCall>& latest;
    std::shared_ptr<JitCall> call = std::move(latest);
    ~Current() {
      if (call) call->captured.release_arrays();
      latest = std::move(call);
    }
  } current{latest};
  if (!current.call || !current.call->refresh(L, function))
    current.call = std::make_shared<JitCall>(L, launch.kernel, function, launch.small_grid);
  JitCall& call = *current.call;
  check_written(L, launch.kernel, call, function);
  if (launch.variant != call.variant) {
    auto& made = const_cast<JitVariant&>(call.made());
    if (!made.kernel) made.kernel = compile_variant(call, launch.kernel);
    launch.launch.reset();
    push_entry(L, 1, 2);
    launch.launch.emplace(launch.items ? launch_over(made.kernel, *launch.items)
                                       : check_launch_options(L, lua_gettop(L), made.kernel));
    launch.variant = call.variant;
  }
  launch.launch->expect_run();
  run(call, *launch.launch);
  return 0;
}

/// j:source(arguments...)
int jit_source(lua_State* L) {
  const JitKernel& kernel = check<JitKernel>(L, 1, "source");
  push_entry(L, 1, 1);
  const JitCall call(L, kernel, lua_gettop(L), true);
  lua_pushlstring(L, call.made().text.data(), call.made().text.size());
  return 1;
}

int jit_text(lua_State* L) {
  const JitKernel& kernel = check<JitKernel>(L, 1, "tostring");
  push_entry(L, 1, 1);
  const LocatedFunction& located = locate_function(L, lua_gettop(L), "tostring");
  std::string names;
  for (const luafn::Local* parameter : located.function->parameters)
    names += (names.empty() ? "" : ", ") + parameter->name;
  const std::string text = "kernel " + kernel.name + "(" + names + "), " + located.chunk->name + ":" +
                           std::to_string(located.function->line);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

int jit_launch_text(lua_State* L) {
  const JitLaunch& launch = check<JitLaunch>(L, 1, "tostring");
  lua_pushfstring(L, "launch of the kernel %s", launch.kernel.name.c_str());
  return 1;
}

}  // namespace

void open_jit_kernels(lua_State* L) {
  new_type<JitKernel>(L, {{"__call", protect<configure_jit>}, {"__tostring", protect<jit_text>}},
                      "j:", {{"over", protect<jit_over>}, {"source", protect<jit_source>}});
  new_type<JitLaunch>(L, {{"__call", protect<call_jit>}, {"__tostring", protect<jit_launch_text>}}, "", {});
  set_functions(L, {{"jit", protect<new_jit_kernel>}});
}

}  // namespace gpulua
