#pragma once

// From a Lua function and the types of its arguments to CUDA C++.

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/luafn/host_value.h"
#include "src/luafn/uniform.h"

namespace gpulua::luafn {

/// A parameter of the translated function.
struct Parameter {
  enum class Kind {
    element,  // an element of the array that is argument `index`
    uniform,  // a number that the host computes
    array     // all elements of the array that is entry `index` of the list of values
  };
  Kind kind;
  DType dtype;
  std::string name;
  std::size_t index = 0;
  const Uniform* uniform = nullptr;
  bool written = false;  // an array: the function assigns to its elements
  std::string place{};   // a uniform: where the function uses it first, "[op] script.lua:12: "
};

/// A translated function.
struct Code {
  std::vector<Parameter> parameters;
  std::vector<DType> results;                // with derivatives, each result and its parts: TranslationRequest::levels
  std::vector<bool> varies{};                // for each of them; false: a derivative that is 0, which is not set
  std::string body;                          // statements that set result1, result2, ...
  std::shared_ptr<const Uniforms> uniforms;  // keeps the uniforms of the parameters
  // Entries of the list of values whose numbers are constants of the text, as sizes of gpu.shared are.
  std::set<std::size_t> constants;
};

struct TranslationRequest {
  std::string op;                           // for messages: "vectorize"
  std::shared_ptr<const Closure> function;  // its captured values are in `values`
  std::span<const HostValue> values;        // the arguments, and from Closure::first on the captured values
  bool contract = true;                     // products and sums may be rounded as one
  bool kernel = false;                      // arguments that are arrays are whole arrays, which the function may write
  std::vector<DType> results{};             // of a function of elements: what its results are converted to; empty: none
  bool small_grid = false;                  // a kernel's grid has at most 2^30 threads along each axis
  bool check_indices = false;               // an index outside of its axis ends the kernel
  // Of a function of elements: the arguments by which it is differentiated, from 0, and of the derivatives of these.
  // After one level a result is itself and its derivatives; after the next one these, and all of their derivatives by
  // its first argument, then by its second.
  std::vector<std::vector<std::size_t>> levels{};
  DType real = DType::float32;  // the script's default dtype of real numbers
  bool constants = false;       // captured numbers are constants of the text
  bool elementwise = false;     // a script's function of elements: any of its arguments can be an array
};

/// The name of a result's variable in Code::body; `index` counts from 0.
std::string result_name(std::size_t index);

/// The number that the host computes for a parameter. Throws Error, with its place and text, when it does not fit.
HostScalar argument_value(const Parameter& parameter, std::span<const HostValue> values);
/// Writes that number as the parameter's type in registers.
void write_argument(const Parameter& parameter, std::span<const HostValue> values, void* to);

/// Translates a function. In a function of elements, an argument that is an array stands for one of its elements; a
/// kernel is the work of one thread. Throws Error "[op] script.lua:12: ..." for what a device cannot do.
Code translate(const TranslationRequest& request);

}  // namespace gpulua::luafn
