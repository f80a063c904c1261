#pragma once

#include <cstddef>
#include <cstdint>

namespace gpulua::hdf5 {

using Id = std::int64_t;
using Extent = unsigned long long;

/// H5G_info_t. Only its number of links is read here.
struct GroupInfo {
  int storage_type;
  Extent links;
  std::int64_t max_order;
  bool mounted;
};

// The functions of libhdf5 that gpulua uses, as its reference describes them for versions from 1.10 on. Ids below 0 and
// other results below 0 are failures.
#define GPULUA_HDF5_FUNCTIONS(X)                                                                                    \
  X(keep_from_exit, H5dont_atexit, int())                                                                           \
  X(open, H5open, int())                                                                                            \
  X(silence, H5Eset_auto2, int(Id stack, void* function, void* data))                                               \
  X(open_file, H5Fopen, Id(const char* path, unsigned flags, Id access))                                            \
  X(create_file, H5Fcreate, Id(const char* path, unsigned flags, Id creation, Id access))                           \
  X(close_file, H5Fclose, int(Id))                                                                                  \
  X(open_object, H5Oopen, Id(Id place, const char* name, Id access))                                                \
  X(close_object, H5Oclose, int(Id))                                                                                \
  X(kind_of, H5Iget_type, int(Id))                                                                                  \
  X(group_info, H5Gget_info, int(Id group, GroupInfo*))                                                             \
  X(name_at, H5Lget_name_by_idx,                                                                                    \
    std::ptrdiff_t(Id place, const char* group, int index, int order, Extent at, char* name, std::size_t size,      \
                   Id access))                                                                                      \
  X(space_of, H5Dget_space, Id(Id dataset))                                                                         \
  X(type_of, H5Dget_type, Id(Id dataset))                                                                           \
  X(read, H5Dread, int(Id dataset, Id type, Id memory_space, Id file_space, Id transfer, void*))                    \
  X(write, H5Dwrite, int(Id dataset, Id type, Id memory_space, Id file_space, Id transfer, const void*))            \
  X(create_dataset, H5Dcreate2, Id(Id place, const char* name, Id type, Id space, Id link, Id creation, Id access)) \
  X(close_dataset, H5Dclose, int(Id))                                                                               \
  X(space_kind, H5Sget_simple_extent_type, int(Id))                                                                 \
  X(rank_of, H5Sget_simple_extent_ndims, int(Id))                                                                   \
  X(extents_of, H5Sget_simple_extent_dims, int(Id, Extent * extents, Extent * most))                                \
  X(create_space, H5Screate_simple, Id(int rank, const Extent* extents, const Extent* most))                        \
  X(close_space, H5Sclose, int(Id))                                                                                 \
  X(class_of, H5Tget_class, int(Id))                                                                                \
  X(size_of_type, H5Tget_size, std::size_t(Id))                                                                     \
  X(sign_of, H5Tget_sign, int(Id))                                                                                  \
  X(member_count, H5Tget_nmembers, int(Id))                                                                         \
  X(member_type, H5Tget_member_type, Id(Id, unsigned))                                                              \
  X(create_type, H5Tcreate, Id(int kind, std::size_t size))                                                         \
  X(insert_member, H5Tinsert, int(Id, const char* name, std::size_t offset, Id type))                               \
  X(create_enumeration, H5Tenum_create, Id(Id base))                                                                \
  X(insert_value, H5Tenum_insert, int(Id, const char* name, const void* value))                                     \
  X(copy_type, H5Tcopy, Id(Id))                                                                                     \
  X(set_fields, H5Tset_fields,                                                                                      \
    int(Id, std::size_t sign, std::size_t exponent, std::size_t exponent_bits, std::size_t mantissa,                \
        std::size_t mantissa_bits))                                                                                 \
  X(set_size, H5Tset_size, int(Id, std::size_t))                                                                    \
  X(set_bias, H5Tset_ebias, int(Id, std::size_t))                                                                   \
  X(close_type, H5Tclose, int(Id))                                                                                  \
  X(create_properties, H5Pcreate, Id(Id kind))                                                                      \
  X(create_groups, H5Pset_create_intermediate_group, int(Id, unsigned))                                             \
  X(close_properties, H5Pclose, int(Id))

struct Library {
  /// Throws Error, with the package to install, when libhdf5 is not found.
  Library();

#define GPULUA_HDF5_MEMBER(member, function, ...) \
  using type_of_##member = __VA_ARGS__;           \
  type_of_##member* member;
  GPULUA_HDF5_FUNCTIONS(GPULUA_HDF5_MEMBER)
#undef GPULUA_HDF5_MEMBER

  // Types and a class of properties, which are variables of the library's.
  Id int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, link_creation;
};

/// libhdf5, opened when the first file is read or written.
const Library& library();

}  // namespace gpulua::hdf5
