#include "src/device/cpu/front_end/name_expressions.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/raw_ostream.h>

#include "src/base/error.h"
#include "src/device/cpu/front_end/clang_invocation.h"
#include "src/device/shared/compile_hints.h"

namespace gpulua::cpu {
namespace {

constexpr const char* variable_prefix = "gpulua_name_expression_";
// Messages give this prefix and the name as the file of a use.
constexpr std::string_view file_prefix = "name expression ";

std::string variable(std::size_t index) {
  return variable_prefix + std::to_string(index);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string template_parameters(const clang::TemplateParameterList& parameters) {
  std::string result;
  for (const clang::NamedDecl* parameter : parameters)
    result += (result.empty() ? "" : ", ") + (parameter->getName().empty() ? "..." : parameter->getName().str());
  return "<" + result + ">";
}

void add_kernels(clang::ASTContext& ast, const clang::DeclContext& scope, std::string& list) {
  for (const clang::Decl* declaration : scope.decls()) {
    if (const auto* inner = llvm::dyn_cast<clang::DeclContext>(declaration);
        inner != nullptr && (inner->isNamespace() || llvm::isa<clang::LinkageSpecDecl>(inner)))
      add_kernels(ast, *inner, list);
    const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration);
    const auto* function =
        pattern != nullptr ? pattern->getTemplatedDecl() : llvm::dyn_cast<const clang::FunctionDecl>(declaration);
    if (function == nullptr || !function->hasAttr<clang::CUDAGlobalAttr>() || !function->isFirstDecl()) continue;
    list += (list.empty() ? "" : ", ") + qualified_name(ast, *function);
    if (pattern != nullptr) list += template_parameters(*pattern->getTemplateParameters());
  }
}

}  // namespace

std::string qualified_name(clang::ASTContext& ast, const clang::NamedDecl& declaration) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  declaration.getNameForDiagnostic(stream, ast.getPrintingPolicy(), /*Qualified=*/true);
  return stream.str();
}

std::string name_uses(const KernelSource& source) {
  std::string text;
  for (std::size_t i = 0; i < source.names.size(); ++i) {
    const std::string line = "#line 1 \"" + std::string(file_prefix) + escaped(source.names[i]) + "\"\n";
    // A cast that selects an overload is a value already.
    const bool cast = llvm::StringRef(source.names[i]).ltrim().starts_with("(") ||
                      llvm::StringRef(source.names[i]).ltrim().starts_with("static_cast");
    // On its own line: clang quotes the line if the instance does not compile.
    text += line + "constexpr auto " + variable(i) + (cast ? " =\n" : " = &\n") + line + source.names[i] + "\n;\n";
  }
  return text;
}

std::map<const clang::FunctionDecl*, std::vector<std::string>> read_names(const KernelSource& source,
                                                                          clang::ASTContext& ast) {
  std::map<const clang::FunctionDecl*, std::vector<std::string>> names;
  for (std::size_t i = 0; i < source.names.size(); ++i) {
    auto found = ast.getTranslationUnitDecl()->lookup(&ast.Idents.get(variable(i)));
    const auto* use = found.empty() ? nullptr : llvm::dyn_cast<clang::VarDecl>(found.front());
    // The variable's initialiser is the kernel's address.
    const clang::APValue* value = use == nullptr ? nullptr : use->evaluateValue();
    const clang::FunctionDecl* function = nullptr;
    if (value != nullptr && value->isLValue())
      if (const auto* base = value->getLValueBase().dyn_cast<const clang::ValueDecl*>())
        function = llvm::dyn_cast<clang::FunctionDecl>(base);
    if (function == nullptr || !function->hasAttr<clang::CUDAGlobalAttr>())
      throw_wrong_name("\"" + source.names[i] + "\": not a __global__ function", list_kernels(ast));
    names[function->getCanonicalDecl()].push_back(source.names[i]);
  }
  return names;
}

std::string list_kernels(clang::ASTContext& ast) {
  std::string list;
  add_kernels(ast, *ast.getTranslationUnitDecl(), list);
  return list;
}

void throw_wrong_name(const std::string& what, const std::string& kernels) {
  const std::string hints = compile_hints("error: " + what);
  throw Error(ErrorKind::compile, "[compile] cannot find the kernel {}{} source has {}{}", what,
              what.ends_with('?') ? " The" : "; the", kernels.empty() ? "none" : kernels,
              hints.empty() ? "" : "\n" + hints);
}

void MessagePrinter::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) {
  const bool is_note = level == clang::DiagnosticsEngine::Note;
  const clang::PresumedLoc place = diagnostic.getLocation().isValid()
                                       ? diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation())
                                       : clang::PresumedLoc();
  const llvm::StringRef file = place.isValid() ? place.getFilename() : "";
  // Declarations in our headers do not help a script's author, except those that are the host's: they say whose member
  // it is.
  if (is_note && file.starts_with(prelude_folder)) {
    llvm::SmallString<128> note;
    diagnostic.FormatDiagnostic(note);
    const bool is_container = file.ends_with("/vector") || file.ends_with("/string");
    const llvm::StringRef text = note;
    if (!is_container || !(text.contains("call to __host__ function") || text.ends_with("declared here"))) return;
  }
  if (!is_note) {
    in_name_ = file.starts_with(file_prefix);
    if (in_name_ && wrong_name_.empty()) {
      llvm::SmallString<128> message;
      diagnostic.FormatDiagnostic(message);
      // A message that names the variable says that its initialiser is a set of functions.
      const bool several = llvm::StringRef(message).contains(variable_prefix);
      wrong_name_ = "\"" + file.substr(file_prefix.size()).str() + "\": " +
                    (several ? "it may be any of several; a template needs its arguments" : message.str().str());
    }
  }
  if (!in_name_) return TextDiagnosticPrinter::HandleDiagnostic(level, diagnostic);
  DiagnosticConsumer::HandleDiagnostic(level, diagnostic);  // counts
}

}  // namespace gpulua::cpu
