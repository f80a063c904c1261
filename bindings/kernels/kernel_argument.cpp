#include "bindings/kernels/kernel_argument.h"

#include <algorithm>
#include <cstring>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/number_argument.h"
#include "bindings/kernels/lost_output.h"
#include "bindings/kernels/lua_kernel.h"
#include "bindings/kernels/struct_argument.h"
#include "bindings/kernels/texture.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/cdata.h"
#include "src/array/node_observer.h"

namespace gpulua {

namespace {

constexpr const char* axis_letters[] = {"x", "y", "z", "w"};

/// " for const float*"; empty when the module has no parameter types.
std::string for_type(const Parameter& parameter) {
  return parameter.type.empty() ? "" : " for " + parameter.type;
}

void put_address(void* address, void* value) {
  std::memcpy(value, &address, sizeof address);
}

std::string plural(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// True for a pointer to addresses, such as float**.
bool takes_addresses(const ArgumentRule& rule) {
  return !rule.parameter.dtype && !rule.takes_any() && rule.takes(DType::uint64);
}
/// True for a pointer to structs, which takes arrays of bytes.
bool takes_structs(const ArgumentRule& rule) {
  return !rule.parameter.dtype && !rule.takes_any() && rule.takes(DType::uint8);
}

constexpr const char* make_addresses = "; gpu.array({x.pointer, y.pointer}, \"uint64\") has the addresses of arrays";

/// What to do about an array that is another one once it is converted. Where the kernel's text assigns the parameter, a
/// copy would get what the kernel writes; a parameter of unknown use may be written.
std::string copy_advice(const ArgumentRule& rule, bool is_written, const std::string& made, const char* verb,
                        const std::string& own) {
  if (is_written) return "; the kernel writes it, so the memory itself is to be " + own + ": " + made + " is a copy";
  const std::string keep = ": where the kernel writes it, keep it in a variable, y = " + made;
  return "; " + made + " " + verb + (rule.parameter.writable ? keep : "");
}

/// The call that converts an array to one that the rule accepts.
std::string conversion(const ArgumentRule& rule, bool is_written) {
  if (rule.parameter.dtype) {
    const std::string dtype(name(*rule.parameter.dtype));
    return copy_advice(rule, is_written, "x:astype(\"" + dtype + "\")", "converts", "of " + dtype);
  }
  if (takes_addresses(rule)) return make_addresses;
  if (takes_structs(rule))
    return "; gpu.InOut(s) copies an FFI array of structs there and back, ffi.cast(\"void*\", x.pointer) passes x's "
           "memory as it is";
  return "";
}

/// False for rows that are not a whole number of vectors, in an array of the components' dtype. A vector of components
/// may end within one.
bool fills_vectors(Node& array, const Parameter& parameter) {
  const Dims& shape = array.layout.shape;
  return shape.size() < 2 || array.dtype != parameter.dtype || shape.back() % parameter.lanes == 0;
}

}  // namespace

ArgumentBlock::ArgumentBlock(const Signature& signature) {
  std::vector<std::size_t> first_slots;
  std::size_t slots = 0;
  for (const Parameter& parameter : signature.parameters) {
    first_slots.push_back(slots);
    slots += (parameter.size + sizeof(Slot) - 1) / sizeof(Slot);
  }
  slots_.resize(slots);
  for (const std::size_t first : first_slots) pointers_.push_back(slots_.data() + first);
}

void ArgumentReader::read(std::size_t i, void* value) {
  const int index = static_cast<int>(i) + 2;
  const ArgumentRule& rule = kernel.rules[i];
  switch (rule.parameter.kind) {
    case ParameterKind::scalar:
      return read_scalar(index, rule, value);
    case ParameterKind::pointer:
      return read_pointer(index, rule, value);
    case ParameterKind::vector:
      return read_vector(index, rule, value);
    case ParameterKind::record:
      return read_record(index, rule, value);
    case ParameterKind::unknown:
      return read_untyped(index, rule, value);
  }
}

void ArgumentReader::refuse(int index, const std::string& message) const {
  throw Error("{}{}", kernel.argument_text(static_cast<std::size_t>(index) - 2), message);
}

void ArgumentReader::read_scalar(int index, const ArgumentRule& rule, void* value) const {
  const DType dtype = *rule.parameter.dtype;
  if (dtype == DType::uint64 && read_texture(index, value)) return;
  const Fit fit = store_number(L, index, dtype, value);
  if (fit == Fit::yes) {
    if (Evaluator& of = kernel.device->evaluator(); of.capture())
      if (const auto number = to_scalar(L, index)) of.note_number(*number);
    return;
  }
  const bool wants_texture = dtype == DType::uint64 && test<Array>(L, index) && !kernel.texture_uses().empty();
  refuse(index, describe_misfit(L, index, fit, dtype, rule.parameter.type) +
                    (wants_texture ? "; gpu.texture(x) makes a texture of an array" : ""));
}

bool ArgumentReader::read_texture(int index, void* value) const {
  const TextureHandle* const texture = test<TextureHandle>(L, index);
  if (!texture) return false;
  const OpenDevice& device = *texture->elements->device;
  if (&device != kernel.device.get())
    refuse(index, "the texture is on " + device.name() + ", the kernel on " + kernel.device->name());
  const std::vector<TextureUse>& uses = kernel.texture_uses();
  if (!uses.empty() && std::ranges::none_of(uses, [&](const TextureUse& use) { return texture->fits(use); })) {
    std::string calls;
    for (const TextureUse& use : uses) calls += (calls.empty() ? "" : ", ") + use.text();
    refuse(index,
           "expected a texture for " + calls + ", which the kernel's source has, got one for " + texture->call());
  }
  const std::uint64_t object = texture->use(stream);
  std::memcpy(value, &object, sizeof object);
  return true;
}

void ArgumentReader::read_vector(int index, const ArgumentRule& rule, void* value) const {
  const Parameter& parameter = rule.parameter;
  if (lua_type(L, index) == LUA_TCDATA) {
    const bool pair = parameter.lanes == 2 && info(*parameter.dtype).kind == DTypeKind::floating;
    const DType complex = *parameter.dtype == DType::float32 ? DType::complex64 : DType::complex128;
    if (pair && size_of(complex) == parameter.size && store_number(L, index, complex, value) == Fit::yes) return;
    return read_record(index, rule, value);
  }
  const std::size_t lanes = parameter.lanes;
  if (lua_type(L, index) != LUA_TTABLE)
    refuse(index,
           "expected a table of " + plural(lanes, "number") + for_type(parameter) + ", got " + describe(L, index));

  lua_rawgeti(L, index, 1);
  const bool by_position = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (by_position && lua_objlen(L, index) != lanes)
    refuse(index, "expected " + plural(lanes, "number") + for_type(parameter) + ", got " +
                      std::to_string(lua_objlen(L, index)));

  for (std::size_t lane = 0; lane < std::size(axis_letters); ++lane) {
    if (by_position)
      lua_rawgeti(L, index, static_cast<int>(lane + 1));
    else
      lua_pushstring(L, axis_letters[lane]), lua_rawget(L, index);
    const bool given = !lua_isnil(L, -1);
    if (given != (lane < lanes))
      refuse(index, std::string(given ? "unexpected" : "expected") + " field " + axis_letters[lane] +
                        for_type(parameter) + (given ? "" : ", got none"));
    if (given) {
      const int item = lua_gettop(L);
      const Fit fit =
          store_number(L, item, *parameter.dtype, static_cast<char*>(value) + lane * size_of(*parameter.dtype));
      if (fit != Fit::yes)
        refuse(index, std::string(axis_letters[lane]) + ": " +
                          describe_misfit(L, item, fit, *parameter.dtype, std::string(name(*parameter.dtype))));
    }
    lua_pop(L, 1);
  }
}

void ArgumentReader::read_record(int index, const ArgumentRule& rule, void* value) const {
  const Parameter& parameter = rule.parameter;
  const auto cdata = to_cdata(L, index);
  const auto refuse_it = [&](const std::string& got) {
    const std::string advice = parameter.kind != ParameterKind::record ? ""
                               : rule.members.empty()
                                   ? "; ffi.new makes one, with the members that it has in C++"
                                   : "; ffi.new(\"struct { " + rule.members + " }\", {...}) makes one";
    refuse(index, "expected an FFI struct of " + plural(parameter.size, "byte") + for_type(parameter) + ", got " + got +
                      advice);
  };
  if (!cdata || cdata->kind == CData::Kind::pointer) return refuse_it(describe(L, index));
  if (cdata->bytes != parameter.size) return refuse_it(cdata->type_text() + " of " + plural(cdata->bytes, "byte"));
  if (cdata->is_struct())
    if (const std::string misfit = struct_misfit(L, index, *cdata, rule); !misfit.empty()) refuse(index, misfit);
  std::memcpy(value, cdata->data, parameter.size);
}

void ArgumentReader::read_pointer(int index, const ArgumentRule& rule, void* value) {
  const Array* array = test<Array>(L, index);
  if (!array) return read_other_pointer(index, rule, value);
  if (!takes(**array, rule)) refuse_array(index, **array, rule);
  put_address(address_of(**array, rule), value);
}

void ArgumentReader::read_other_pointer(int index, const ArgumentRule& rule, void* value) {
  if (read_address(index, rule, value)) return;
  std::string advice;
  const int type = lua_type(L, index);
  if (type == LUA_TNIL) advice = "; gpu.null is a null pointer";
  if (type == LUA_TTABLE || type == LUA_TCDATA) advice = "; gpu.In(t), gpu.Out(t) or gpu.InOut(t) copies it";
  if (type == LUA_TTABLE && takes_addresses(rule)) advice = make_addresses;
  if (type == LUA_TSTRING && rule.parameter.dtype && size_of(*rule.parameter.dtype) == 1)
    advice = "; gpu.In(ffi.new(\"char[?]\", #s + 1, s)) copies a string with the zero at its end";
  if (type == LUA_TNUMBER && lua_tonumber(L, index) >= 0x10000) advice = "; an address is ffi.cast(\"void*\", number)";
  refuse(index, "expected " + expected_array(rule) + for_type(rule.parameter) + ", got " + describe(L, index) + advice);
}

bool ArgumentReader::takes(Node& array, const ArgumentRule& rule) const {
  return rule.takes(array.dtype) && array.contiguous && &array.device() == kernel.device.get() && !array.freed() &&
         (rule.parameter.lanes == 1 || fills_vectors(array, rule.parameter));
}

void ArgumentReader::refuse_array(int index, Node& array, const ArgumentRule& rule) const {
  if (array.freed()) refuse(index, array.buffer()->why_freed());
  if (&array.device() != kernel.device.get()) {
    const std::string& wanted = kernel.device->name();
    refuse(index, "the array is on " + array.device().name() + ", the kernel on " + wanted + "; x:to(\"" + wanted +
                      "\") copies it");
  }
  const std::vector<std::size_t>& written = kernel.written_parameters();
  const bool is_written = std::ranges::find(written, static_cast<std::size_t>(index) - 2) != written.end();
  if (!rule.takes(array.dtype)) {
    refuse(index, "expected " + expected_array(rule) + for_type(rule.parameter) + ", got " + type_text(array) +
                      conversion(rule, is_written));
  }
  if (!array.contiguous)
    refuse(index, "expected a row-major array, got a strided view " + type_text(array) +
                      copy_advice(rule, is_written, "x:copy()", "makes one", "row-major"));
  refuse(index, "expected rows of whole vectors" + for_type(rule.parameter) + ", a multiple of " +
                    plural(rule.parameter.lanes, "number") + ", got " + type_text(array) +
                    "; x:reshape(-1) is one row, of vectors as they lie in memory");
}

namespace {

/// True when the kernel can write through the pointer. Without parameter types it must be assumed.
bool may_write(const ArgumentRule& rule) {
  return rule.parameter.writable || rule.parameter.kind == ParameterKind::unknown;
}

}  // namespace

void* ArgumentReader::address_of(Node& array, const ArgumentRule& rule) {
  check_not_followed(array, kernel.name());
  NodeObserver* const observer = array.device().context().observer;
  if (observer && may_write(rule)) observer->check_write(array, nullptr, kernel.name().c_str());
  void* address = may_write(rule) ? array.write(stream) : array.read(stream);
  if (may_write(rule)) outputs.push_back(array.buffer().get());
  if (array.buffer()->guarded()) guarded.push_back(array.buffer());
  return address;
}

void ArgumentReader::guard_outputs() const {
  for (std::size_t i = 0; i < kernel.rules.size(); ++i) {
    const Array* array = may_write(kernel.rules[i]) ? test<Array>(L, static_cast<int>(i) + 2) : nullptr;
    if (!array) continue;
    for (const BufferRef& source : guarded) (*array)->buffer()->depend_on(*source);
  }
}

void ArgumentReader::check_outputs() const {
  const std::vector<std::size_t>& written = kernel.written_parameters();
  for (const std::size_t i : written)
    if (const HostArgument* host = test<HostArgument>(L, static_cast<int>(i) + 2); host && !host->copied_out)
      warn_at(kernel.device->context(), bindings_of(L).origin(),
              kernel.argument_text(i) + "expected gpu.InOut(t) for data that the kernel changes, got gpu." +
                  host->name + "(t): what it writes is lost");
  for (const std::size_t i : written) {
    const int index = static_cast<int>(i) + 2;
    const Array* array = test<Array>(L, index);
    if (!array || !is_temporary(L, static_cast<int>(kernel.rules.size()), index, **array)) return;
  }
  if (written.empty()) return;
  const int last = static_cast<int>(written.back()) + 2;
  refuse(last, lost_output_text(**test<Array>(L, last)));
}

bool ArgumentReader::read_address(int index, const ArgumentRule& rule, void* value) {
  switch (lua_type(L, index)) {
    case LUA_TLIGHTUSERDATA:
      put_address(lua_touserdata(L, index), value);
      return true;
    case LUA_TCDATA: {
      const auto cdata = to_cdata(L, index);
      if (cdata->kind != CData::Kind::pointer) return false;
      put_address(cdata->data, value);
      return true;
    }
    default:
      break;
  }
  const HostArgument* host = test<HostArgument>(L, index);
  if (!host) return false;
  try {
    staged.push_back(stage(L, index, *host, rule, *kernel.device));
  } catch (const Error& error) {
    throw Error(error.kind(), "{}{}", kernel.argument_text(static_cast<std::size_t>(index) - 2), error.what());
  }
  put_address(address_of(*staged.back().array, rule), value);
  return true;
}

void ArgumentReader::read_untyped(int index, const ArgumentRule& rule, void* value) {
  const std::size_t size = rule.parameter.size;
  if (size == sizeof(void*)) {
    if (const Array* array = test<Array>(L, index)) {
      if (!takes(**array, rule)) refuse_array(index, **array, rule);
      return put_address(address_of(**array, rule), value);
    }
    if (read_address(index, rule, value) || read_texture(index, value)) return;
  }
  const std::string expected = "expected a value of " + plural(size, "byte");
  const auto cdata = to_cdata(L, index);
  if (!cdata)
    refuse(index, expected + ", got " + describe(L, index) + "; the module tells no C++ types: give it one, as in " +
                      "ffi.new(\"float\", 2) or ffi.new(\"int\", 2)");
  const bool by_value = cdata->kind == CData::Kind::number || cdata->kind == CData::Kind::record;
  if (!by_value || cdata->bytes != size)
    refuse(index, expected + ", got " + cdata->type + (by_value ? " of " + plural(cdata->bytes, "byte") : ""));
  std::memcpy(value, cdata->data, size);
}

}  // namespace gpulua
