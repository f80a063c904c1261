#include "src/device/cpu/ir/llvm_messages.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

#include "src/base/error.h"

namespace gpulua::cpu {
namespace {

class Errors : public llvm::DiagnosticHandler {
 public:
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(text_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << '\n';
    info.print(printer);
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

void collect_errors(llvm::LLVMContext& context) {
  context.setDiagnosticHandler(std::make_unique<Errors>());
}

void throw_errors(llvm::LLVMContext& context) {
  const auto* errors = static_cast<const Errors*>(context.getDiagHandlerPtr());
  if (!errors->text().empty())
    throw Error(ErrorKind::compile, "[compile] the kernel source does not compile:{}", errors->text());
}

}  // namespace gpulua::cpu
