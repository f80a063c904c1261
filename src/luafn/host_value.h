#pragma once

// The values that a function works with when it is called: its arguments, and what it captures.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/luafn/syntax.h"

namespace gpulua::luafn {

struct Closure;

/// What gpu.grad and gpu.value_and_grad make of a function.
struct Differentiation {
  std::vector<std::size_t> which{};  // the arguments to differentiate by, from 0
  bool with_value = false;

  bool operator==(const Differentiation&) const = default;
};

/// How an array's elements lie in memory.
enum class ElementOrder {
  row_major,
  strided_rows,  // the elements of a row are neighbours
  strided,
  backwards  // some strides are negative
};

struct HostValue {
  enum class Kind {
    nil,
    number,
    boolean,
    builtin,   // name: "math.sin", "gpu.erf"; "gpu" for the module itself
    function,  // of the script
    array,
    table,  // of numbers
    text,   // name: a string, which is a constant of the translation
    other
  };
  Kind kind = Kind::nil;
  double number = 0;
  std::optional<std::int64_t> integer{};  // a number that a double rounds
  bool boolean = false;
  std::string name{};  // of a builtin; for others what it is, for messages: "a table"
  std::shared_ptr<const Closure> function{};
  std::vector<Differentiation> derivatives{};  // of the function, one of the other
  DType dtype{};
  std::vector<std::int64_t> shape{};    // of an array
  std::vector<std::int64_t> strides{};  // of one that is not row-major
  std::int64_t origin = 0;              // the first element's position among those in memory
  ElementOrder order = ElementOrder::row_major;
  bool small = false;             // positions of elements have 32 bits
  std::vector<double> numbers{};  // of a table
  bool weak = false;              // an array made of numbers alone: its element is a number as they are
  bool whole = false;             // an argument of a function of elements: all of the array, and no element
  std::size_t fields = 0;         // how many fields of its path lead to this value
};

/// A Lua function with the values that it has captured. Values of all closures that take part in a translation are in
/// one list; those of this one begin at `first`, one for each entry of Function::free.
struct Closure {
  std::shared_ptr<const Chunk> chunk;  // keeps the tree alive
  const Function* function = nullptr;
  std::string file;  // the chunk's name
  std::size_t first = 0;
};

}  // namespace gpulua::luafn
