#include "src/device/cuda/compiler/nvrtc.h"

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua::cuda {

Nvrtc::Nvrtc(const std::filesystem::path& library) {
  std::string why;
  const DynamicLibrary opened = DynamicLibrary::open(library, why);
  if (!opened) throw Error(ErrorKind::unavailable, "[compile] NVRTC could not be loaded: {}", why);
#define GPULUA_NVRTC_LOAD(member, function)                                                                       \
  call_.member = reinterpret_cast<decltype(call_.member)>(opened.symbol(#function));                              \
  if (call_.member == nullptr)                                                                                    \
    throw Error(ErrorKind::unavailable, "[compile] expected NVRTC of CUDA 12 or later, got " + library.string() + \
                                            ", which has no " #function);
  GPULUA_NVRTC_FUNCTIONS(GPULUA_NVRTC_LOAD)
#undef GPULUA_NVRTC_LOAD
  int major = 0;
  int minor = 0;
  check(call_.version(&major, &minor));
  version_ = 1000 * major + 10 * minor;
}

Nvrtc::Result Nvrtc::compile(const Program& program) const {
  std::vector<const char*> header_texts;
  std::vector<const char*> header_names;
  for (const auto& [name, text] : program.headers) {
    header_names.push_back(name.c_str());
    header_texts.push_back(text.c_str());
  }
  std::vector<const char*> options;
  for (const std::string& option : program.options) options.push_back(option.c_str());

  struct Handle {
    const Functions& call;
    nvrtcProgram program = nullptr;
    ~Handle() {
      if (program != nullptr) call.destroy_program(&program);
    }
  } handle{call_};
  check(call_.create_program(&handle.program, program.text.c_str(), program.name.c_str(),
                             static_cast<int>(header_texts.size()), header_texts.data(), header_names.data()));
  for (const std::string& expression : program.name_expressions)
    check(call_.add_name_expression(handle.program, expression.c_str()));

  const nvrtcResult compiled = call_.compile_program(handle.program, static_cast<int>(options.size()), options.data());
  Result result;
  result.success = compiled == NVRTC_SUCCESS;
  result.log = read_text(handle.program, call_.get_log_size, call_.get_log);
  if (!result.success && result.log.find_first_not_of('\n') == std::string::npos) check(compiled);
  if (!result.success) return result;

  result.ptx = read_text(handle.program, call_.get_ptx_size, call_.get_ptx);
  result.cubin = read(handle.program, call_.get_cubin_size, call_.get_cubin);
  result.lto_ir = read_lto_ir(handle.program);
  for (const std::string& expression : program.name_expressions) {
    const char* lowered = nullptr;
    check(call_.get_lowered_name(handle.program, expression.c_str(), &lowered));
    result.lowered_names.emplace_back(lowered);
  }
  return result;
}

void Nvrtc::check(nvrtcResult result) const {
  if (result != NVRTC_SUCCESS)
    throw Error(ErrorKind::compile, "[compile] NVRTC failed: {}", call_.get_error_string(result));
}

std::string Nvrtc::read(nvrtcProgram program, decltype(&::nvrtcGetPTXSize) size, decltype(&::nvrtcGetPTX) bytes) const {
  std::size_t count = 0;
  check(size(program, &count));
  std::string result(count, '\0');
  if (count > 0) check(bytes(program, result.data()));
  return result;
}

std::string Nvrtc::read_lto_ir(nvrtcProgram program) const {
  std::size_t count = 0;
  if (call_.get_lto_size(program, &count) != NVRTC_SUCCESS) return {};  // compiled without -dlto
  return read(program, call_.get_lto_size, call_.get_lto);
}

std::string Nvrtc::read_text(nvrtcProgram program, decltype(&::nvrtcGetPTXSize) size,
                             decltype(&::nvrtcGetPTX) bytes) const {
  std::string text = read(program, size, bytes);
  while (text.ends_with('\0')) text.pop_back();
  return text;
}

}  // namespace gpulua::cuda
