#include "src/graphics/opengl.h"

#include "src/base/dynamic_library.h"

namespace gpulua {

OpenGl::OpenGl() {
  const OptionalLibrary library("gl", "OpenGL needs its library", {"libOpenGL.so.0", "libGL.so.1"},
                                "apt-get install libopengl0");
#define GPULUA_GL_LOAD(member, function) library.find(member, #function);
  GPULUA_GL_FUNCTIONS(GPULUA_GL_LOAD)
#undef GPULUA_GL_LOAD
}

const OpenGl& opengl() {
  static const OpenGl library;
  return library;
}

}  // namespace gpulua
