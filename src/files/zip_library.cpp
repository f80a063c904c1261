#include "src/files/zip_library.h"

#include "src/base/dynamic_library.h"

namespace gpulua {

ZipLibrary::ZipLibrary() {
  const OptionalLibrary library("zip", ".npz files need libzip", {"libzip.so.4", "libzip.so.5"},
                                "apt-get install libzip4, or libzip5 on Debian 13");
#define GPULUA_ZIP_LOAD(member, function) library.find(member, #function);
  GPULUA_ZIP_FUNCTIONS(GPULUA_ZIP_LOAD)
#undef GPULUA_ZIP_LOAD
}

}  // namespace gpulua
