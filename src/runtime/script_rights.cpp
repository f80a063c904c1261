#include "src/runtime/script_rights.h"

#include "src/base/error.h"
#include "src/base/sha256.h"

namespace gpulua {

void ScriptRights::check_source(const char* op, bool device_checks, const std::string* text) const {
  if (trusted || (checked_kernels && device_checks)) return;
  const std::string digest = text != nullptr ? sha256(*text) : "";
  if (known_sources.contains(digest)) return;
  std::string message =
      std::string("[") + op + "] expected array functions, or a kernel that the host program has allowed, got ";
  message += text != nullptr ? "source with the SHA-256 digest " + digest : "device code";
  if (checked_kernels)
    message += "; the sandbox runs kernels of scripts on the cpu device only, which checks them";
  else
    message += std::string("; the program allows ") +
               (text != nullptr ? "this source by gpulua_allow_kernel, and " : "") +
               "all kernels, checked and on the cpu device, by the flag GPULUA_KERNELS";
  throw Error(message);
}

void Spending::refuse(const char* op, const char* what, std::uint64_t most) {
  throw Error(
      ErrorKind::budget,
      "[{0}] expected at most {1} {2} in a call of the host program: its budget is spent; the program sets it by "
      "{2} of gpulua_options, 0 for no limit",
      op, most, what);
}

}  // namespace gpulua
