#include "src/device/cpu/compiler/site_table.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "src/device/shared/generated_text.h"

namespace gpulua::cpu {
namespace {

constexpr std::string_view prelude_folder = "/gpulua/include/";

/// The innermost source line outside of the prelude; null if it is unknown.
const llvm::DILocation* source_line(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc();
  while (location != nullptr && location->getInlinedAt() != nullptr &&
         location->getFilename().starts_with(llvm::StringRef(prelude_folder.data(), prelude_folder.size())))
    location = location->getInlinedAt();
  // The library's own kernels have no lines in a script.
  if (location != nullptr && location->getFilename() == llvm::StringRef(generated_file.data(), generated_file.size()))
    return nullptr;
  return location;
}

/// "tile" of the symbol `_ZZ1kPfE4tile`.
std::string unqualified(llvm::StringRef symbol) {
  const std::string name = llvm::demangle(symbol.str());
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string type_name(const llvm::Type& type) {
  if (type.isFloatTy()) return "float";
  if (type.isDoubleTy()) return "double";
  if (type.isPointerTy()) return "pointer";
  if (type.isIntegerTy(8)) return "char";
  if (type.isIntegerTy(16)) return "short";
  if (type.isIntegerTy(32)) return "int";
  if (type.isIntegerTy(64)) return "long long";
  if (const auto* record = llvm::dyn_cast<llvm::StructType>(&type); record != nullptr && record->hasName()) {
    llvm::StringRef name = record->getName();
    return name.substr(name.find('.') + 1).str();
  }
  return "";
}

/// Lua's name of a variable of a Lua function: "tile" of "tile_array1", "x" of "x_p1".
std::string lua_name(const std::string& name) {
  const std::size_t number = name.find_last_not_of("0123456789") + 1;
  for (const std::string_view mark : {"_array", "_p"})
    if (number < name.size() && std::string_view(name).substr(0, number).ends_with(mark))
      return name.substr(0, number - mark.size());
  return name;
}

/// The type that a C++ pointer type points to: "P" for "const P*".
std::string pointee(std::string type) {
  if (type.starts_with("const ")) type = type.substr(6);
  while (!type.empty() && (type.back() == '*' || type.back() == ' ')) type.pop_back();
  return type;
}

/// The element type of the first address computation on the base; null if there is none.
llvm::Type* element_type(const llvm::Value& pointer) {
  llvm::Type* type = nullptr;
  const llvm::Value* value = &pointer;
  while (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(value)) {
    if (!step->hasAllZeroIndices()) type = step->getSourceElementType();
    value = step->getPointerOperand();
  }
  while (type != nullptr && type->isArrayTy()) type = type->getArrayElementType();
  return type;
}

}  // namespace

SiteTable::SiteTable(const SourceModule& source) : source_(source), module_(*source.module) {}

llvm::Constant* SiteTable::constant(llvm::Constant* value) {
  return new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
}

llvm::Constant* SiteTable::text(const std::string& value) {
  llvm::Constant*& found = texts_[value];
  if (found == nullptr) found = constant(llvm::ConstantDataArray::getString(module_.getContext(), value));
  return found;
}

llvm::Constant* SiteTable::site(const llvm::Instruction& instruction, unsigned kind, unsigned align,
                                llvm::Constant* object) {
  llvm::IRBuilder<> builder(module_.getContext());
  const llvm::DILocation* line = source_line(instruction);
  if (object == nullptr) object = llvm::ConstantPointerNull::get(builder.getPtrTy());
  return constant(llvm::ConstantStruct::getAnon({text(line == nullptr ? "" : line->getFilename().str()),
                                                 builder.getInt32(line == nullptr ? 0 : line->getLine()),
                                                 builder.getInt32(kind), builder.getInt32(align), object}));
}

bool SiteTable::is_shared(const llvm::Value& base) const {
  return llvm::isa<llvm::GlobalVariable>(base) &&
         std::ranges::find(source_.shared, base.getName()) != source_.shared.end();
}

bool SiteTable::is_constant(const llvm::Value& base) const {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&base);
  return variable != nullptr &&
         (variable->isConstant() || std::ranges::find(source_.constants, base.getName()) != source_.constants.end());
}

std::uint64_t SiteTable::known_bytes(const llvm::Value& base) const {
  const llvm::DataLayout& layout = module_.getDataLayout();
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&base))
    return variable->isDeclaration() ? 0 : layout.getTypeAllocSize(variable->getValueType()).getFixedValue();
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&base)) {
    const auto size = local->getAllocationSize(layout);
    return size ? size->getFixedValue() : 0;
  }
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&base); argument != nullptr && argument->hasByValAttr())
    return layout.getTypeAllocSize(argument->getParamByValType());
  return 0;
}

