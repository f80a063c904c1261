#pragma once

#include <lua.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "src/device/kernel.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A script's source to compile, and the device.
struct SourceRequest {
  KernelSource source;
  std::shared_ptr<OpenDevice> device;
};

/// Throws Error for a file name of the wrong kind for function `op`: `takes_images` is true for compiled code (PTX,
/// cubins, fatbins), false for source. The message names the function that reads the file.
void refuse_file_name(std::string_view text, const char* op, bool takes_images);

/// The bytes of a file of compiled code. Throws ErrorKind::unavailable where there is none.
std::string read_compiled_file(const char* op, const std::string& path);

/// Throws Error for function `op`, which takes device code, where the scripts may bring none:
/// ScriptRights::check_source.
void check_source_rights(lua_State* L, const char* op, const std::string* text = nullptr);

/// Reads the arguments of gpu.module: CUDA C++ text at index `source`; at `options`, nil or
/// {options={...}, defines={N=4}, headers={["my.h"]=text}, include={dir}, names={"axpy<float>"},
/// name="saxpy.cu", device=}.
/// `is_library`: the source is the library's own, whatever the rights of scripts.
SourceRequest check_source(lua_State* L, int source, int options, const char* op, bool is_library = false);

}  // namespace gpulua
