#include "src/files/hdf5_library.h"

#include <string>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua::hdf5 {

namespace {

// Debian's name, and those of other systems and versions.
constexpr const char* names[] = {"libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_serial.so.310", "libhdf5.so.310",
                                 "libhdf5.so.200"};

DynamicLibrary open_library() {
  std::string first_why;
  for (const char* const name : names) {
    std::string why;
    if (const DynamicLibrary library = DynamicLibrary::open(name, why)) return library;
    if (first_why.empty()) first_why = why;
  }
  throw Error(ErrorKind::unavailable,
              "[hdf5] HDF5 files need libhdf5 (" + first_why + "); install it with: apt-get install libhdf5-103-1");
}

void* symbol_of(const DynamicLibrary& library, const char* name) {
  void* const symbol = library.symbol(name);
  if (symbol == nullptr) throw Error(ErrorKind::unavailable, "[hdf5] libhdf5 has no " + std::string(name));
  return symbol;
}

}  // namespace

Library::Library() {
  const DynamicLibrary file = open_library();
#define GPULUA_HDF5_LOAD(member, function, ...) member = reinterpret_cast<decltype(member)>(symbol_of(file, #function));
  GPULUA_HDF5_FUNCTIONS(GPULUA_HDF5_LOAD)
#undef GPULUA_HDF5_LOAD
  // At the process's end the library would write files again whose closing has failed, as on a full disk, and crash. We
  // leave no file open. It says no where the program has the library already.
  keep_from_exit();
  if (open() < 0) throw Error(ErrorKind::unavailable, "[hdf5] libhdf5 does not start");
  silence(0, nullptr, nullptr);
  // They have their values since open().
  const auto variable = [&](const char* name) { return *static_cast<const Id*>(symbol_of(file, name)); };
  int8 = variable("H5T_NATIVE_INT8_g");
  int16 = variable("H5T_NATIVE_INT16_g");
  int32 = variable("H5T_NATIVE_INT32_g");
  int64 = variable("H5T_NATIVE_INT64_g");
  uint8 = variable("H5T_NATIVE_UINT8_g");
  uint16 = variable("H5T_NATIVE_UINT16_g");
  uint32 = variable("H5T_NATIVE_UINT32_g");
  uint64 = variable("H5T_NATIVE_UINT64_g");
  float32 = variable("H5T_NATIVE_FLOAT_g");
  float64 = variable("H5T_NATIVE_DOUBLE_g");
  link_creation = variable("H5P_CLS_LINK_CREATE_ID_g");
}

const Library& library() {
  static const Library opened;
  return opened;
}

}  // namespace gpulua::hdf5
