#include "src/files/hdf5.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "src/base/near_name.h"
#include "src/expressions/transfer.h"
#include "src/files/hdf5_library.h"
#include "src/files/host_file.h"
#include "src/files/npy.h"

namespace gpulua {

namespace {

using hdf5::Id;
using hdf5::library;

// The library's numbers for kinds of objects, classes of types and kinds of spaces.
enum { group_object = 2, dataset_object = 5 };
enum { integer_class = 0, floating_class = 1, compound_class = 6, enumeration_class = 8 };
enum { space_without_elements = 2 };

/// The library serves one thread at a time.
std::mutex& library_lock() {
  static std::mutex lock;
  return lock;
}

/// An id of the library's, closed at the end of its scope.
class Held {
 public:
  Held(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  Held(Held&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Held& operator=(Held&&) = delete;
  ~Held() {
    if (id_ >= 0) close_(id_);
  }

  operator Id() const { return id_; }
  int finish() { return close_(std::exchange(id_, -1)); }

 private:
  Id id_;
  int (*close_)(Id);
};

Id number_type(DType dtype) {
  const hdf5::Library& lib = library();
  switch (dtype) {
    case DType::int8:
      return lib.int8;
    case DType::int16:
      return lib.int16;
    case DType::int32:
      return lib.int32;
    case DType::int64:
      return lib.int64;
    case DType::uint8:
      return lib.uint8;
    case DType::uint16:
      return lib.uint16;
    case DType::uint32:
      return lib.uint32;
    case DType::uint64:
      return lib.uint64;
    case DType::float32:
    case DType::complex64:
      return lib.float32;
    default:
      return lib.float64;
  }
}

/// The type of the dtype's elements in memory, and in files that are written.
Held type_of(DType dtype) {
  const hdf5::Library& lib = library();
  Held type(info(dtype).kind == DTypeKind::complex ? lib.create_type(compound_class, size_of(dtype))
            : dtype == DType::boolean              ? lib.create_enumeration(lib.int8)
            : dtype == DType::float16              ? lib.copy_type(lib.float32)
                                                   : lib.copy_type(number_type(dtype)),
            lib.close_type);
  if (dtype == DType::boolean) {
    for (const auto& [name, value] : {std::pair("FALSE", std::int8_t{0}), std::pair("TRUE", std::int8_t{1})})
      lib.insert_value(type, name, &value);
  } else if (dtype == DType::float16) {
    lib.set_fields(type, 15, 10, 5, 0, 10);
    lib.set_size(type, 2);
    lib.set_bias(type, 15);
  } else if (info(dtype).kind == DTypeKind::complex) {
    lib.insert_member(type, "r", 0, number_type(dtype));
    lib.insert_member(type, "i", size_of(dtype) / 2, number_type(dtype));
  }
  return type;
}

/// The dtype of a dataset's elements; nothing for types that are no numbers.
std::optional<DType> dtype_of(Id type) {
  const hdf5::Library& lib = library();
  const std::size_t size = lib.size_of_type(type);
  const auto of_size = [&](DTypeKind kind) -> std::optional<DType> {
    for (const DTypeInfo& row : dtype_table())
      if (row.kind == kind && row.size == size && row.dtype != DType::bfloat16) return row.dtype;
    return std::nullopt;
  };
  switch (lib.class_of(type)) {
    case integer_class:
      return of_size(lib.sign_of(type) == 0 ? DTypeKind::unsigned_integer : DTypeKind::signed_integer);
    case floating_class:
      return of_size(DTypeKind::floating);
    case enumeration_class:
      return size == 1 && lib.member_count(type) == 2 ? std::optional(DType::boolean) : std::nullopt;
    case compound_class: {
      if (lib.member_count(type) != 2) return std::nullopt;
      for (unsigned i = 0; i < 2; ++i) {
        const Held member(lib.member_type(type, i), lib.close_type);
        if (lib.class_of(member) != floating_class || 2 * lib.size_of_type(member) != size) return std::nullopt;
      }
      return of_size(DTypeKind::complex);
    }
    default:
      return std::nullopt;
  }
}

/// Reads a dataset; null where its elements are no numbers.
Array read_dataset(Id dataset, const std::string& what, OpenDevice& device) {
  const hdf5::Library& lib = library();
  const Held file_type(lib.type_of(dataset), lib.close_type);
  const std::optional<DType> dtype = dtype_of(file_type);
  const Held space(lib.space_of(dataset), lib.close_space);
  const int rank = lib.rank_of(space);
  if (!dtype || lib.space_kind(space) == space_without_elements) return nullptr;
  if (rank < 0) throw Error("{}: the file is damaged", what);
  std::vector<hdf5::Extent> extents(static_cast<std::size_t>(rank));
  lib.extents_of(space, extents.data(), nullptr);
  Array array = empty(device, Dims(extents.begin(), extents.end()), *dtype);
  const auto elements = std::make_unique_for_overwrite<char[]>(array->nbytes());
  const Held type = type_of(*dtype);
  if (array->nbytes() > 0) {
    // Two booleans may have other names in the file, so they are read as they are.
    if (lib.read(dataset, *dtype == DType::boolean ? Id{file_type} : Id{type}, 0, 0, 0, elements.get()) < 0)
      throw Error("{}: its elements cannot be read: the file is damaged, or compressed by a filter that libhdf5 lacks",
                  what);
    char* const end = elements.get() + array->nbytes();
    if (*dtype == DType::boolean && std::any_of(elements.get(), end, [](char byte) { return byte != 0 && byte != 1; }))
      throw Error("{}: expected the values 0 and 1 of booleans, got others", what);
    upload(*array, elements.get());
  }
  return array;
}

constexpr int most_depth = 64;
constexpr std::int64_t most_groups = 100'000;

/// Reads the datasets of a group and of those inside.
void read_group(Id group, const std::string& prefix, const std::string& where, OpenDevice& device, NamedArrays& arrays,
                int depth, std::int64_t& groups) {
  const hdf5::Library& lib = library();
  hdf5::GroupInfo links{};
  if (depth > most_depth) throw Error("{}: expected groups of at most {} levels, got more", where, most_depth);
  // A group may be linked from within itself, more than once.
  if (++groups > most_groups) throw Error("{}: expected at most {} groups, got more", where, most_groups);
  if (lib.group_info(group, &links) < 0) throw Error("{}: the file is damaged", where);
  for (hdf5::Extent i = 0; i < links.links; ++i) {
    const auto name_at = [&](char* name, std::size_t size) { return lib.name_at(group, ".", 0, 0, i, name, size, 0); };
    const std::ptrdiff_t length = name_at(nullptr, 0);
    if (length < 0) throw Error("{}: the file is damaged", where);
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    name_at(name.data(), name.size());
    name.pop_back();
    const Held object(lib.open_object(group, name.c_str(), 0), lib.close_object);
    if (object < 0) continue;  // a link to a file or object that is not there
    const std::string path = prefix + name;
    if (lib.kind_of(object) == group_object) read_group(object, path + '/', where, device, arrays, depth + 1, groups);
    if (lib.kind_of(object) != dataset_object) continue;
    if (Array array = read_dataset(object, where + " (" + path + ")", device))
      arrays.push_back({path, std::move(array)});
  }
}

}  // namespace

NamedArrays read_hdf5(const std::string& path, const std::string& name, OpenDevice& device) {
  const std::string where = "[load] " + path;
  const FileBytes there("load", path);  // its messages are those of all files
  const hdf5::Library& lib = library();
  const std::scoped_lock lock(library_lock());
  const Held file(lib.open_file(path.c_str(), 0, 0), lib.close_file);
  if (file < 0) throw Error("{}: expected an HDF5 file, got other data", where);
  NamedArrays arrays;
  if (name.empty()) {
    const Held root(lib.open_object(file, "/", 0), lib.close_object);
    std::int64_t groups = 0;
    read_group(root, "", where, device, arrays, 0, groups);
    return arrays;
  }
  const Held dataset(lib.open_object(file, name.c_str(), 0), lib.close_object);
  if (dataset < 0 || lib.kind_of(dataset) != dataset_object)
    throw Error("{}: expected the name of a dataset, got \"{}\"; gpu.load without a name gives all", where, name);
  Array array = read_dataset(dataset, where + " (" + name + ")", device);
  if (!array) throw Error("{} ({}): expected numbers or booleans, got another type of elements", where, name);
  arrays.push_back({name, std::move(array)});
  return arrays;
}

void save_hdf5(const std::string& path, const NamedArrays& arrays) {
  for (const auto& [name, array, dates] : arrays)
    if (array->dtype == DType::bfloat16)
      throw Error("[save] expected a dtype that HDF5 has, got bfloat16; x:astype \"float32\" keeps its values");
  NewFile target("save", path);
  const hdf5::Library& lib = library();
  {
    const std::scoped_lock lock(library_lock());
    constexpr unsigned truncate = 2;
    Held file(lib.create_file(target.beside().c_str(), truncate, 0, 0), lib.close_file);
    const Held links(lib.create_properties(lib.link_creation), lib.close_properties);
    lib.create_groups(links, 1);
    const auto check = [&](bool good, const std::string& name) {
      if (!good) throw Error(ErrorKind::file, "[save] cannot write {}: the dataset \"{}\" fails", path, name);
    };
    for (const auto& [name, array, dates] : arrays) {
      const HostElements elements(*array);
      const std::vector<hdf5::Extent> extents(array->layout.shape.begin(), array->layout.shape.end());
      const Held space(lib.create_space(static_cast<int>(extents.size()), extents.data(), nullptr), lib.close_space);
      const Held type = type_of(array->dtype);
      const Held dataset(lib.create_dataset(file, name.c_str(), type, space, links, 0, 0), lib.close_dataset);
      check(file >= 0 && dataset >= 0, name);
      check(elements.size == 0 || lib.write(dataset, type, 0, 0, 0, elements.bytes().data()) >= 0, name);
    }
    // What the library keeps in memory is written now.
    if (file.finish() < 0)
      throw Error(ErrorKind::file, "[save] cannot write {}: its end fails; perhaps the disk is full", path);
  }
  target.commit();
}

}  // namespace gpulua
