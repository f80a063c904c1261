#pragma once

// Finds the files on disk that the compilation of a source may read: their contents are part of the kernel cache's key.

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/device/kernel.h"

namespace gpulua::cuda {

/// Every file outside `toolkit_dirs` that an #include of the source, or of such a file, may read: a superset, as
/// conditions are not evaluated and every directory that has the name counts. Nothing when the text alone does not tell
/// (a macro as the file's name, __has_include, a precompiled header, a user's file that hides one of the toolkit's):
/// such a compilation cannot be cached.
std::optional<std::vector<std::filesystem::path>> find_included_files(
    const KernelSource& source, std::span<const std::filesystem::path> toolkit_dirs);

/// True when the source brings a header of that name, as text or in one of its directories.
bool has_own_header(const KernelSource& source, std::string_view name);

}  // namespace gpulua::cuda
