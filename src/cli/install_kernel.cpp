#include "src/cli/install_kernel.h"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "kernel_spec_text.h"
#include "src/base/error.h"

namespace gpulua {
namespace {

namespace fs = std::filesystem;

/// The text between the quotes of a JSON string.
std::string escaped(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    if (const auto code = static_cast<unsigned char>(c); code < 0x20)
      result += std::string("\\u00") + hex[code / 16] + hex[code % 16];
    else
      result += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  }
  return result;
}

void replace(std::string& text, std::string_view mark, std::string_view by) {
  text.replace(text.find(mark), mark.size(), by);
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error("[install-kernel] cannot write {}", path.string());
}

fs::path kernel_program() {
  const fs::path folder = fs::canonical("/proc/self/exe").parent_path();
  if (!fs::exists(folder / "gpulua-kernel"))
    throw Error(
        "[install-kernel] expected gpulua-kernel in {}, found none: install the package gpulua-kernel, or build gpulua "
        "with Debian's xeus-dev",
        folder.string());
  return folder / "gpulua-kernel";
}

fs::path jupyter_folder(const Options& options, const Environment& environment) {
  if (options.prefix) return fs::path(*options.prefix) / "share" / "jupyter";
  if (environment.jupyter.empty())
    throw Error("[install-kernel] expected a home folder, got none: name a folder with --prefix");
  return environment.jupyter;
}

}  // namespace

fs::path install_kernel(const Options& options, const Environment& environment) {
  std::string spec(kernel_spec_text("kernel.json.in"));
  replace(spec, "@program@", escaped(kernel_program().string()));
  std::string arguments;
  if (options.device) arguments += R"(, "--device", ")" + escaped(*options.device) + "\"";
  if (options.default_dtype)
    arguments += R"(, "--default-dtype", ")" + std::string(name(*options.default_dtype)) + "\"";
  replace(spec, "@arguments@", arguments);
  const fs::path folder = jupyter_folder(options, environment) / "kernels" / "gpulua";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("[install-kernel] cannot make the folder {}: {}", folder.string(), error.message());
  write_file(folder / "kernel.json", spec);
  write_file(folder / "logo-svg.svg", kernel_spec_text("kernel-logo.svg"));
  return folder / "kernel.json";
}

}  // namespace gpulua
