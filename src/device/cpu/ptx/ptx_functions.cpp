#include "src/device/cpu/ptx/ptx_functions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "src/base/text_list.h"

namespace gpulua::cpu {
namespace {

/// What the compiler makes of LLVM's own instructions.
constexpr std::array<std::string_view, 14> built_in{"{",  "}",    "reg",  "shared", "mov",    "ld",    "ldu",
                                                    "st", "cvta", "setp", "selp",   "membar", "fence", "createpolicy"};
constexpr std::array<std::string_view, 8> without_effect{"prefetch",       "prefetchu", "discard", "applypriority",
                                                         "griddepcontrol", "brkpt",     "pmevent", "setmaxnreg"};
/// Words that do not choose between functions: how a GPU rounds subnormals, where memory is, whom an atomic operation
/// is for. Functions to nearest have no word for it, and those that a GPU approximates are as good as they can be.
constexpr std::array<std::string_view, 23> dropped{
    "ftz",         "approx",        "full",     "aligned", "noftz",           "global",   "shared",
    "shared::cta", "gpu",           "sys",      "cta",     "relaxed",         "acquire",  "release",
    "acq_rel",     "cluster",       "volatile", "uni",     "L1::no_allocate", "L2::128B", "L2::256B",
    "L2::64B",     "L2::cache_hint"};

bool is_type_of_integers(std::string_view word) {
  return word.size() > 1 && (word[0] == 'u' || word[0] == 's') && word[1] >= '0' && word[1] <= '9';
}

std::string_view type_of_result(const std::vector<std::string>& words) {
  return words[0] == "cvt" && words.size() > 1 ? words[words.size() - 2] : words.back();
}

void add_special_registers(const std::vector<PtxOperand>& operands, std::vector<std::string>& symbols) {
  for (const PtxOperand& operand : operands) {
    if (operand.kind == PtxOperand::Kind::name && operand.name.starts_with('%'))
      symbols.push_back(ptx_symbol(special_function(operand.name)));
    add_special_registers(operand.parts, symbols);
  }
}

/// ptxas takes the number of ldmatrix's matrices also before their shape.
std::vector<std::string> in_order(std::vector<std::string> words) {
  if (words[0] == "ldmatrix" || words[0] == "stmatrix")
    std::stable_partition(words.begin() + 1, words.end(),
                          [&](const std::string& word) { return word == "sync" || word == "m8n8"; });
  return words;
}

}  // namespace

std::string ptx_symbol(const std::string& name) {
  return "gpulua_ptx_" + name;
}

std::string special_function(const std::string& name) {
  std::string result = "special_" + name.substr(1);
  std::replace(result.begin(), result.end(), '.', '_');
  return result;
}

bool has_word(const PtxInstruction& instruction, const std::string& word) {
  return std::find(instruction.words.begin(), instruction.words.end(), word) != instruction.words.end();
}

bool is_shared(const PtxInstruction& instruction) {
  return has_word(instruction, "shared") || has_word(instruction, "shared::cta");
}

bool is_saturated(const PtxInstruction& instruction) {
  return has_word(instruction, "sat") && type_of_result(instruction.words) == "f32";
}

bool is_without_effect(const PtxInstruction& instruction) {
  const std::vector<std::string>& words = instruction.words;
  if (is_one_of(words[0], without_effect)) return true;
  const bool waits =
      has_word(instruction, "commit_group") || has_word(instruction, "wait_group") || has_word(instruction, "wait_all");
  return words[0] == "cp" && words.size() > 2 && words[1] == "async" && waits;
}

std::string function_of(const PtxInstruction& instruction) {
  const std::vector<std::string>& words = instruction.words;
  if (is_one_of(words[0], built_in) || is_without_effect(instruction)) return "";
  if (words[0] == "cp" && words.size() > 1 && words[1] == "async")
    return has_word(instruction, "bulk") ? "cp_async_bulk" : "cp_async_";
  const bool converts = words[0] == "cvt";
  const bool between_integers =
      converts && words.size() > 2 && is_type_of_integers(words[words.size() - 2]) && is_type_of_integers(words.back());
  std::string result;
  for (const std::string& word : in_order(words)) {
    if (is_one_of(word, dropped) || (word == "rn" && !converts)) continue;
    const bool has_name =
        between_integers || words.back() == "s32" || type_of_result(words).find("f16") != std::string::npos;
    if (word == "sat" && !has_name) continue;
    std::string part = word == "barrier" ? "bar" : word == "red" && result.empty() ? "atom" : word;
    result += (result.empty() ? "" : "_") + part;
  }
  return instruction.second.empty() ? result : result + "_p";
}

std::vector<std::string> ptx_symbols(const std::string& assembly) {
  std::vector<std::string> symbols;
  for (const PtxInstruction& instruction : read_ptx(assembly)) {
    add_special_registers(instruction.operands, symbols);
    const std::string function = function_of(instruction);
    if (function == "cp_async_") {
      for (const char* size : {"4", "8", "16"})
        for (const char* some : {"", "_some"}) symbols.push_back(ptx_symbol(function + size + some));
    } else if (!function.empty()) {
      symbols.push_back(ptx_symbol(function));
    }
    if (is_saturated(instruction)) symbols.push_back(ptx_symbol("saturated_f32"));
    if (is_shared(instruction) || instruction.words[0] == "cvta") {
      symbols.push_back(ptx_symbol("shared_to_generic"));
      symbols.push_back(ptx_symbol("generic_to_shared"));
    }
  }
  return symbols;
}

}  // namespace gpulua::cpu
