#pragma once

#include "src/array/node.h"

namespace gpulua {

/// The arrays that work on a device's current stream uses: it names them, and is queued next. What it writes depends on
/// what it reads, so that an error that is found on the device is an error of the results, too.
class Uses {
 public:
  explicit Uses(OpenDevice& device) : device_(device) {}

  /// The address of the first element of an array that the work reads, writes (no more than some elements, perhaps),
  /// writes as a whole without reading it, or reads and writes. Null for a null array.
  char* in(const Array& array) {
    if (!array) return nullptr;
    char* const first = array->read(device_.stream());
    add_source(array->buffer());
    return first;
  }
  char* out(const Array& array) { return array ? written(array->write(device_.stream()), array) : nullptr; }
  char* overwrite(const Array& array) { return array ? written(array->overwrite(device_.stream()), array) : nullptr; }
  char* in_out(const Array& array) {
    char* const first = out(array);
    if (array) add_source(array->buffer());
    return first;
  }
  /// The results are valid only if the check passes.
  void add_check(const CheckRef& check);

 private:
  char* written(char* first, const Array& array) {
    add_result(array->buffer());
    return first;
  }
  void add_source(const BufferRef& source) {
    if (source->guarded()) [[unlikely]]
      add_guarded(source);
  }
  void add_guarded(const BufferRef& source);
  void add_result(const BufferRef& result);

  OpenDevice& device_;
  boost::container::small_vector<BufferRef, 4> results_;
  boost::container::small_vector<BufferRef, 4> sources_;  // those with checks
  boost::container::small_vector<CheckRef, 1> checks_;
};

}  // namespace gpulua
