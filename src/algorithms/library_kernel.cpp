#include "src/algorithms/library_kernel.h"

#include <sstream>

#include "kernel_text.h"
#include "src/ops/user_function.h"
#include "src/runtime/context.h"

namespace gpulua {

LibraryKernel::LibraryKernel(OpenDevice& device, std::initializer_list<std::string_view> headers, std::string function,
                             const UserFunction* user)
    : device_(device), headers_(headers), function_(std::move(function)), user_(user), uses_(device) {}

LibraryKernel& LibraryKernel::add_value(std::string_view type, const void* value, std::size_t bytes) {
  types_.append(type).push_back('\n');
  arguments_.add(value, bytes);
  return *this;
}

const IndexFault* LibraryKernel::add_fault(const std::string& op) {
  Host* const host = device_.context().host();
  const Origin origin = host ? host->origin() : Origin{};
  const IndexFaults::Watch watch = device_.index_faults().watch(device_.stream());
  uses_.add_check(watch.check);
  add("gpulua_index_fault*", watch.word);
  add("const void*", origin.chunk).add(std::int64_t{origin.line});
  add("const void*", device_.index_faults().lasting(op));
  return watch.word;
}

std::string LibraryKernel::name() const {
  return function_.substr(0, function_.find('<')) + "_kernel";
}

std::string LibraryKernel::text(unsigned threads, unsigned resident) const {
  std::string text = user_ ? user_->includes : "";
  for (const char* header : {"elements.cuh", "arithmetic.cuh", "indexing.cuh"}) text += kernel_text(header);
  for (std::string_view header : headers_) text += kernel_text(header);
  if (user_) text += user_->text;
  std::string parameters, names;
  std::istringstream types(types_);
  int count = 0;
  for (std::string type; std::getline(types, type); ++count) {
    const std::string comma = count > 0 ? ", " : "", name = "a" + std::to_string(count);
    parameters += comma + type + " " + name;
    names += comma + name;
  }
  const std::string bounds = std::to_string(threads) + (resident > 0 ? ", " + std::to_string(resident) : "");
  return text + "__global__ void __launch_bounds__(" + bounds + ") " + name() + "(" + parameters +
         ") {\n  " + function_ + "(" + names + ");\n}\n";
}

void LibraryKernel::launch(std::int64_t blocks, unsigned threads, unsigned resident, std::size_t shared) {
  if (blocks == 0) return;
  LaunchConfig config;
  config.grid = grid_of(blocks);
  config.block.x = threads;
  config.shared_bytes = shared;
  std::string key = function_ + "(" + types_ + ")" + std::to_string(threads) + "," + std::to_string(resident);
  for (const std::string_view header : headers_) key.append(",").append(header);
  if (user_) key.append(",").append(user_->id);
  std::shared_ptr<Kernel> kernel = device_.find_kernel(key);
  if (!kernel) kernel = device_.compile_kernel(key, text(threads, resident));
  check_launch(device_.info(), *kernel, config);
  device_.launch(kernel, config, arguments_.pointers(*kernel).data(), device_.stream());
}

std::string device_type(DType dtype) {
  return std::string(info(dtype).device);
}
std::string read_pointer(DType dtype) {
  return "const " + device_type(dtype) + "*";
}
std::string write_pointer(DType dtype) {
  return device_type(dtype) + "*";
}

}  // namespace gpulua
