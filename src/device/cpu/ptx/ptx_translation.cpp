#include "src/device/cpu/ptx/ptx_translation.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "src/base/error.h"
#include "src/device/cpu/ptx/ptx_functions.h"
#include "src/device/cpu/ptx/ptx_values.h"

namespace gpulua::cpu {
namespace {

using Kind = PtxOperand::Kind;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::compile, "{}", what);
}

/// A comparison's word, and what it is for floats, signed and unsigned integers.
struct Comparison {
  const char* word;
  llvm::CmpInst::Predicate of_floats, of_signed, of_unsigned;
};
using P = llvm::CmpInst::Predicate;
constexpr P none = P::BAD_FCMP_PREDICATE;
constexpr Comparison comparisons[] = {
    {"eq", P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},
    {"ne", P::FCMP_ONE, P::ICMP_NE, P::ICMP_NE},
    {"lt", P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT},
    {"le", P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
    {"gt", P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT},
    {"ge", P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
    {"lo", none, none, P::ICMP_ULT},
    {"ls", none, none, P::ICMP_ULE},
    {"hi", none, none, P::ICMP_UGT},
    {"hs", none, none, P::ICMP_UGE},
    {"equ", P::FCMP_UEQ, none, none},
    {"neu", P::FCMP_UNE, none, none},
    {"ltu", P::FCMP_ULT, none, none},
    {"leu", P::FCMP_ULE, none, none},
    {"gtu", P::FCMP_UGT, none, none},
    {"geu", P::FCMP_UGE, none, none},
    {"num", P::FCMP_ORD, none, none},
    {"nan", P::FCMP_UNO, none, none},
};

P comparison(const std::string& word, const std::string& type) {
  for (const Comparison& row : comparisons) {
    if (word != row.word) continue;
    const P found = type[0] == 'f' ? row.of_floats : type[0] == 's' ? row.of_signed : row.of_unsigned;
    if (found != none) return found;
  }
  refuse("expected a comparison of numbers of that type");
}

class Translation {
 public:
  explicit Translation(llvm::CallInst& call)
      : call_(call), module_(*call.getModule()), builder_(&call), values_(call, builder_) {}

  void run(const std::string& assembly) {
    for (const PtxInstruction& instruction : read_ptx(assembly)) translate(instruction);
    if (llvm::Value* result = values_.result()) call_.replaceAllUsesWith(result);
    call_.eraseFromParent();
  }

 private:
  void translate(const PtxInstruction& instruction) {
    if (instruction.predicate.empty()) return translate_alone(instruction);
    PtxOperand predicate;
    predicate.kind = Kind::name;
    predicate.name = instruction.predicate;
    predicate.negated = instruction.negated;
    llvm::Value* condition = values_.read(predicate, builder_.getInt1Ty());
    builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(condition, &call_, false));
    translate_alone(instruction);
    builder_.SetInsertPoint(&call_);
  }

  void translate_alone(const PtxInstruction& instruction) {
    const std::string& word = instruction.words[0];
    if (word == "{") return values_.open_scope();
    if (word == "}") return values_.close_scope();
    if (word == "reg") return values_.declare(instruction);
    if (word == "shared") return declare_shared(instruction);
    if (word == "mov") return move(instruction);
    if (word == "ld" || word == "ldu") return load(instruction);
    if (word == "st") return store(instruction);
    if (word == "cvta") return convert_address(instruction);
    if (word == "setp") return compare(instruction);
    if (word == "selp") return select(instruction);
    if (word == "membar" || word == "fence") {
      builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
      return;
    }
    if (word == "createpolicy") return values_.write(operand(instruction, 0), builder_.getInt64(0));
    if (is_without_effect(instruction)) return;
    call_function(instruction);
  }

  static const PtxOperand& operand(const PtxInstruction& instruction, std::size_t i) {
    if (i >= instruction.operands.size()) refuse("expected more operands");
    return instruction.operands[i];
  }
  static void expect_operands(const PtxInstruction& instruction, std::size_t least, std::size_t most) {
    const std::size_t count = instruction.operands.size();
    if (count < least || count > most)
      refuse("expected " + std::to_string(most) + " operands, got " + std::to_string(count));
  }

  llvm::Type* type_of(const PtxInstruction& instruction) {
    llvm::Type* type = type_of_word(builder_.getContext(), instruction.words.back());
    if (type == nullptr) refuse("expected an instruction with a type");
    return type;
  }
  static bool is_signed(const PtxInstruction& instruction) {
    const std::vector<std::string>& words = instruction.words;
    return (words[0] == "cvt" && words.size() > 1 ? words[words.size() - 2] : words.back()).front() == 's';
  }

  llvm::Value* call(const std::string& symbol, const std::vector<llvm::Value*>& arguments) {
    llvm::Function* function = module_.getFunction(symbol);
    if (function == nullptr) refuse("it is not known here");
    llvm::CallInst* made = builder_.CreateCall(function, arguments);
    made->setAttributes(function->getAttributes());
    return made;
  }

  // ---- memory ----

  /// The array is what `__shared__` makes of one. Its name stands for its address.
  void declare_shared(const PtxInstruction& instruction) {
    constexpr std::uint64_t most = 1 << 20;
    const PtxOperand& array = operand(instruction, 0);
    if (array.integer > most) refuse("expected an array that a block's shared memory can hold");
    auto* type = llvm::ArrayType::get(type_of(instruction), array.integer);
    auto* variable = new llvm::GlobalVariable(module_, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                              llvm::UndefValue::get(type), ptx_shared_prefix + array.name);
    variable->setAlignment(llvm::Align(ptx_shared_alignment));
    values_.name(array.name,
                 call(ptx_symbol("generic_to_shared"), {builder_.CreatePtrToInt(variable, builder_.getInt64Ty())}));
  }

  llvm::Value* address(const PtxInstruction& instruction, const PtxOperand& operand) {
    if (operand.kind != Kind::address) refuse("expected an address in brackets");
    llvm::Value* base = values_.read(operand.parts[0], nullptr);
    if (is_shared(instruction)) {
      base = call(ptx_symbol("shared_to_generic"), {converted(builder_, base, builder_.getInt64Ty())});
    } else if (base->getType()->isIntegerTy(32)) {
      refuse("expected an address of 64 bits outside of shared memory");
    }
    base = converted(builder_, base, builder_.getPtrTy());
    return operand.integer == 0 ? base
                                : builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.getInt64(operand.integer));
  }

  /// Runs `access(place, operand)` for each element of a load or store.
  template <class Access>
  void for_elements(const PtxInstruction& instruction, const PtxOperand& elements, llvm::Value* address,
                    Access access) {
    llvm::Type* type = type_of(instruction);
    const bool is_vector = elements.kind == Kind::vector;
    const std::size_t count = has_word(instruction, "v2")   ? 2
                              : has_word(instruction, "v4") ? 4
                              : has_word(instruction, "v8") ? 8
                                                            : 1;
    if ((is_vector ? elements.parts.size() : 1) != count)
      refuse("expected as many registers as the instruction has elements");
    for (std::size_t i = 0; i < count; ++i)
      access(i == 0 ? address : builder_.CreateConstGEP1_64(type, address, i),
             is_vector ? elements.parts[i] : elements);
  }
  static llvm::AtomicOrdering order_of(const PtxInstruction& instruction) {
    if (has_word(instruction, "acquire")) return llvm::AtomicOrdering::Acquire;
    if (has_word(instruction, "release")) return llvm::AtomicOrdering::Release;
    return has_word(instruction, "relaxed") ? llvm::AtomicOrdering::Monotonic : llvm::AtomicOrdering::NotAtomic;
  }
  template <class Access>
  static void set_order(Access* access, const PtxInstruction& instruction) {
    access->setVolatile(has_word(instruction, "volatile") || has_word(instruction, "mmio"));
    access->setAtomic(order_of(instruction));
  }

  /// Between the name and the type.
  static void check_access(const PtxInstruction& instruction) {
    expect_operands(instruction, 2, 3);  // the third is a policy of the cache
    if (has_word(instruction, "param")) refuse("parameters are read by their C++ names alone");
    constexpr std::array<std::string_view, 26> known{
        "global", "shared", "shared::cta", "local", "const", "volatile", "relaxed", "acquire", "release",
        "weak",   "mmio",   "gpu",         "sys",   "cta",   "cluster",  "nc",      "ca",      "cg",
        "cs",     "lu",     "cv",          "wb",    "wt",    "v2",       "v4",      "v8"};
    for (std::size_t i = 1; i + 1 < instruction.words.size(); ++i) {
      const std::string& word = instruction.words[i];
      const bool is_hint = word.starts_with("L1::") || word.starts_with("L2::");
      if (!is_hint && std::find(known.begin(), known.end(), word) == known.end())
        refuse("its part ." + word + " is not known here");
    }
  }

  void load(const PtxInstruction& instruction) {
    check_access(instruction);
    llvm::Type* type = type_of(instruction);
    llvm::Value* from = address(instruction, instruction.operands[1]);
    for_elements(instruction, instruction.operands[0], from, [&](llvm::Value* place, const PtxOperand& to) {
      llvm::LoadInst* value = builder_.CreateAlignedLoad(type, place, llvm::Align(type->getPrimitiveSizeInBits() / 8));
      set_order(value, instruction);
      values_.write(to, value, is_signed(instruction));
    });
  }
  void store(const PtxInstruction& instruction) {
    check_access(instruction);
    llvm::Type* type = type_of(instruction);
    llvm::Value* to = address(instruction, instruction.operands[0]);
    for_elements(instruction, instruction.operands[1], to, [&](llvm::Value* place, const PtxOperand& from) {
      llvm::Value* value = values_.read(from, type);
      set_order(builder_.CreateAlignedStore(value, place, llvm::Align(type->getPrimitiveSizeInBits() / 8)),
                instruction);
    });
  }
  void convert_address(const PtxInstruction& instruction) {
    expect_operands(instruction, 2, 2);
    llvm::Value* value = values_.read(instruction.operands[1], nullptr);
    if (is_shared(instruction)) {
      const char* function = has_word(instruction, "to") ? "generic_to_shared" : "shared_to_generic";
      value = call(ptx_symbol(function), {converted(builder_, value, builder_.getInt64Ty())});
    }
    values_.write(instruction.operands[0], value);
  }

  // ---- registers ----

  void move(const PtxInstruction& instruction) {
    expect_operands(instruction, 2, 2);
    if (instruction.words.size() != 2) refuse("expected mov with a type alone");
    llvm::Type* type = type_of(instruction);
    const PtxOperand &to = instruction.operands[0], &from = instruction.operands[1];
    if (from.kind == Kind::vector) return values_.write(to, packed(from, type));
    llvm::Value* value = values_.read(from, type);
    if (to.kind != Kind::vector) return values_.write(to, value);
    value = converted(builder_, value, builder_.getIntNTy(type->getPrimitiveSizeInBits()));
    const unsigned width = static_cast<unsigned>(type->getPrimitiveSizeInBits() / to.parts.size());
    for (std::size_t i = 0; i < to.parts.size(); ++i)
      values_.write(to.parts[i],
                    builder_.CreateTrunc(builder_.CreateLShr(value, i * width), builder_.getIntNTy(width)));
  }
  llvm::Value* packed(const PtxOperand& vector, llvm::Type* type) {
    const auto width = static_cast<unsigned>(type->getPrimitiveSizeInBits() / vector.parts.size());
    llvm::Type* whole = builder_.getIntNTy(type->getPrimitiveSizeInBits());
    llvm::Value* result = llvm::ConstantInt::get(whole, 0);
    for (std::size_t i = 0; i < vector.parts.size(); ++i) {
      llvm::Value* part = builder_.CreateZExt(values_.read(vector.parts[i], builder_.getIntNTy(width)), whole);
      result = builder_.CreateOr(result, builder_.CreateShl(part, i * width));
    }
    return result;
  }

  /// setp.lt.and.f32 p|q, a, b, c: p = (a < b) && c, q = !(a < b) && c.
  void compare(const PtxInstruction& instruction) {
    const bool combines = has_word(instruction, "and") || has_word(instruction, "or") || has_word(instruction, "xor");
    expect_operands(instruction, combines ? 4 : 3, combines ? 4 : 3);
    llvm::Type* type = type_of(instruction);
    if (instruction.words.size() < 3) refuse("expected a comparison");
    const std::string& word = instruction.words.back();
    if (word.find("16") != std::string::npos && word.find('f') != std::string::npos) refuse("it is not known here");
    llvm::Value* a = values_.read(instruction.operands[1], type, word[0] == 's');
    llvm::Value* b = values_.read(instruction.operands[2], type, word[0] == 's');
    llvm::Value* yes = builder_.CreateCmp(comparison(instruction.words[1], word), a, b);
    const auto combined = [&](llvm::Value* value) -> llvm::Value* {
      if (!combines) return value;
      llvm::Value* c = values_.read(instruction.operands[3], builder_.getInt1Ty());
      if (has_word(instruction, "and")) return builder_.CreateAnd(value, c);
      return has_word(instruction, "or") ? builder_.CreateOr(value, c) : builder_.CreateXor(value, c);
    };
    llvm::Value* no = instruction.second.empty() ? nullptr : combined(builder_.CreateNot(yes));
    values_.write(instruction.operands[0], combined(yes));
    if (no != nullptr) values_.write(instruction.second[0], no);
  }
  void select(const PtxInstruction& instruction) {
    expect_operands(instruction, 4, 4);
    llvm::Type* type = type_of(instruction);
    llvm::Value* condition = values_.read(instruction.operands[3], builder_.getInt1Ty());
    llvm::Value* yes = values_.read(instruction.operands[1], type);
    values_.write(instruction.operands[0],
                  builder_.CreateSelect(condition, yes, values_.read(instruction.operands[2], type)));
  }

  // ---- functions of gpulua_ptx.h ----

  /// The function of the instruction, whose name for cp.async depends on the number of bytes.
  std::string symbol_of(const PtxInstruction& instruction) {
    std::string name = function_of(instruction);
    if (name == "cp_async_")
      name +=
          std::to_string(values_.constant(operand(instruction, 2))) + (instruction.operands.size() > 3 ? "_some" : "");
    return ptx_symbol(name);
  }

  /// A vector's elements in memory, of 32 bits each or, if they are wider, of 64. Those of a result are not read.
  llvm::Value* spread(const PtxOperand& vector, bool is_result) {
    llvm::Type* type = element_of(vector);
    llvm::Value* memory = values_.variable(type, static_cast<unsigned>(vector.parts.size()));
    for (std::size_t i = 0; !is_result && i < vector.parts.size(); ++i)
      builder_.CreateStore(values_.read(vector.parts[i], type), builder_.CreateConstGEP1_64(type, memory, i));
    return memory;
  }
  void gather(const PtxOperand& vector, llvm::Value* memory) {
    llvm::Type* type = element_of(vector);
    for (std::size_t i = 0; i < vector.parts.size(); ++i)
      values_.write(vector.parts[i], builder_.CreateLoad(type, builder_.CreateConstGEP1_64(type, memory, i)));
  }
  llvm::Type* element_of(const PtxOperand& vector) {
    const PtxOperand& first = vector.parts[0];
    const bool is_register = first.kind == Kind::argument || first.kind == Kind::name;
    const bool is_wide = is_register && values_.read(first, nullptr)->getType()->getPrimitiveSizeInBits() == 64;
    return is_wide ? builder_.getInt64Ty() : builder_.getInt32Ty();
  }

  void call_function(const PtxInstruction& instruction) {
    const std::string symbol = symbol_of(instruction);
    const llvm::Function* function = module_.getFunction(symbol);
    if (function == nullptr) refuse("it is not known here");
    const llvm::FunctionType& type = *function->getFunctionType();
    if (instruction.words[0] == "bar" || instruction.words[0] == "barrier") check_barrier(instruction);
    std::vector<const PtxOperand*> sources;
    for (const PtxOperand& source : instruction.operands) sources.push_back(&source);
    const bool is_copy = instruction.words[0] == "cp";
    if (is_copy) sources.erase(sources.begin() + 2);
    const bool has_result = !type.getReturnType()->isVoidTy() && instruction.words[0] != "red";
    if (has_result) sources.erase(sources.begin());

    std::vector<llvm::Value*> arguments;
    for (const PtxOperand* source : sources) {
      if (arguments.size() == type.getNumParams()) refuse("expected fewer operands");
      llvm::Type* parameter = type.getParamType(static_cast<unsigned>(arguments.size()));
      if (source->kind == Kind::vector)
        arguments.push_back(spread(*source, source == &instruction.operands[0]));
      else if (source->kind == Kind::address)
        arguments.push_back(address_for(instruction, *source, is_copy && arguments.size() == 1));
      else
        arguments.push_back(values_.read(*source, parameter));
    }
    llvm::Value* second = instruction.second.empty() ? nullptr : values_.variable(builder_.getInt8Ty());
    if (second != nullptr) arguments.push_back(second);
    if (arguments.size() + 2 == type.getNumParams() && type.getParamType(type.getNumParams() - 2)->isPointerTy())
      add_place(arguments);
    if (arguments.size() != type.getNumParams()) refuse("expected other operands");
    llvm::Value* result = call(symbol, arguments);
    if (is_saturated(instruction)) result = call(ptx_symbol("saturated_f32"), {result});
    if (has_result) values_.write(instruction.operands[0], result, is_signed(instruction));
    if (!instruction.operands.empty() && instruction.operands[0].kind == Kind::vector)
      gather(instruction.operands[0], arguments[0]);
    if (second != nullptr) values_.write(instruction.second[0], builder_.CreateLoad(builder_.getInt8Ty(), second));
  }
  /// cp.async reads global memory and writes shared.
  llvm::Value* address_for(const PtxInstruction& instruction, const PtxOperand& operand, bool is_global) {
    if (!is_global) return address(instruction, operand);
    PtxInstruction plain = instruction;
    std::erase_if(plain.words, [](const std::string& word) { return word.starts_with("shared"); });
    return address(plain, operand);
  }
  void check_barrier(const PtxInstruction& instruction) {
    if (has_word(instruction, "warp")) return;
    const std::size_t place = has_word(instruction, "red") ? 1 : 0;
    if (values_.constant(operand(instruction, place)) != 0) refuse("expected barrier 0: a block has no others here");
    if (place == 0 && instruction.operands.size() > 1)
      refuse("expected a barrier of the whole block, without a number of threads");
  }
  void add_place(std::vector<llvm::Value*>& arguments) {
    const llvm::DebugLoc& location = call_.getDebugLoc();
    arguments.push_back(builder_.CreateGlobalString(location ? location->getFilename() : "", "", 0, &module_));
    arguments.push_back(builder_.getInt32(location ? location.getLine() : 0));
  }

  llvm::CallInst& call_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  PtxValues values_;
};

}  // namespace

void translate_ptx(llvm::CallInst& call) {
  const std::string assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  Translation(call).run(assembly);
}

}  // namespace gpulua::cpu
