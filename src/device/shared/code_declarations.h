#pragma once

// The declarations of C++ text in namespaces and types, found without a compiler: what each names and mentions.

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace gpulua {

/// A declaration with its definition: a function, a type, a variable, or what else stands in a namespace.
struct CodeDeclaration {
  enum class Kind {
    directive,  // `using namespace x`: has no name
    type,       // a class, a union or an enumeration
    function,   // also `operator+`, which has no name, and a class's constructor
    named,      // an alias, a variable
    other,      // what is not understood
  } kind = Kind::named;
  std::size_t begin = 0, end = 0;      // in the text
  std::size_t body = 0, body_end = 0;  // of a class: what stands between its braces
  std::vector<std::string_view> names;
  std::vector<std::string_view> words;  // all identifiers and keywords in it, in their order
  bool assigns = false;                 // a function `operator=`
  bool is_internal = false;             // static, inline or a template: no other file uses it
  bool is_variable = false;             // with a value, an array, or neither parameters nor a body
};

/// The words that each macro of the texts stands for, by its name.
class CodeMacros {
 public:
  void read(std::string_view text);
  const std::vector<std::string_view>* find(std::string_view name) const;
  /// What the macro stands for, with its parameters' names.
  std::string_view text(std::string_view name) const;
  const std::vector<std::string_view>& parameters(std::string_view name) const;
  /// How many braces the macro's text opens and leaves open; negative where it closes others'.
  int open_braces(std::string_view name) const;
  /// Whether a text of the macro ends in a semicolon or a brace, so that nothing has to follow its call.
  bool ends_declaration(std::string_view name) const;
  /// Whether one of the words is the mark, such as __device__, or a macro that has it.
  bool stand_for(const std::vector<std::string_view>& words, std::string_view mark) const;

 private:
  struct Macro {
    std::vector<std::string_view> words, parameters;
    std::string_view text;
    int open_braces = 0;
    bool ends_declaration = false;
  };
  bool stands_for(std::string_view word, std::string_view mark) const;

  std::map<std::string_view, Macro> macros_;
  mutable std::map<std::pair<std::string_view, std::string_view>, bool> marks_;  // whether a macro stands for a mark
};

std::vector<CodeDeclaration> declarations_of(std::string_view text, const CodeMacros& macros);

}  // namespace gpulua
