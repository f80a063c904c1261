#pragma once

// The functions of OpenGL 3.3 that gpulua calls. Each call goes to the driver of the context that is current in the
// calling thread.

#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>

#define GPULUA_GL_FUNCTIONS(X)                                \
  X(active_texture, glActiveTexture)                          \
  X(attach_shader, glAttachShader)                            \
  X(bind_buffer, glBindBuffer)                                \
  X(bind_framebuffer, glBindFramebuffer)                      \
  X(bind_renderbuffer, glBindRenderbuffer)                    \
  X(bind_texture, glBindTexture)                              \
  X(bind_vertex_array, glBindVertexArray)                     \
  X(blend_func_separate, glBlendFuncSeparate)                 \
  X(blit_framebuffer, glBlitFramebuffer)                      \
  X(buffer_data, glBufferData)                                \
  X(check_framebuffer_status, glCheckFramebufferStatus)       \
  X(clear, glClear)                                           \
  X(clear_color, glClearColor)                                \
  X(compile_shader, glCompileShader)                          \
  X(create_program, glCreateProgram)                          \
  X(create_shader, glCreateShader)                            \
  X(delete_buffers, glDeleteBuffers)                          \
  X(delete_framebuffers, glDeleteFramebuffers)                \
  X(delete_shader, glDeleteShader)                            \
  X(delete_textures, glDeleteTextures)                        \
  X(disable, glDisable)                                       \
  X(disable_vertex_attrib_array, glDisableVertexAttribArray)  \
  X(draw_arrays, glDrawArrays)                                \
  X(enable, glEnable)                                         \
  X(enable_vertex_attrib_array, glEnableVertexAttribArray)    \
  X(framebuffer_renderbuffer, glFramebufferRenderbuffer)      \
  X(framebuffer_texture_2d, glFramebufferTexture2D)           \
  X(gen_buffers, glGenBuffers)                                \
  X(gen_framebuffers, glGenFramebuffers)                      \
  X(gen_renderbuffers, glGenRenderbuffers)                    \
  X(gen_textures, glGenTextures)                              \
  X(gen_vertex_arrays, glGenVertexArrays)                     \
  X(get_buffer_parameter, glGetBufferParameteri64v)           \
  X(get_buffer_sub_data, glGetBufferSubData)                  \
  X(get_error, glGetError)                                    \
  X(get_float, glGetFloatv)                                   \
  X(get_integer, glGetIntegerv)                               \
  X(get_program, glGetProgramiv)                              \
  X(get_program_info_log, glGetProgramInfoLog)                \
  X(get_renderbuffer_parameter, glGetRenderbufferParameteriv) \
  X(get_shader, glGetShaderiv)                                \
  X(get_shader_info_log, glGetShaderInfoLog)                  \
  X(get_string, glGetString)                                  \
  X(get_tex_image, glGetTexImage)                             \
  X(get_tex_level_parameter, glGetTexLevelParameteriv)        \
  X(get_uniform_location, glGetUniformLocation)               \
  X(is_buffer, glIsBuffer)                                    \
  X(is_enabled, glIsEnabled)                                  \
  X(is_renderbuffer, glIsRenderbuffer)                        \
  X(is_texture, glIsTexture)                                  \
  X(link_program, glLinkProgram)                              \
  X(map_buffer_range, glMapBufferRange)                       \
  X(pixel_store, glPixelStorei)                               \
  X(read_pixels, glReadPixels)                                \
  X(renderbuffer_storage, glRenderbufferStorage)              \
  X(shader_source, glShaderSource)                            \
  X(tex_image_2d, glTexImage2D)                               \
  X(tex_parameter, glTexParameteri)                           \
  X(tex_sub_image_2d, glTexSubImage2D)                        \
  X(uniform_1f, glUniform1f)                                  \
  X(uniform_2f, glUniform2f)                                  \
  X(uniform_4f, glUniform4f)                                  \
  X(uniform_matrix, glUniformMatrix4fv)                       \
  X(unmap_buffer, glUnmapBuffer)                              \
  X(use_program, glUseProgram)                                \
  X(vertex_attrib, glVertexAttrib4f)                          \
  X(vertex_attrib_pointer, glVertexAttribPointer)             \
  X(viewport, glViewport)

namespace gpulua {

struct OpenGl {
  /// Throws ErrorKind::unavailable, with the package to install, where the library is not found.
  OpenGl();

#define GPULUA_GL_MEMBER(member, function) decltype(&::function) member;
  GPULUA_GL_FUNCTIONS(GPULUA_GL_MEMBER)
#undef GPULUA_GL_MEMBER
};

/// OpenGL's library, opened by the first call.
const OpenGl& opengl();

/// Binds a buffer for the calls of its scope, and then the one that the program had bound. The target belongs to no
/// vertex array.
class BoundBuffer {
 public:
  explicit BoundBuffer(GLuint id) {
    opengl().get_integer(GL_ARRAY_BUFFER_BINDING, &previous_);
    opengl().bind_buffer(GL_ARRAY_BUFFER, id);
  }
  ~BoundBuffer() { opengl().bind_buffer(GL_ARRAY_BUFFER, static_cast<GLuint>(previous_)); }
  BoundBuffer(const BoundBuffer&) = delete;
  BoundBuffer& operator=(const BoundBuffer&) = delete;

  /// Such as GL_BUFFER_SIZE.
  GLint64 parameter(GLenum name) const {
    GLint64 value = 0;
    opengl().get_buffer_parameter(GL_ARRAY_BUFFER, name, &value);
    return value;
  }

 private:
  GLint previous_ = 0;
};

}  // namespace gpulua
