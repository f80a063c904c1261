#pragma once

#include <zip.h>

// The functions of libzip that gpulua uses.
#define GPULUA_ZIP_FUNCTIONS(X)                     \
  X(close, zip_close)                               \
  X(discard, zip_discard)                           \
  X(error_fini, zip_error_fini)                     \
  X(error_init, zip_error_init)                     \
  X(error_init_with_code, zip_error_init_with_code) \
  X(error_strerror, zip_error_strerror)             \
  X(fclose, zip_fclose)                             \
  X(file_add, zip_file_add)                         \
  X(file_set_dostime, zip_file_set_dostime)         \
  X(file_strerror, zip_file_strerror)               \
  X(fopen_index, zip_fopen_index)                   \
  X(fread, zip_fread)                               \
  X(get_num_entries, zip_get_num_entries)           \
  X(open, zip_open)                                 \
  X(open_from_source, zip_open_from_source)         \
  X(set_file_compression, zip_set_file_compression) \
  X(source_buffer_create, zip_source_buffer_create) \
  X(source_free, zip_source_free)                   \
  X(source_function, zip_source_function)           \
  X(stat_index, zip_stat_index)                     \
  X(strerror, zip_strerror)

namespace gpulua {

/// libzip, loaded when the first .npz file is used. Loading it and its dependencies at the start would lengthen the
/// start of the command by half.
struct ZipLibrary {
  /// Throws Error, with the package to install, when libzip is not found.
  ZipLibrary();

#define GPULUA_ZIP_MEMBER(member, function) decltype(&::function) member;
  GPULUA_ZIP_FUNCTIONS(GPULUA_ZIP_MEMBER)
#undef GPULUA_ZIP_MEMBER
};

}  // namespace gpulua
