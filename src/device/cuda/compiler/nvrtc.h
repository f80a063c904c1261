#pragma once

// NVRTC, NVIDIA's run-time compiler of CUDA C++, loaded from the file given: nothing links against it.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nvrtc.h>

namespace gpulua::cuda {

// X(member, exported name)
#define GPULUA_NVRTC_FUNCTIONS(X)                \
  X(get_error_string, nvrtcGetErrorString)       \
  X(version, nvrtcVersion)                       \
  X(create_program, nvrtcCreateProgram)          \
  X(destroy_program, nvrtcDestroyProgram)        \
  X(compile_program, nvrtcCompileProgram)        \
  X(get_cubin_size, nvrtcGetCUBINSize)           \
  X(get_cubin, nvrtcGetCUBIN)                    \
  X(get_ptx_size, nvrtcGetPTXSize)               \
  X(get_ptx, nvrtcGetPTX)                        \
  X(get_lto_size, nvrtcGetLTOIRSize)             \
  X(get_lto, nvrtcGetLTOIR)                      \
  X(get_log_size, nvrtcGetProgramLogSize)        \
  X(get_log, nvrtcGetProgramLog)                 \
  X(add_name_expression, nvrtcAddNameExpression) \
  X(get_lowered_name, nvrtcGetLoweredName)

class Nvrtc {
 public:
  /// Throws ErrorKind::unavailable when the file cannot be loaded.
  explicit Nvrtc(const std::filesystem::path& library);

  /// 13000 for CUDA 13.0.
  int version() const { return version_; }

  struct Program {
    std::string text;
    std::string name;                                          // of the file, for messages
    std::vector<std::pair<std::string, std::string>> headers;  // name, text
    std::vector<std::string> options;
    std::vector<std::string> name_expressions;
  };
  struct Result {
    bool success = false;
    std::string log;
    std::string cubin;  // empty for a virtual architecture
    std::string ptx;
    std::string lto_ir;                      // with -dlto, in place of the two
    std::vector<std::string> lowered_names;  // of the name expressions, in their order
  };
  /// A program that does not compile gives a result without success. Other failures throw.
  Result compile(const Program& program) const;

 private:
  struct Functions {
#define GPULUA_NVRTC_MEMBER(member, function) decltype(&::function) member = nullptr;
    GPULUA_NVRTC_FUNCTIONS(GPULUA_NVRTC_MEMBER)
#undef GPULUA_NVRTC_MEMBER
  };

  void check(nvrtcResult result) const;
  std::string read(nvrtcProgram program, decltype(&::nvrtcGetPTXSize) size, decltype(&::nvrtcGetPTX) bytes) const;
  std::string read_lto_ir(nvrtcProgram program) const;
  std::string read_text(nvrtcProgram program, decltype(&::nvrtcGetPTXSize) size, decltype(&::nvrtcGetPTX) bytes) const;

  Functions call_;
  int version_ = 0;
};

}  // namespace gpulua::cuda
