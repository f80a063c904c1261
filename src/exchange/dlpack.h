#pragma once

// DLPack's structs, as its specification lays them out (version 1), and the versions from before 1.0. Declared here,
// because the packaged header is of version 0.6.

#include <cstdint>

namespace gpulua::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
  std::int32_t type;
  std::int32_t id;
};

enum TypeCode : std::uint8_t { integer = 0, natural = 1, floating = 2, bfloat = 4, complex = 5, boolean = 6 };

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

/// DLManagedTensor: from before 1.0.
struct LegacyManaged {
  Tensor tensor;
  void* context;
  void (*deleter)(LegacyManaged* self);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
inline constexpr Version our_version{1, 1};

inline constexpr std::uint64_t flag_read_only = 1, flag_copied = 2;

/// DLManagedTensorVersioned. Version and deleter stay where they are in every version.
struct Managed {
  Version version;
  void* context;
  void (*deleter)(Managed* self);
  std::uint64_t flags;
  Tensor tensor;
};

}  // namespace gpulua::dlpack
