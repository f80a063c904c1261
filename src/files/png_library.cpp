#include "src/files/png_library.h"

#include <string>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua {

PngLibrary::PngLibrary() {
  std::string why;
  const DynamicLibrary library = DynamicLibrary::open("libpng16.so.16", why);
  if (!library)
    throw Error(ErrorKind::unavailable,
                "[image] PNG files need libpng (" + why + "); install it with: apt-get install libpng16-16");
#define GPULUA_PNG_LOAD(member, function)                                 \
  member = reinterpret_cast<decltype(member)>(library.symbol(#function)); \
  if (member == nullptr) throw Error(ErrorKind::unavailable, "[image] libpng16.so.16 has no " #function);
  GPULUA_PNG_FUNCTIONS(GPULUA_PNG_LOAD)
#undef GPULUA_PNG_LOAD
}

const PngLibrary& libpng() {
  static const PngLibrary library;
  return library;
}

}  // namespace gpulua
