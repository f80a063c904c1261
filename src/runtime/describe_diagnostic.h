#pragma once

// What a device's checker has found, in the words of the script.

#include <string>

#include "src/device/diagnostic.h"
#include "src/runtime/memory_account.h"

namespace gpulua {

/// The diagnostic's message, with the line that made the array where one of the account's buffers is meant.
std::string describe(const Diagnostic& diagnostic, const MemoryAccount& account);

}  // namespace gpulua
