#pragma once

#include "bindings/kernels/kernel_source.h"

namespace gpulua {

/// Reads the arguments of gpu.link: at index `parts` a list of CUDA C++ sources, sources with options of their own,
/// {source, defines = ...}, and compiled code as bytes or as the path of a file; at `options`, nil or
/// {options={...}, defines={N=4}, headers={["my.h"]=text}, include={dir}, device=} for all sources.
SourceRequest check_link_request(lua_State* L, int parts, int options);

}  // namespace gpulua
