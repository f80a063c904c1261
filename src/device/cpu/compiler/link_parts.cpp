#include "src/device/cpu/compiler/link_parts.h"

#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/device/cpu/front_end/compile_options.h"
#include "src/device/cpu/front_end/front_end.h"
#include "src/device/cpu/ir/llvm_messages.h"

namespace gpulua::cpu {
namespace {

/// True for symbols of the prelude and of clang: each part has its own copy of them.
bool is_of_prelude(const llvm::GlobalValue& global) {
  return global.getName().contains("gpulua_") || global.getName().starts_with("llvm.");
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

/// What the part shows to others and takes of them.
std::vector<LinkSymbol> symbols_of(const SourceModule& source) {
  std::vector<LinkSymbol> symbols;
  const llvm::Module& module = *source.module;
  for (const llvm::GlobalObject& object : module.global_objects()) {
    std::string name = object.getName().str();
    if (object.hasLocalLinkage() || is_of_prelude(object) || contains(source.shared, name)) continue;
    LinkSymbol symbol{
        .name = std::move(name), .is_defined = !object.isDeclaration(), .is_shared = object.isWeakForLinker()};
    if (const auto* function = llvm::dyn_cast<llvm::Function>(&object)) {
      llvm::raw_string_ostream stream(symbol.type);
      stream << "a function of the type ";
      function->getFunctionType()->print(stream);
    } else if (object.getValueType()->isSized()) {
      symbol.bytes = module.getDataLayout().getTypeAllocSize(object.getValueType()).getFixedValue();
    }
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

/// Renames the part's `static` functions and variables, so that no other part has their names. LLVM would rename one of
/// two equal names itself, and the lists of the module's kernels and variables would keep the old name.
void name_own(SourceModule& source, std::size_t number) {
  const std::string ending = ".part" + std::to_string(number);
  for (llvm::GlobalObject& object : source.module->global_objects()) {
    if (is_of_prelude(object) && object.hasExternalLinkage() && !object.isDeclaration())
      object.setLinkage(llvm::GlobalValue::WeakODRLinkage);
    // clang shows static kernels and variables under names that end so.
    const bool is_shown = object.getName().contains("__static__") || object.getName().contains("__intern__");
    if ((!object.hasLocalLinkage() && !is_shown) || is_of_prelude(object)) continue;
    const std::string before = object.getName().str();
    object.setName(before + ending);
    object.setComdat(nullptr);  // a comdat keeps its old name, and LLVM links one object of each name
    const std::string after = object.getName().str();
    for (SourceKernel& kernel : source.kernels)
      if (kernel.symbol == before) kernel.symbol = after;
    for (GlobalEntry& global : source.globals)
      if (global.symbol == before) global.symbol = after;
    std::ranges::replace(source.shared, before, after);
    std::ranges::replace(source.constants, before, after);
  }
}

template <class Entry>
void append(std::vector<Entry>& entries, std::vector<Entry>&& more) {
  for (Entry& entry : more) {
    // An instance of a template may be in several parts.
    const auto known = std::ranges::find(entries, entry.symbol, &Entry::symbol);
    if (known == entries.end()) entries.push_back(std::move(entry));
  }
}

void append(std::vector<std::string>& symbols, std::vector<std::string>&& more) {
  for (std::string& symbol : more)
    if (!contains(symbols, symbol)) symbols.push_back(std::move(symbol));
}

void join(SourceModule& whole, SourceModule&& part) {
  append(whole.kernels, std::move(part.kernels));
  append(whole.globals, std::move(part.globals));
  append(whole.shared, std::move(part.shared));
  append(whole.constants, std::move(part.constants));
  const bool failed = llvm::Linker::linkModules(*whole.module, std::move(part.module));
  throw_errors(*whole.context);
  if (failed) throw Error(ErrorKind::compile, "[link] LLVM cannot link the parts");
}

}  // namespace

SourceModule link_parts(const KernelSource& whole, const CompileTarget& target) {
  std::vector<SourceModule> modules;
  std::vector<LinkPart> parts;
  for (std::size_t i = 0; i < whole.parts.size(); ++i) {
    const KernelSource& part = whole.parts[i];
    const std::string name = part_name(whole, i);
    if (!part.image.empty())
      throw Error(ErrorKind::unavailable,
                  "[link] expected CUDA C++ sources on the cpu device, got compiled code as {}, which needs a cuda "
                  "device",
                  name);
    const CompileOptions options = parse_options(part.options);
    modules.push_back(i == 0 ? parse_source(part, options, target)
                             : parse_part(part, options, target, modules.front().context));
    parts.push_back({name, symbols_of(modules.back())});
  }
  check_link(parts);
  for (std::size_t i = 0; i < modules.size(); ++i) name_own(modules[i], i + 1);
  SourceModule result = std::move(modules.front());
  for (std::size_t i = 1; i < modules.size(); ++i) join(result, std::move(modules[i]));
  result.parts = std::move(parts);
  return result;
}

}  // namespace gpulua::cpu
