#include "src/files/png_library.h"

#include "src/base/dynamic_library.h"

namespace gpulua {

PngLibrary::PngLibrary() {
  const OptionalLibrary library("image", "PNG files need libpng", {"libpng16.so.16"}, "apt-get install libpng16-16");
#define GPULUA_PNG_LOAD(member, function) library.find(member, #function);
  GPULUA_PNG_FUNCTIONS(GPULUA_PNG_LOAD)
#undef GPULUA_PNG_LOAD
}

const PngLibrary& libpng() {
  static const PngLibrary library;
  return library;
}

}  // namespace gpulua