void SiteTable::describe_array(llvm::Type* type, Description& description) const {
  while (type->isArrayTy()) {
    description.extents.push_back(type->getArrayNumElements());
    type = type->getArrayElementType();
  }
  if (description.extents.size() > max_extents) description.extents.clear();
  description.type = type_name(*type);
  if (type->isSized()) description.element_bytes = module_.getDataLayout().getTypeAllocSize(type);
}

SiteTable::Description SiteTable::describe_parameter(const llvm::Argument& argument) const {
  Description description;
  description.name = argument.getName().str();
  if (argument.hasByValAttr()) {
    description.space = Space::local;
    description.bytes = known_bytes(argument);
    return description;
  }
  const llvm::StringRef symbol = argument.getParent()->getName();
  for (const SourceKernel& kernel : source_.kernels) {
    if (symbol != kernel.symbol || argument.getArgNo() >= kernel.arguments.size()) continue;
    const AbiArgument& place = kernel.arguments[argument.getArgNo()];
    const Parameter& parameter = kernel.signature.parameters[place.parameter];
    if (parameter.kind != ParameterKind::pointer) break;  // a pointer in a struct
    description.space = Space::parameter;
    description.type = pointee(parameter.type);
    if (!parameter.dtype) break;
    if (parameter.lanes == 1) description.type = std::string(name(*parameter.dtype));
    description.element_bytes = size_of(*parameter.dtype) * parameter.lanes;
  }
  return description;
}

SiteTable::Description SiteTable::describe(const llvm::Value& base) const {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&base)) return describe_parameter(*argument);
  Description description;
  description.bytes = known_bytes(base);
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&base)) {
    description.name = local->getName().split('.').first.str();  // an inlined function's have a suffix
    description.space = Space::local;
    describe_array(local->getAllocatedType(), description);
  } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&base)) {
    description.name = unqualified(variable->getName());
    description.space = is_constant(base)           ? Space::constant
                        : !is_shared(base)          ? Space::global
                        : variable->isDeclaration() ? Space::dynamic_shared
                                                    : Space::shared;
    describe_array(variable->getValueType(), description);
    if (description.space == Space::dynamic_shared) description.extents.clear();
  }
  return description;
}

llvm::Constant* SiteTable::object(const llvm::Value& base, const llvm::Value& pointer, std::uint64_t bytes) {
  Description description = describe(base);
  if (description.element_bytes == 0) {
    llvm::Type* type = element_type(pointer);
    description.element_bytes =
        type != nullptr ? module_.getDataLayout().getTypeAllocSize(type).getFixedValue() : bytes;
    if (type != nullptr && description.type.empty()) description.type = type_name(*type);
    description.element_bytes = std::max<std::uint64_t>(description.element_bytes, 1);
  }

  if (source_.lua_function) description.name = lua_name(description.name);

  llvm::IRBuilder<> builder(module_.getContext());
  std::vector<llvm::Constant*> extents;
  std::string key;
  for (std::size_t i = 0; i < max_extents; ++i) {
    const std::uint64_t extent = i < description.extents.size() ? description.extents[i] : 0;
    extents.push_back(builder.getInt64(extent));
    key += std::to_string(extent) + ',';
  }
  key += description.name + ',' + description.type + ',' + std::to_string(static_cast<unsigned>(description.space)) +
         ',' + std::to_string(description.element_bytes) + ',' + std::to_string(description.bytes);
  llvm::Constant*& found = objects_[key];
  if (found == nullptr)
    found = constant(llvm::ConstantStruct::getAnon(
        {text(description.name), text(description.type), builder.getInt32(static_cast<unsigned>(description.space)),
         builder.getInt32(static_cast<std::uint32_t>(description.element_bytes)), builder.getInt64(description.bytes),
         builder.getInt32(source_.lua_function ? 1 : 0),
         builder.getInt32(static_cast<std::uint32_t>(description.extents.size())),
         llvm::ConstantArray::get(llvm::ArrayType::get(builder.getInt64Ty(), max_extents), extents)}));
  return found;
}

}  // namespace gpulua::cpu
