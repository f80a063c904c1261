#include "src/device/cpu/ir/stored_module.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/raw_ostream.h>

#include "src/base/error.h"
#include "src/device/cpu/ir/llvm_messages.h"

namespace gpulua::cpu {
namespace {

// Lists of named metadata: the kernels, and the symbols of the shared variables.
constexpr const char* kernel_list = "gpulua.kernels";
constexpr const char* shared_list = "gpulua.shared";

// The fields of a kernel: its symbol, its limit of threads, its names, its arguments and its choice of engine. Of an
// argument: its parameter, its offset, and an undefined value of its type, or none.

class FieldWriter {
 public:
  explicit FieldWriter(llvm::LLVMContext& context) : context_(context), builder_(context) {}

  llvm::Metadata* text(const std::string& value) { return llvm::MDString::get(context_, value); }
  llvm::Metadata* number(unsigned value) { return llvm::ConstantAsMetadata::get(builder_.getInt32(value)); }
  llvm::Metadata* type(llvm::Type* type) {
    return type == nullptr ? nullptr : llvm::ConstantAsMetadata::get(llvm::UndefValue::get(type));
  }
  llvm::MDNode* list(const std::vector<llvm::Metadata*>& items) { return llvm::MDNode::get(context_, items); }

 private:
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
};

llvm::MDNode* write_kernel(const SourceKernel& kernel, FieldWriter& writer) {
  std::vector<llvm::Metadata*> names, arguments;
  for (const std::string& name : kernel.names) names.push_back(writer.text(name));
  for (const AbiArgument& argument : kernel.arguments)
    arguments.push_back(
        writer.list({writer.number(argument.parameter), writer.number(argument.offset), writer.type(argument.type)}));
  return writer.list({writer.text(kernel.symbol), writer.number(kernel.max_threads), writer.list(names),
                      writer.list(arguments), writer.number(static_cast<unsigned>(kernel.choice))});
}

std::string read_text(const llvm::MDNode& fields, unsigned field) {
  return llvm::cast<llvm::MDString>(fields.getOperand(field))->getString().str();
}

unsigned read_number(const llvm::MDNode& fields, unsigned field) {
  return static_cast<unsigned>(llvm::mdconst::extract<llvm::ConstantInt>(fields.getOperand(field))->getZExtValue());
}

SourceKernel read_kernel(const llvm::MDNode& fields) {
  SourceKernel kernel;
  kernel.symbol = read_text(fields, 0);
  kernel.max_threads = read_number(fields, 1);
  const auto& names = *llvm::cast<llvm::MDNode>(fields.getOperand(2));
  for (unsigned i = 0; i < names.getNumOperands(); ++i) kernel.names.push_back(read_text(names, i));
  for (const llvm::MDOperand& operand : llvm::cast<llvm::MDNode>(fields.getOperand(3))->operands()) {
    const auto& argument = *llvm::cast<llvm::MDNode>(operand);
    const auto* type = llvm::cast_or_null<llvm::ConstantAsMetadata>(argument.getOperand(2).get());
    kernel.arguments.push_back(
        {read_number(argument, 0), read_number(argument, 1), type == nullptr ? nullptr : type->getType()});
  }
  kernel.choice = static_cast<EngineChoice>(read_number(fields, 4));
  return kernel;
}

}  // namespace

std::string store_module(const SourceModule& source) {
  llvm::Module& module = *source.module;
  FieldWriter writer(module.getContext());
  llvm::NamedMDNode* kernels = module.getOrInsertNamedMetadata(kernel_list);
  for (const SourceKernel& kernel : source.kernels) kernels->addOperand(write_kernel(kernel, writer));
  llvm::NamedMDNode* shared = module.getOrInsertNamedMetadata(shared_list);
  for (const std::string& symbol : source.shared) shared->addOperand(writer.list({writer.text(symbol)}));
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::WriteBitcodeToFile(module, stream);
  module.eraseNamedMetadata(kernels);
  module.eraseNamedMetadata(shared);
  return result;
}

SourceModule load_kernel(const std::string& stored, const std::string& symbol) {
  SourceModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  collect_errors(*result.context);
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::getLazyBitcodeModule({stored, "stored module"}, *result.context);
  if (!module)
    throw Error("[compile] LLVM cannot read the kernels that were left out: {}", llvm::toString(module.takeError()));
  llvm::cantFail((*module)->materializeMetadata());
  for (const llvm::MDNode* fields : (*module)->getNamedMetadata(kernel_list)->operands())
    if (read_text(*fields, 0) == symbol) result.kernels.push_back(read_kernel(*fields));
  std::vector<std::string> shared;
  for (const llvm::MDNode* fields : (*module)->getNamedMetadata(shared_list)->operands())
    shared.push_back(read_text(*fields, 0));
  (*module)->eraseNamedMetadata((*module)->getNamedMetadata(kernel_list));
  (*module)->eraseNamedMetadata((*module)->getNamedMetadata(shared_list));

  result.module = std::make_unique<llvm::Module>((*module)->getModuleIdentifier(), *result.context);
  result.module->setTargetTriple((*module)->getTargetTriple());
  result.module->setDataLayout((*module)->getDataLayout());
  result.module->getOrInsertFunction(symbol, (*module)->getFunction(symbol)->getFunctionType());
  if (llvm::Linker::linkModules(*result.module, std::move(*module), llvm::Linker::LinkOnlyNeeded))
    throw Error("[compile] LLVM cannot link the kernel '{}', which was left out", symbol);
  for (std::string& name : shared)
    if (result.module->getGlobalVariable(name, /*AllowInternal=*/true) != nullptr)
      result.shared.push_back(std::move(name));
  return result;
}

}  // namespace gpulua::cpu
