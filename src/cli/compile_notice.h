#pragma once

#include <memory>
#include <string>

namespace gpulua {

/// Writes to the terminal on the standard error that a kernel of the line `where` is compiled, once that has taken a
/// second, and takes it back when the result is destroyed. Null where the standard error is not a terminal.
std::shared_ptr<void> notice_compilation(const std::string& where);

}  // namespace gpulua
