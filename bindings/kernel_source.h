#pragma once

#include <lua.hpp>
#include <memory>
#include <string_view>

#include "src/device/kernel.h"
#include "src/runtime/context.h"

namespace gpulua {

/// What a script wants compiled, and for which device.
struct SourceRequest {
  KernelSource source;
  std::shared_ptr<OpenDevice> device;
};

/// Throws Error for the name of a file of another kind than function `op` takes: source, or with `takes_images` PTX and
/// what else is compiled already. The message says how the file is read.
void refuse_file_name(std::string_view text, const char* op, bool takes_images);

/// Reads gpu.module's arguments: CUDA C++ text at index `source`; at `options`, nil or
/// {options={...}, defines={N=4}, headers={["my.h"]=text}, include={dir}, names={"axpy<float>"}, device=}.
SourceRequest check_source(lua_State* L, int source, int options, const char* op);

}  // namespace gpulua
