#include "src/exchange/dlpack_tensors.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/exchange/lend.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

using dlpack::LegacyManaged;
using dlpack::Managed;

struct TypeRow {
  DType dtype;
  dlpack::DataType type;
};

constexpr TypeRow type_rows[] = {
    {DType::boolean, {dlpack::boolean, 8, 1}},      {DType::int8, {dlpack::integer, 8, 1}},
    {DType::int16, {dlpack::integer, 16, 1}},       {DType::int32, {dlpack::integer, 32, 1}},
    {DType::int64, {dlpack::integer, 64, 1}},       {DType::uint8, {dlpack::natural, 8, 1}},
    {DType::uint16, {dlpack::natural, 16, 1}},      {DType::uint32, {dlpack::natural, 32, 1}},
    {DType::uint64, {dlpack::natural, 64, 1}},      {DType::float16, {dlpack::floating, 16, 1}},
    {DType::bfloat16, {dlpack::bfloat, 16, 1}},     {DType::float32, {dlpack::floating, 32, 1}},
    {DType::float64, {dlpack::floating, 64, 1}},    {DType::complex64, {dlpack::complex, 64, 1}},
    {DType::complex128, {dlpack::complex, 128, 1}},
};

dlpack::DataType type_of(DType dtype) {
  for (const TypeRow& row : type_rows)
    if (row.dtype == dtype) return row.type;
  throw Error("[dlpack] expected a dtype that DLPack has, got {}", name(dtype));
}

DType dtype_of(const dlpack::DataType& type) {
  for (const TypeRow& row : type_rows)
    if (row.type.code == type.code && row.type.bits == type.bits && type.lanes == 1) return row.dtype;
  throw Error(
      "[from_dlpack] expected a tensor with elements of one of gpulua's dtypes, got DLPack's type code {} of {} bits "
      "and {} lanes",
      type.code, type.bits, type.lanes);
}

dlpack::Device device_of(const OpenDevice& device) {
  const std::string& name = device.name();
  const std::size_t colon = name.find(':');
  if (colon == name.npos) return {dlpack::cpu, 0};
  return {dlpack::cuda, std::stoi(name.substr(colon + 1))};
}

std::shared_ptr<OpenDevice> device_for(Context& context, const dlpack::Device& device) {
  switch (device.type) {
    case dlpack::cpu:
      return context.device("cpu");
    case dlpack::cuda_host:
      return context.current();
    case dlpack::cuda:
    case dlpack::cuda_managed:
      return context.device("cuda:" + std::to_string(device.id));
    default:
      throw Error(
          ErrorKind::unavailable,
          "[from_dlpack] expected a tensor on the processor or an NVIDIA GPU, got one on DLPack's device type {}",
          device.type);
  }
}

/// An exported array: it outlives the consumer's use of the tensor.
template <class Struct>
struct Exported final : LateReleases::Object {
  Struct managed{};
  std::shared_ptr<Context> context;
  Array array;
  std::vector<std::int64_t> shape, strides;

  /// Any thread may call it.
  static void release(Struct* managed) {
    std::unique_ptr<Exported> self(static_cast<Exported*>(managed->context));
    const std::shared_ptr<Context> context = std::move(self->context);
    context->late_releases().add(std::move(self));
  }
};

template <class Struct>
Struct* make_tensor(const Array& array, NativeStream reader) {
  auto exported = std::make_unique<Exported<Struct>>();
  dlpack::Tensor& tensor = exported->managed.tensor;
  tensor.data = hand_over(*array, reader);
  tensor.device = device_of(array->device());
  tensor.dtype = type_of(array->dtype);
  exported->shape.assign(array->layout.shape.begin(), array->layout.shape.end());
  exported->strides.assign(array->layout.strides.begin(), array->layout.strides.end());
  tensor.ndim = static_cast<std::int32_t>(exported->shape.size());
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  if (array->layout.size() == 0) tensor.data = nullptr;
  if constexpr (std::is_same_v<Struct, Managed>) {
    exported->managed.version = dlpack::our_version;
    // As NumPy has it of broadcast arrays: a write would be one to several positions.
    const bool is_shared = array->layout.overlaps_itself();
    exported->managed.flags = array->buffer()->read_only() || is_shared ? dlpack::flag_read_only : 0;
  } else if (array->buffer()->read_only()) {
    throw Error(
        "[dlpack] expected an array whose elements may be written, as the form from before DLPack 1.0 cannot "
        "say that they may not: x:copy() makes one");
  }
  exported->array = array;
  exported->context = array->device().context().shared_from_this();
  exported->managed.context = exported.get();
  exported->managed.deleter = &Exported<Struct>::release;
  return &exported.release()->managed;
}

/// The struct begins with a version: in the other form there is an address, whose halves are no such small numbers. A
/// major that is not ours may be a real one, up to this limit: then the deleter is at its place, and DLPack asks a
/// consumer that does not know the version to call it. Beyond it, any other member would be read at a wrong place.
bool has_version(const dlpack::Version& version) {
  constexpr std::uint32_t most = 255;
  return version.major >= 1 && version.major <= most && version.minor <= most;
}

