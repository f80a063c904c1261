#pragma once

// What a source has for the host beside its kernels: clang does not read the bodies of host functions, and skips the headers of
// host programs that are not there.

#include <clang/AST/ASTConsumer.h>
#include <clang/Lex/PPCallbacks.h>

#include <memory>

namespace gpulua::cpu {

/// Has clang leave out the bodies of functions that are the host's alone, with FrontendOptions::SkipFunctionBodies.
std::unique_ptr<clang::ASTConsumer> skip_host_bodies();

/// Has clang skip an #include of a header that is a host program's and not found.
std::unique_ptr<clang::PPCallbacks> skip_host_headers();

}  // namespace gpulua::cpu
