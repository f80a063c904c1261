#include "src/device/cpu/ptx/ptx_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "src/base/error.h"

namespace gpulua::cpu {
namespace {

/// Clang's escapes undone, and comments left out.
std::string plain_text(const std::string& assembly) {
  std::string text;
  for (std::size_t i = 0; i < assembly.size(); ++i) {
    const std::string_view rest = std::string_view(assembly).substr(i);
    if (rest.starts_with("$(") || rest.starts_with("$)") || rest.starts_with("$|")) {
      text += rest[1] == '(' ? '{' : rest[1] == ')' ? '}' : '|';
      ++i;
    } else if (rest.starts_with("$$")) {
      text += assembly[i++];
    } else if (rest.starts_with("${:uid}")) {
      i += 6;
    } else if (rest.starts_with("//")) {
      i = std::min(assembly.find('\n', i), assembly.size());
      text += ' ';
    } else if (rest.starts_with("/*")) {
      const std::size_t end = assembly.find("*/", i + 2);
      i = end == std::string::npos ? assembly.size() : end + 1;
      text += ' ';
    } else {
      text += std::isspace(static_cast<unsigned char>(assembly[i])) ? ' ' : assembly[i];
    }
  }
  return text;
}

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '.' || c == ':';
}

class Reader {
 public:
  explicit Reader(std::string statement) : text_(std::move(statement)) {}

  PtxInstruction instruction() {
    PtxInstruction result;
    result.text = text_;
    if (take('@')) {
      result.negated = take('!');
      result.predicate = name();
    }
    std::string opcode = name();
    if (opcode.ends_with(':') || opcode.empty()) fail();
    if (opcode.front() == '.') opcode.erase(0, 1);
    for (std::size_t begin = 0; begin <= opcode.size();) {
      const std::size_t end = std::min(opcode.find('.', begin), opcode.size());
      result.words.push_back(opcode.substr(begin, end - begin));
      begin = end + 1;
    }
    if (result.words.front() == "reg") return registers(std::move(result));
    if (result.words.front() == "shared") return shared_array(std::move(result));
    while (!at_end()) {
      result.operands.push_back(operand());
      if (take('|')) result.second.push_back(operand());
      if (!take(',') && !at_end()) fail();
    }
    return result;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::compile, "expected an instruction of PTX, got \"{}\"", text_);
  }

