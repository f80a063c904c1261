#include "src/device/cpu/check/diagnostic_text.h"

namespace gpulua::cpu {
namespace {

const char* space_word(Space space) {
  switch (space) {
    case Space::shared:
    case Space::dynamic_shared:
      return "shared ";
    case Space::local:
      return "local ";
    default:
      return "";
  }
}

/// "[17][0]" and "[16][16]", for indices that count from 0; the first index takes what is out of bounds.
void write_indices(const CheckedObject& object, long index, std::string& indices, std::string& extents) {
  long inner = 1;
  for (unsigned axis = object.rank; axis-- > 0;) {
    const long extent = static_cast<long>(object.extents[axis]);
    long position = index / inner;
    if (axis > 0) {
      position = ((position % extent) + extent) % extent;
      index -= position * inner;
    }
    indices.insert(0, "[" + std::to_string(position + static_cast<long>(object.first)) + "]");
    extents.insert(0, "[" + std::to_string(extent) + "]");
    inner *= extent;
  }
}

}  // namespace

std::string line_text(const CheckedSite& site) {
  return std::string(site.file) + ":" + std::to_string(site.line);
}

std::string place_text(const CheckedSite& site) {
  return site.line == 0 ? "" : " at " + line_text(site);
}

std::string access_text(const char* what, const CheckedSite& site, std::size_t bytes) {
  const char* verb = site.kind & access::atomic  ? " atomic operation on "
                     : site.kind & access::write ? " write of "
                                                 : " read of ";
  return what + std::string(verb) + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string element_text(const CheckedObject& object, long offset, std::size_t bytes) {
  const long element = object.element_bytes;
  const long index = offset >= 0 ? offset / element : -((-offset + element - 1) / element);
  std::string indices, extents;
  if (object.rank > 1) {
    write_indices(object, index, indices, extents);
  } else {
    indices = "[" + std::to_string(index + static_cast<long>(object.first)) + "]";
    extents = "[" + std::to_string(bytes / static_cast<std::size_t>(element)) + "]";
  }
  const std::string type = *object.type != '\0' ? object.type : std::to_string(element) + "-byte items";
  // A Lua function's argument may have several axes, which its memory does not show.
  if (object.first != 0 && object.space == Space::parameter)
    return "element " + std::to_string(index + 1) + " of " + object.name + ", " + type + extents;
  const std::string name = *object.name != '\0' ? object.name + indices : "item " + indices;
  return name + " of " + space_word(object.space) + type + extents;
}

}  // namespace gpulua::cpu
