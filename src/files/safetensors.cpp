#include "src/files/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "src/base/json_string.h"
#include "src/expressions/transfer.h"
#include "src/files/host_file.h"
#include "src/files/json_text.h"
#include "src/files/npy.h"

namespace gpulua {

namespace {

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName type_names[] = {
    {DType::boolean, "BOOL"}, {DType::int8, "I8"},     {DType::int16, "I16"},     {DType::int32, "I32"},
    {DType::int64, "I64"},    {DType::uint8, "U8"},    {DType::uint16, "U16"},    {DType::uint32, "U32"},
    {DType::uint64, "U64"},   {DType::float16, "F16"}, {DType::bfloat16, "BF16"}, {DType::float32, "F32"},
    {DType::float64, "F64"},
};

struct Tensor {
  std::string name, type = {};
  Dims shape = {};
  std::vector<std::int64_t> range = {};  // of bytes after the header
};

Tensor read_tensor(JsonText& json, const std::string& name) {
  Tensor tensor{name};
  json.read_object([&](const std::string& key) {
    if (key == "dtype")
      tensor.type = json.read_string();
    else if (key == "shape")
      json.read_array([&] { tensor.shape.push_back(json.read_integer()); });
    else if (key == "data_offsets")
      json.read_array([&] { tensor.range.push_back(json.read_integer()); });
    else
      json.fail("a field other than dtype, shape and data_offsets");
  });
  if (tensor.range.size() != 2 || tensor.range[0] > tensor.range[1]) json.fail("data_offsets that are not a range");
  return tensor;
}

DType dtype_of(const Tensor& tensor, const std::string& where) {
  std::string names;
  for (const TypeName& row : type_names) {
    if (row.name == tensor.type) return row.dtype;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error("{}: expected elements of {}, got \"{}\"", where, names, tensor.type.substr(0, 20));
}

std::vector<Tensor> read_header(JsonText& json) {
  std::vector<Tensor> tensors;
  std::set<std::string> names;
  json.read_object([&](const std::string& name) {
    if (name == "__metadata__") return json.read_object([&](const std::string&) { json.read_string(); });
    if (!names.insert(name).second) json.fail("two arrays called \"" + name + '"');
    tensors.push_back(read_tensor(json, name));
  });
  json.expect_end();
  return tensors;
}

/// In this format each tensor begins where the one before ends: a small file cannot promise many large ones, and hides
/// nothing between them.
void check_places(const std::vector<Tensor>& tensors, std::int64_t bytes, const std::string& where) {
  std::vector<const Tensor*> in_order;
  for (const Tensor& tensor : tensors) in_order.push_back(&tensor);
  std::ranges::sort(in_order, {}, [](const Tensor* tensor) { return std::pair(tensor->range[0], tensor->range[1]); });
  std::int64_t end = 0;
  for (const Tensor* tensor : in_order) {
    if (tensor->range[1] > bytes)
      throw Error("{} ({}): the file is cut off: it has {} bytes of elements", where, tensor->name, bytes);
    if (tensor->range[0] != end)
      throw Error("{} ({}): expected arrays without gaps or overlaps, this one at byte {}, got it at byte {}", where,
                  tensor->name, end, tensor->range[0]);
    end = tensor->range[1];
  }
  if (end != bytes) throw Error("{}: expected the arrays' {} bytes after the header, got {}", where, end, bytes);
}

}  // namespace

NamedArrays read_safetensors(std::span<const char> bytes, OpenDevice& device, const std::string& file) {
  const std::string where = "[load] " + file;
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) throw Error("{}: expected a .safetensors file, got other data", where);
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::span<const char> rest = bytes.subspan(sizeof length);
  if (length > rest.size()) throw Error("{}: expected a .safetensors file, got other data, or a part of one", where);
  const std::span<const char> elements = rest.subspan(length);

  JsonText json({rest.data(), length}, where);
  const std::vector<Tensor> tensors = read_header(json);
  check_places(tensors, static_cast<std::int64_t>(elements.size()), where);
  NamedArrays arrays;
  for (const Tensor& tensor : tensors) {
    const std::string what = where + " (" + tensor.name + ")";
    const DType dtype = dtype_of(tensor, what);
    const auto size = static_cast<std::size_t>(tensor.range[1] - tensor.range[0]);
    if (static_cast<std::size_t>(checked_size(tensor.shape)) != size / size_of(dtype) || size % size_of(dtype) != 0)
      throw Error("{}: expected {} of shape {}, got {} bytes", what, gpulua::name(dtype), to_string(tensor.shape),
                  size);
    Array array = empty(device, tensor.shape, dtype);
    const char* const data = elements.data() + tensor.range[0];
    if (dtype == DType::boolean && std::any_of(data, data + size, [](char byte) { return byte != 0 && byte != 1; }))
      throw Error("{}: expected bytes 0 and 1 in an array of bool, got others", what);
    if (size > 0) upload(*array, data);
    arrays.push_back({tensor.name, std::move(array)});
  }
  return arrays;
}

void save_safetensors(const std::string& path, const NamedArrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  std::string header = "{";
  if (!metadata.empty()) {
    header += "\"__metadata__\":";
    char opening = '{';
    for (const auto& [key, value] : metadata) {
      ((header += opening) += to_json(key)) += ':' + to_json(value);
      opening = ',';
    }
    header += arrays.empty() ? "}" : "},";
  }
  std::size_t offset = 0;
  const char* before = "";
  for (const auto& [name, array, dates] : arrays) {
    const auto* const row = std::ranges::find(type_names, array->dtype, &TypeName::dtype);
    if (row == std::end(type_names))
      throw Error("[save] expected real numbers in the array \"{}\" of a .safetensors file, got {}", name,
                  gpulua::name(array->dtype));
    std::string shape;
    for (const std::int64_t extent : array->layout.shape) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    header += before + to_json(name) + ":{\"dtype\":\"" + std::string(row->name) + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(offset) + ',' + std::to_string(offset + array->nbytes()) + "]}";
    offset += array->nbytes();
    before = ",";
  }
  header += '}';
  constexpr std::size_t alignment = 8;
  header.append((alignment - header.size() % alignment) % alignment, ' ');
  const std::uint64_t length = header.size();
  NewFile file("save", path);
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(header);
  for (const auto& [name, array, dates] : arrays) file.write(HostElements(*array).bytes());
  file.commit();
}

}  // namespace gpulua
