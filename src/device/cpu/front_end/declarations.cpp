#include "src/device/cpu/front_end/declarations.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Mangle.h>
#include <clang/CodeGen/CGFunctionInfo.h>
#include <clang/CodeGen/CodeGenABITypes.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/Support/MathExtras.h>

#include "src/device/cpu/front_end/name_expressions.h"

namespace gpulua::cpu {
namespace {

/// The type as the Itanium demangler writes it: the CUDA device gets the same text from NVRTC's names.
std::string demangled_type(clang::MangleContext& mangler, clang::QualType type) {
  std::string mangled;
  llvm::raw_string_ostream stream(mangled);
  mangler.mangleCanonicalTypeName(type, stream);
  std::string text = llvm::demangle(stream.str());
  constexpr std::string_view prefix = "typeinfo name for ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// An enumeration is passed as its underlying integer.
void describe_enumeration(clang::ASTContext& ast, clang::QualType integer, Parameter& parameter) {
  if (integer->isBooleanType()) {
    parameter.dtype = DType::boolean;
  } else {
    constexpr DType with_sign[] = {DType::int8, DType::int16, DType::int32, DType::int64};
    constexpr DType without[] = {DType::uint8, DType::uint16, DType::uint32, DType::uint64};
    const unsigned index = llvm::Log2_64(static_cast<std::uint64_t>(ast.getTypeSizeInChars(integer).getQuantity()));
    parameter.dtype = (integer->isSignedIntegerType() ? with_sign : without)[index];
  }
  parameter.kind = ParameterKind::scalar;
}

Signature read_signature(clang::ASTContext& ast, clang::MangleContext& mangler, const clang::FunctionDecl& function) {
  std::string type = demangled_type(mangler, ast.getCanonicalType(function.getType()));
  std::size_t open = type.find('(');  // a kernel returns void, so the first parenthesis opens its parameters
  std::string parameters = type.substr(open + 1, type.rfind(')') - open - 1);
  std::vector<std::uint32_t> sizes;
  for (const clang::ParmVarDecl* parameter : function.parameters())
    sizes.push_back(static_cast<std::uint32_t>(ast.getTypeSizeInChars(parameter->getType()).getQuantity()));
  Signature signature = parse_signature(parameters, sizes);
  for (std::size_t i = 0; i < signature.parameters.size(); ++i)
    if (const auto* enumeration = function.getParamDecl(i)->getType()->getAs<clang::EnumType>())
      describe_enumeration(ast, enumeration->getDecl()->getIntegerType(), signature.parameters[i]);
  return signature;
}

/// How clang lowered the parameters (x86-64's calling convention splits and merges the fields of structs).
std::vector<AbiArgument> read_arguments(clang::ASTContext& ast, clang::CodeGenerator& generator,
                                        const clang::FunctionDecl& function) {
  auto type = ast.getCanonicalType(function.getType()).getAs<clang::FunctionProtoType>();
  const auto& lowered = clang::CodeGen::arrangeFreeFunctionType(
      generator.CGM(), clang::CanQual<clang::FunctionProtoType>::CreateUnsafe(clang::QualType(type, 0)));
  const llvm::DataLayout& layout = generator.GetModule()->getDataLayout();
  std::vector<AbiArgument> arguments;
  for (unsigned i = 0; i < lowered.arg_size(); ++i) {
    const clang::CodeGen::ABIArgInfo& info = lowered.arguments()[i].info;
    if (info.isIgnore()) continue;
    if (info.isIndirect()) {
      arguments.push_back({i, 0, nullptr});
      continue;
    }
    auto* record = llvm::dyn_cast<llvm::StructType>(info.getCoerceToType());
    if (record == nullptr || !info.isDirect() || !info.getCanBeFlattened()) {
      arguments.push_back({i, info.getDirectOffset(), info.getCoerceToType()});
      continue;
    }
    for (unsigned field = 0; field < record->getNumElements(); ++field) {
      auto offset = static_cast<unsigned>(layout.getStructLayout(record)->getElementOffset(field));
      arguments.push_back({i, info.getDirectOffset() + offset, record->getElementType(field)});
    }
  }
  return arguments;
}

unsigned read_max_threads(clang::ASTContext& ast, const clang::FunctionDecl& function) {
  const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>();
  if (bounds == nullptr || bounds->getMaxThreads() == nullptr) return SourceKernel{}.max_threads;
  return static_cast<unsigned>(bounds->getMaxThreads()->EvaluateKnownConstInt(ast).getZExtValue());
}

/// True for variables that the source declares `__device__` or `__constant__`: clang marks constexpr ones, too.
bool is_device_global(const clang::VarDecl& variable) {
  const auto* device = variable.getAttr<clang::CUDADeviceAttr>();
  const auto* constant = variable.getAttr<clang::CUDAConstantAttr>();
  return (device != nullptr && !device->isImplicit()) || (constant != nullptr && !constant->isImplicit());
}

/// `extern __shared__` with a size is a definition, as it is for nvcc. Without one the launch gives the size.
void define_sized(const clang::ASTContext& ast, const clang::VarDecl& variable, llvm::GlobalVariable& global) {
  if (!global.isDeclaration() || variable.getType()->isIncompleteType()) return;
  if (ast.getTypeSize(variable.getType()) == 0) return;
  global.setInitializer(llvm::UndefValue::get(global.getValueType()));
  global.setLinkage(llvm::GlobalValue::InternalLinkage);
}

}  // namespace

void read_declarations(const KernelSource& source, clang::ASTContext& ast, clang::CodeGenerator& generator,
                       SourceModule& result) {
  auto names = read_names(source, ast);
  std::unique_ptr<clang::MangleContext> mangler(clang::ItaniumMangleContext::create(ast, ast.getDiagnostics()));

  for (const llvm::Function& function : *generator.GetModule()) {
    const clang::Decl* declaration = generator.GetDeclForMangledName(function.getName());
    const auto* kernel = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
    if (function.isDeclaration() || kernel == nullptr || !kernel->hasAttr<clang::CUDAGlobalAttr>()) continue;
    SourceKernel entry{function.getName().str(), std::move(names[kernel->getCanonicalDecl()]),
                       read_signature(ast, *mangler, *kernel), read_arguments(ast, generator, *kernel),
                       read_max_threads(ast, *kernel)};
    if (entry.names.empty()) entry.names.push_back(qualified_name(ast, *kernel));
    result.kernels.push_back(std::move(entry));
  }

  for (llvm::GlobalVariable& global : generator.GetModule()->globals()) {
    const clang::Decl* declaration = generator.GetDeclForMangledName(global.getName());
    const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(declaration);
    if (variable == nullptr) continue;
    if (variable->hasAttr<clang::CUDASharedAttr>()) {
      define_sized(ast, *variable, global);
      result.shared.push_back(global.getName().str());
      continue;
    }
    if (variable->hasAttr<clang::CUDAConstantAttr>()) result.constants.push_back(global.getName().str());
    if (!global.isDeclaration() && !variable->isStaticLocal() && is_device_global(*variable))
      result.globals.push_back({qualified_name(ast, *variable), global.getName().str(),
                                demangled_type(*mangler, ast.getCanonicalType(variable->getType())),
                                static_cast<std::size_t>(ast.getTypeSizeInChars(variable->getType()).getQuantity())});
  }
}

}  // namespace gpulua::cpu
