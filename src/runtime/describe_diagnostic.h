#pragma once

// Diagnostics of a device's checker, as messages about the script.

#include <string>

#include "src/device/diagnostic.h"
#include "src/runtime/memory_account.h"

namespace gpulua {

/// The message of the diagnostic. For an access to a buffer of the account, it names the script's line that made the
/// array.
std::string describe(const Diagnostic& diagnostic, const MemoryAccount& account);

}  // namespace gpulua
