#pragma once

// Files that gzip has compressed. zlib is opened when the first one is read.

#include <span>
#include <string>

namespace gpulua {

/// Whether the bytes begin as a file of gzip does.
bool is_gzip(std::span<const char> bytes);

/// What a file, called `file` in errors, was before gzip; parts that were compressed one after the other are one text.
/// Throws Error for a damaged file, and with the package to install where zlib is not found.
std::string gunzip(std::span<const char> bytes, const std::string& file);

}  // namespace gpulua
