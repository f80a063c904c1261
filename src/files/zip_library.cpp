#include "src/files/zip_library.h"

#include <string>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua {

ZipLibrary::ZipLibrary() {
  std::string why;
  const DynamicLibrary library = DynamicLibrary::open("libzip.so.4", why);
  if (!library)
    throw Error(ErrorKind::unavailable,
                "[zip] .npz files need libzip (" + why + "); install it with: apt-get install libzip4");
#define GPULUA_ZIP_LOAD(member, function)                                 \
  member = reinterpret_cast<decltype(member)>(library.symbol(#function)); \
  if (member == nullptr) throw Error(ErrorKind::unavailable, "[zip] libzip.so.4 has no " #function);
  GPULUA_ZIP_FUNCTIONS(GPULUA_ZIP_LOAD)
#undef GPULUA_ZIP_LOAD
}

}  // namespace gpulua
