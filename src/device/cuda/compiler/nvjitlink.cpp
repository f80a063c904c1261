#include "src/device/cuda/compiler/nvjitlink.h"

#include <memory>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua::cuda {
namespace {

/// Finds `nvJitLink<name>`: under that name since CUDA 13, with a version before.
template <class Function>
void find(const DynamicLibrary& library, const std::filesystem::path& file, const std::string& name,
          Function*& function) {
  void* address = library.symbol(("nvJitLink" + name).c_str());
  if (address == nullptr) address = library.symbol(("__nvJitLink" + name + "_12_0").c_str());
  if (address == nullptr)
    throw Error(ErrorKind::unavailable, "[link] expected nvJitLink of CUDA 12 or later, got {}, which has no {}",
                file.string(), name);
  function = reinterpret_cast<Function*>(address);
}

}  // namespace

LinkInputKind link_input_kind(std::string_view image) {
  using namespace std::string_view_literals;
  constexpr std::size_t machine_at = 18;  // e_machine
  if (image.starts_with("\x7f\x45LF"sv) && image.size() > machine_at + 1)
    return image.substr(machine_at, 2) == "\xbe\0"sv ? LinkInputKind::cubin : LinkInputKind::object;
  if (image.starts_with("\x50\xed\x55\xba"sv)) return LinkInputKind::fatbin;
  if (image.starts_with("\xed\x43N\x7f"sv)) return LinkInputKind::lto_ir;
  if (image.starts_with("!<arch>\n"sv)) return LinkInputKind::library;
  if (image.find(".version") != image.npos) return LinkInputKind::ptx;
  throw Error("expected PTX, LTO-IR, a cubin, a fatbin, an object file or a library, got something else of {} bytes",
              image.size());
}

NvJitLink::NvJitLink(const std::filesystem::path& library) {
  std::string why;
  const DynamicLibrary opened = DynamicLibrary::open(library, why);
  if (!opened) throw Error(ErrorKind::unavailable, "[link] nvJitLink could not be loaded: {}", why);
  find(opened, library, "Create", create_);
  find(opened, library, "Destroy", destroy_);
  find(opened, library, "AddData", add_data_);
  find(opened, library, "Complete", complete_);
  find(opened, library, "GetLinkedCubinSize", cubin_size_);
  find(opened, library, "GetLinkedCubin", cubin_);
  find(opened, library, "GetErrorLogSize", log_size_);
  find(opened, library, "GetErrorLog", log_);
}

NvJitLink::Result NvJitLink::link(std::span<const Input> inputs, std::span<const std::string> options) const {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  Handle created = nullptr;
  if (const int failure = create_(&created, static_cast<std::uint32_t>(texts.size()), texts.data()); failure != 0)
    throw Error(ErrorKind::compile, "[link] nvJitLink refuses its options, with status {}", failure);
  const auto destroy = [this](Handle handle) { destroy_(&handle); };
  const std::unique_ptr<Opaque, decltype(destroy)> handle(created, destroy);

  Result result;
  result.success = true;
  for (const Input& input : inputs)
    result.success = result.success && add_data_(handle.get(), input.kind, input.image.data(), input.image.size(),
                                                 input.name.c_str()) == 0;
  result.success = result.success && complete_(handle.get()) == 0;
  std::size_t bytes = 0;
  if (log_size_(handle.get(), &bytes) == 0 && bytes > 0) {
    result.log.resize(bytes);
    log_(handle.get(), result.log.data());
    while (result.log.ends_with('\0') || result.log.ends_with('\n')) result.log.pop_back();
  }
  // It has told of errors and said that all is well.
  result.success = result.success && result.log.find("error ") == std::string::npos;
  if (!result.success) return result;
  result.success = cubin_size_(handle.get(), &bytes) == 0 && bytes > 0;
  result.cubin.resize(result.success ? bytes : 0);
  result.success = result.success && cubin_(handle.get(), result.cubin.data()) == 0;
  return result;
}

}  // namespace gpulua::cuda
