#pragma once

#include <png.h>

// The functions of libpng that gpulua uses.
#define GPULUA_PNG_FUNCTIONS(X)                         \
  X(create_info_struct, png_create_info_struct)         \
  X(create_read_struct, png_create_read_struct)         \
  X(destroy_read_struct, png_destroy_read_struct)       \
  X(error, png_error)                                   \
  X(get_bit_depth, png_get_bit_depth)                   \
  X(get_channels, png_get_channels)                     \
  X(get_error_ptr, png_get_error_ptr)                   \
  X(get_image_height, png_get_image_height)             \
  X(get_image_width, png_get_image_width)               \
  X(get_io_ptr, png_get_io_ptr)                         \
  X(get_rowbytes, png_get_rowbytes)                     \
  X(image_free, png_image_free)                         \
  X(image_write_to_stdio, png_image_write_to_stdio)     \
  X(read_end, png_read_end)                             \
  X(read_info, png_read_info)                           \
  X(read_row, png_read_row)                             \
  X(read_update_info, png_read_update_info)             \
  X(set_expand, png_set_expand)                         \
  X(set_interlace_handling, png_set_interlace_handling) \
  X(set_read_fn, png_set_read_fn)                       \
  X(set_swap, png_set_swap)

namespace gpulua {

struct PngLibrary {
  /// Throws Error, with the package to install, when libpng is not found.
  PngLibrary();

#define GPULUA_PNG_MEMBER(member, function) decltype(&::function) member;
  GPULUA_PNG_FUNCTIONS(GPULUA_PNG_MEMBER)
#undef GPULUA_PNG_MEMBER
};

/// libpng, opened when a picture is first read or written. Its callbacks get nothing of ours before they have called
/// it.
const PngLibrary& libpng();

}  // namespace gpulua
