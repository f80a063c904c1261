#pragma once

// The front end's output: the user's source as unoptimised LLVM IR, and what the AST says about its kernels and
// globals.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "src/device/cpu/abi/compiler_plugin.h"
#include "src/device/shared/link_symbols.h"

namespace gpulua::cpu {

/// How a parameter of a kernel's IR function is loaded from the argument pointers of a launch.
struct AbiArgument {
  unsigned parameter;  // index among the kernel's C++ parameters
  unsigned offset;     // bytes into that parameter's value
  llvm::Type* type;    // what to load there; null: pass the address itself, as a byval pointer
};

/// The engine that runs a kernel: the fastest that accepts it, or one of them alone.
enum class EngineChoice { fastest, scalar, simd };

struct SourceKernel {
  std::string symbol;
  std::vector<std::string> names;  // as the user writes them; at least one
  Signature signature;
  std::vector<AbiArgument> arguments;
  unsigned max_threads = 1024;
  EngineChoice choice = EngineChoice::fastest;         // of the options of its source
  std::string engine = {}, warning = {}, limits = {};  // KernelEntry's, once build_kernels() has chosen
};

struct SourceModule {
  std::shared_ptr<llvm::LLVMContext> context;  // outlives `module`
  std::unique_ptr<llvm::Module> module;
  std::vector<SourceKernel> kernels;
  std::vector<GlobalEntry> globals;
  std::vector<std::string> shared;     // symbols of the `__shared__` variables
  std::vector<std::string> constants;  // and of the `__constant__` ones
  bool whole_warps = false;            // KernelSource::whole_warps
  bool lua_function = false;           // KernelSource::lua_function
  bool own = false;                    // KernelSource::own
  CodeChoice code = {};
  std::vector<LinkPart> parts;                 // of a module that is linked of several: what they define and use
  std::vector<llvm::GlobalVariable*> exports;  // beside `globals`, for code that is left out
  std::vector<std::pair<std::string, llvm::Constant*>> places;  // of another module's variables
  bool checked = false;  // has calls of the checker (check/instrument.h): for the scalar engine alone
};

}  // namespace gpulua::cpu
