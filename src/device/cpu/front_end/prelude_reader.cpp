#include "src/device/cpu/front_end/prelude_reader.h"

#include <clang/AST/ASTContext.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Serialization/ASTReader.h>

#include <algorithm>
#include <unordered_map>

namespace gpulua::cpu {
namespace {

class PreludeReader : public clang::ASTReader {
 public:
  // Validation is off: the prelude was made for another processor.
  explicit PreludeReader(clang::CompilerInstance& compiler)
      : ASTReader(compiler.getPreprocessor(), compiler.getModuleCache(), &compiler.getASTContext(),
                  compiler.getPCHContainerReader(), {}, "", clang::DisableValidationForModuleKind::PCH) {}

 private:
  /// Device functions of the prelude call no host functions. clang would read all of them to check that.
  void ReadDeclsToCheckForDeferredDiags(llvm::SmallSetVector<clang::Decl*, 4>&) override {}
};

/// The text after each macro's name: "(x) x+1" for a macro with parameters.
std::unordered_map<std::string_view, std::string_view> read_macros(std::string_view text) {
  constexpr std::string_view define = "#define ";
  std::unordered_map<std::string_view, std::string_view> macros;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(define)) continue;
    line.remove_prefix(define.size());
    std::size_t end = std::min(line.find_first_of(" ("), line.size());
    macros[line.substr(0, end)] = line.substr(end);
  }
  return macros;
}

/// The lines that turn the macros `before`, a text of `#define`s, into `after`.
std::string macro_changes(std::string_view before, std::string_view after) {
  auto old_macros = read_macros(before), new_macros = read_macros(after);
  std::string text;
  for (const auto& [name, value] : old_macros) {
    auto found = new_macros.find(name);
    if (found == new_macros.end() || found->second != value) text += "#undef " + std::string(name) + "\n";
  }
  for (const auto& [name, value] : new_macros) {
    auto found = old_macros.find(name);
    if (found == old_macros.end() || found->second != value)
      text += "#define " + std::string(name) + std::string(value) + "\n";
  }
  return text;
}

}  // namespace

bool read_prelude(clang::CompilerInstance& compiler, const PrecompiledPrelude& prelude) {
  auto reader = llvm::makeIntrusiveRefCnt<PreludeReader>(compiler);
  compiler.getASTContext().setExternalSource(reader);
  compiler.setASTReader(reader);
  if (reader->ReadAST(precompiled_prelude_file, clang::serialization::MK_PCH, {}, clang::ASTReader::ARR_None) !=
      clang::ASTReader::Success)
    return false;
  // The prelude has clang's predefined macros, but for another processor.
  clang::Preprocessor& preprocessor = compiler.getPreprocessor();
  preprocessor.setPredefines(macro_changes(prelude.macros, preprocessor.getPredefines()));
  return true;
}

}  // namespace gpulua::cpu