void check_form(const Managed& managed) {
  if (!has_version(managed.version))
    throw Error(
        "[from_dlpack] expected a DLManagedTensorVersioned of version {}, got one of version {}: this looks like a "
        "DLManagedTensor, which gpulua_array_from_dlpack_legacy takes, and gpu.from_dlpack with legacy = true",
        dlpack::our_version.major, managed.version.major);
}

/// The other form has its version where this one has the address, its context in place of the device, and a half of
/// its deleter's address in place of the number of axes.
void check_form(const LegacyManaged& managed) {
  constexpr std::int32_t most_types = 255, most_axes = 255;
  const dlpack::Tensor& tensor = managed.tensor;
  const auto version = std::bit_cast<dlpack::Version>(tensor.data);
  const bool is_tensor =
      tensor.device.type >= 1 && tensor.device.type <= most_types && tensor.ndim >= 0 && tensor.ndim <= most_axes;
  if (has_version(version) && !is_tensor)
    throw Error(
        "[from_dlpack] expected a DLManagedTensor, got what looks like a DLManagedTensorVersioned of version {}, which "
        "gpulua_array_from_dlpack takes, and gpu.from_dlpack without legacy = true",
        version.major);
}

/// Calls the deleter when the last owner lets go.
template <class Struct>
std::shared_ptr<void> take_over(Struct* managed) {
  return std::shared_ptr<void>(managed, [](Struct* self) {
    if (self->deleter != nullptr) self->deleter(self);
  });
}

template <class Struct>
Array take_tensor(Context& context, Struct* managed, NativeStream writer, bool read_only) {
  MemoryToLend memory;
  memory.owner = take_over(managed);
  if (managed->deleter == &Exported<Struct>::release) {
    const auto& exported = *static_cast<Exported<Struct>*>(managed->context);
    if (exported.context.get() == &context) return view(exported.array, exported.array->layout);
  }
  const dlpack::Tensor& tensor = managed->tensor;
  if (tensor.ndim < 0 || static_cast<std::size_t>(tensor.ndim) > max_ndim || (tensor.ndim > 0 && !tensor.shape))
    throw Error("[from_dlpack] expected a tensor of up to {} axes with a shape, got {} axes", max_ndim, tensor.ndim);
  memory.dtype = dtype_of(tensor.dtype);
  memory.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides != nullptr) memory.strides.emplace(tensor.strides, tensor.strides + tensor.ndim);
  std::uintptr_t first = 0;
  if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset, &first))
    throw Error("[from_dlpack] expected a byte offset within the address space, got {}", tensor.byte_offset);
  if (tensor.data != nullptr) memory.first = reinterpret_cast<void*>(first);
  memory.read_only = read_only;
  const std::shared_ptr<OpenDevice> device = device_for(context, tensor.device);
  wait_for(*device, writer);
  return lend(*device, std::move(memory), "from_dlpack");
}

}  // namespace

void* hand_over(Node& array, NativeStream reader) {
  OpenDevice& device = array.device();
  device.check_not_captured("hands an array to the host program");
  // What gets the address may write there.
  const StreamRef& stream = device.stream();
  const auto first = [&] { return array.buffer()->read_only() ? array.read(stream) : array.write(stream); };
  void* address = first();
  // Only a wait tells whether work has failed that its kernel checks: an index, a matrix.
  if (device.index_faults().any_open()) {
    device.synchronize(*stream);
    address = first();
  }
  array.buffer()->expose();
  void* const ours = stream->native_handle();
  if (!reader || device.info().name == "cpu" || *reader == ours) return address;
  const StreamRef theirs = device.device().adopt_stream(*reader);
  const EventRef ready = device.device().create_event();
  device.device().record(*ready, *stream);
  device.wait(*theirs, *ready);
  return address;
}

void wait_for(OpenDevice& device, NativeStream writer) {
  const StreamRef& stream = device.stream();
  if (!writer || device.info().name == "cpu" || *writer == stream->native_handle()) return;
  device.check_not_captured("waits for a stream of the host program's");
  const StreamRef theirs = device.device().adopt_stream(*writer);
  const EventRef written = device.device().create_event();
  device.device().record(*written, *theirs);
  device.wait(*stream, *written);
}

Managed* to_dlpack(const Array& array, NativeStream reader) {
  return make_tensor<Managed>(array, reader);
}
LegacyManaged* to_dlpack_legacy(const Array& array, NativeStream reader) {
  return make_tensor<LegacyManaged>(array, reader);
}

void drop(Managed* tensor) {
  check_form(*tensor);
  take_over(tensor);
}
void drop(LegacyManaged* tensor) {
  check_form(*tensor);
  take_over(tensor);
}

Array from_dlpack(Context& context, Managed* tensor, NativeStream writer) {
  check_form(*tensor);
  if (tensor->version.major != dlpack::our_version.major) {
    const std::uint32_t major = tensor->version.major;
    take_over(tensor);
    throw Error(ErrorKind::unavailable, "[from_dlpack] expected a tensor of DLPack {}, got one of DLPack {}",
                dlpack::our_version.major, major);
  }
  return take_tensor(context, tensor, writer, (tensor->flags & dlpack::flag_read_only) != 0);
}

Array from_dlpack_legacy(Context& context, LegacyManaged* tensor, NativeStream writer) {
  check_form(*tensor);
  return take_tensor(context, tensor, writer, false);
}

}  // namespace gpulua
