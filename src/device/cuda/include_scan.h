#pragma once

// The files on disk that compiling a source may read, so that the kernel cache's key can cover what they contain.

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/device/kernel.h"

namespace gpulua::cuda {

/// Every file outside `toolkit_dirs` that an #include of the source could mean, followed through those files: a
/// superset, as conditions are not evaluated and every directory that has the name counts. None when the text alone
/// does not tell (a macro as the file's name, __has_include, a precompiled header, a user's file that hides one of the
/// toolkit's): such a compilation cannot be cached.
std::optional<std::vector<std::filesystem::path>> find_included_files(
    const KernelSource& source, std::span<const std::filesystem::path> toolkit_dirs);

/// Whether the source has a header of that name itself, as text or in a directory that it names.
bool has_own_header(const KernelSource& source, std::string_view name);

}  // namespace gpulua::cuda