  void skip() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }
  bool at_end() {
    skip();
    return place_ == text_.size();
  }
  bool take(char c) {
    skip();
    if (place_ == text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }
  std::string name() {
    skip();
    const std::size_t begin = place_;
    while (place_ < text_.size() && is_part_of_name(text_[place_])) ++place_;
    return text_.substr(begin, place_ - begin);
  }

  /// `.reg .pred p, q<4>;`: the operands are the names, and q0 to q3.
  PtxInstruction registers(PtxInstruction result) {
    if (result.words.size() == 1) {  // else `.reg.pred`
      const std::string type = name();
      result.words.push_back(type.empty() ? type : type.substr(1));
    }
    if (result.words[1] == "v2" || result.words[1] == "v4") fail();
    while (!at_end()) {
      const std::string prefix = name();
      if (prefix.empty()) fail();
      if (take('<')) {
        const unsigned long count = std::strtoul(name().c_str(), nullptr, 10);
        if (count == 0 || count > 4096 || !take('>')) fail();
        for (unsigned long i = 0; i < count; ++i) add_name(result, prefix + std::to_string(i));
      } else {
        add_name(result, prefix);
      }
      if (!take(',') && !at_end()) fail();
    }
    return result;
  }
  /// `.shared .align 8 .b32 x[16];`: a name, with the number of its elements.
  PtxInstruction shared_array(PtxInstruction result) {
    for (std::string word = next_is('.') ? name() : ""; !word.empty(); word = next_is('.') ? name() : "") {
      result.words.push_back(word.substr(1));
      if (word == ".align" && number().integer > ptx_shared_alignment) fail();
    }
    add_name(result, name());
    PtxOperand& array = result.operands.back();
    if (array.name.empty()) fail();
    array.integer = 1;
    while (take('[')) {
      array.integer *= number().integer;
      if (!take(']')) fail();
    }
    if (!at_end() || array.integer == 0) fail();
    return result;
  }
  static void add_name(PtxInstruction& instruction, const std::string& name) {
    PtxOperand operand;
    operand.kind = PtxOperand::Kind::name;
    operand.name = name;
    instruction.operands.push_back(operand);
  }

  PtxOperand list(PtxOperand::Kind kind, char close) {
    PtxOperand result;
    result.kind = kind;
    do result.parts.push_back(operand());
    while (kind == PtxOperand::Kind::vector && take(','));
    if (kind == PtxOperand::Kind::address && (take('+') || next_is('-'))) result.integer = operand().integer;
    if (!take(close)) fail();
    return result;
  }
  bool next_is(char c) {
    skip();
    return place_ < text_.size() && text_[place_] == c;
  }

  PtxOperand operand() {
    if (take('{')) return list(PtxOperand::Kind::vector, '}');
    if (take('[')) return list(PtxOperand::Kind::address, ']');
    PtxOperand result;
    if (take('!')) {
      result = operand();
      result.negated = true;
      return result;
    }
    if (take('$')) {
      const bool braced = take('{');
      result.kind = PtxOperand::Kind::argument;
      result.integer = std::strtoul(digits().c_str(), nullptr, 10);
      if (braced && !take('}')) fail();
      return result;
    }
    skip();
    const char first = place_ < text_.size() ? text_[place_] : '\0';
    if (first == '-' || first == '~' || std::isdigit(static_cast<unsigned char>(first))) return number();
    result.name = name();
    if (result.name.empty()) fail();
    if (result.name != "_") result.kind = PtxOperand::Kind::name;
    return result;
  }
  std::string digits() {
    const std::size_t begin = place_;
    while (place_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place_]))) ++place_;
    if (begin == place_) fail();
    return text_.substr(begin, place_ - begin);
  }

  /// 12, 0x1fU, 0b101, 017, -1, 0f3F800000, 0d3FF0000000000000, 1.5.
  PtxOperand number() {
    PtxOperand result;
    result.kind = PtxOperand::Kind::integer;
    const bool minus = take('-'), inverted = !minus && take('~');
    std::string digits = name();
    if (digits.size() > 2 && digits[0] == '0' && std::string_view("fFdD").find(digits[1]) != std::string_view::npos) {
      result.kind = PtxOperand::Kind::real;
      result.width = digits[1] == 'f' || digits[1] == 'F' ? 32 : 64;
      if (digits.size() != 2 + result.width / 4) fail();
      digits = "0x" + digits.substr(2);
    } else if (digits.find('.') != std::string::npos) {
      result.kind = PtxOperand::Kind::real;
      result.width = 64;
      const double value = std::strtod((minus ? "-" + digits : digits).c_str(), nullptr);
      result.integer = __builtin_bit_cast(std::uint64_t, value);
      return result;
    }
    while (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.pop_back();
    const bool binary = digits.starts_with("0b") || digits.starts_with("0B");
    char* end = nullptr;
    result.integer = std::strtoull(digits.c_str() + (binary ? 2 : 0), &end, binary ? 2 : 0);
    if (digits.empty() || *end != '\0') fail();
    if (minus) result.integer = 0 - result.integer;
    if (inverted) result.integer = ~result.integer;
    return result;
  }

  std::string text_;
  std::size_t place_ = 0;
};

PtxInstruction brace(char c) {
  PtxInstruction result;
  result.words.push_back(std::string(1, c));
  return result;
}

}  // namespace

std::vector<PtxInstruction> read_ptx(const std::string& assembly) {
  std::vector<PtxInstruction> result;
  std::string statement;
  // A brace where an instruction may begin is a scope's; elsewhere it is a vector's.
  const auto is_between = [&] { return statement.find_first_not_of(' ') == std::string::npos; };
  for (const char c : plain_text(assembly) + ";") {
    if ((c == '{' || c == '}') && is_between()) {
      result.push_back(brace(c));
    } else if (c != ';') {
      statement += c;
    } else if (is_between()) {
      statement.clear();
    } else {
      statement.erase(0, statement.find_first_not_of(' '));
      result.push_back(Reader(std::move(statement)).instruction());
      statement.clear();
    }
  }
  return result;
}

}  // namespace gpulua::cpu
