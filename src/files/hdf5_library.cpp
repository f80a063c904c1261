#include "src/files/hdf5_library.h"

#include <string>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua::hdf5 {

Library::Library() {
  // Debian's name, and those of other systems and versions.
  const OptionalLibrary file(
      "hdf5", "HDF5 files need libhdf5",
      {"libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_serial.so.310", "libhdf5.so.310", "libhdf5.so.200"},
      "apt-get install libhdf5-103-1, or libhdf5-310 on Debian 13");
#define GPULUA_HDF5_LOAD(member, function, ...) file.find(member, #function);
  GPULUA_HDF5_FUNCTIONS(GPULUA_HDF5_LOAD)
#undef GPULUA_HDF5_LOAD
  // At the process's end libhdf5 would try again to write files that it has failed to close, as on a full disk, and
  // crash. We leave no file open. The call fails if the program uses the library already.
  keep_from_exit();
  if (open() < 0) throw Error(ErrorKind::unavailable, "[hdf5] cannot initialise libhdf5: H5open failed");
  silence(0, nullptr, nullptr);
  // open() has set them.
  const auto variable = [&](const char* name) {
    const Id* value = nullptr;
    file.find(value, name);
    return *value;
  };
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
