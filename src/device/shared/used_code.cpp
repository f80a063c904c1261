#include "src/device/shared/used_code.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/base/cxx_tokens.h"
#include "src/base/text_list.h"
#include "src/device/shared/code_declarations.h"

namespace gpulua {
namespace {

using Words = std::vector<std::string_view>;
using Kind = CodeDeclaration::Kind;

/// Finds the declarations that are used, from the kernels on.
class UsedCode {
 public:
  explicit UsedCode(const KernelSource& source) {
    add(source.text, true);
    for (const auto& [name, text] : source.headers) add(text, false);
    for (Text& text : texts_)
      for (CodeDeclaration& declaration : declarations_of(text.text, macros_)) add(text, std::move(declaration));
    find_names();
    for (const std::string& name : source.names) mention_all(name);
    for (const auto& [name, value] : source.defines) mention_all(value);
    for (const std::string& option : source.options) mention_all(option);
    for (Text& text : texts_)
      for (Item& item : text.items)
        if (item.type == nullptr && is_root(item.declaration, text.is_main)) use(item);
    follow();
  }

  /// A text with blanks in the place of what is not used: 0 is the source, and its headers follow.
  std::string used(std::size_t index) const {
    const Text& text = *std::next(texts_.begin(), static_cast<std::ptrdiff_t>(index));
    std::string result(text.text);
    for (const Item& item : text.items)
      if (!item.is_used) blank_code(result, text.text, item.declaration.begin, item.declaration.end);
    return result;
  }

 private:
  struct Item {
    CodeDeclaration declaration = {};
    Item* type = nullptr;                  // of a function that only hosts may call: whose member it is
    std::vector<Item*> host_members = {};  // of a type: those functions
    bool is_used = false;
  };
  struct Text {
    std::string_view text;
    bool is_main;
    std::list<Item> items = {};
  };

  void add(std::string_view text, bool is_main) {
    texts_.push_back({text, is_main});
    macros_.read(text);
  }

  /// Functions that only hosts may call are no part of the type that they are members of: they have to be used, too.
  void add(Text& text, CodeDeclaration&& declaration) {
    text.items.push_back({std::move(declaration)});
    Item& type = text.items.back();
    add_members(text, type, CodeDeclaration(type.declaration));
  }
  void add_members(Text& text, Item& owner, const CodeDeclaration& type) {
    if (type.body == type.body_end) return;
    const std::string_view body = text.text.substr(type.body, type.body_end - type.body);
    for (CodeDeclaration& member : declarations_of(body, macros_)) {
      for (std::size_t* place : {&member.begin, &member.end, &member.body, &member.body_end}) *place += type.body;
      if (member.kind == Kind::type) add_members(text, owner, member);
      if (!is_host_function(member, type)) continue;
      std::erase_if(owner.declaration.words, [&](std::string_view word) {
        return word.data() >= text.text.data() + member.begin && word.data() < text.text.data() + member.end;
      });
      // No name calls constructors and operators alone: a kernel cannot.
      if (is_one_of("operator", member.words) || is_name_of(type, member)) member.names.clear();
      text.items.push_back({std::move(member), &owner});
      owner.host_members.push_back(&text.items.back());
    }
  }

  static bool is_name_of(const CodeDeclaration& type, const CodeDeclaration& member) {
    return std::ranges::any_of(member.names, [&](std::string_view name) { return is_one_of(name, type.names); });
  }

  /// Not those that the compiler would write otherwise, as a copy then would be another.
  bool is_host_function(const CodeDeclaration& member, const CodeDeclaration& type) {
    const Words& words = member.words;
    if (member.kind != Kind::function || is_one_of("default", words) || is_one_of("delete", words)) return false;
    if (macros_.stand_for(words, "__device__") || macros_.stand_for(words, "constexpr")) return false;
    if (is_one_of("friend", words)) return false;
    const bool is_constructor = is_name_of(type, member);
    const auto mentions =
        std::ranges::count_if(words, [&](std::string_view word) { return is_one_of(word, type.names); });
    return is_constructor ? mentions == 1 && words.size() > 1 : !member.assigns || mentions < 2;
  }

  void find_names() {
    std::vector<Item*> types, functions, rest;
    for (Text& text : texts_)
      for (Item& item : text.items) {
        const CodeDeclaration& declaration = item.declaration;
        if (declaration.kind == Kind::directive || (item.type != nullptr && declaration.names.empty())) continue;
        const bool has_names = declaration.kind != Kind::other && !declaration.names.empty();
        (!has_names ? rest : declaration.kind == Kind::function ? functions : types).push_back(&item);
      }
    note_names(types);
    for (const Item* item : types)
      if (!item->declaration.is_variable) types_.insert(item->declaration.names.begin(), item->declaration.names.end());
    for (Item* item : functions) keep_one_name(item->declaration.names);
    note_names(functions);
    for (Item* item : rest) item->declaration.names = other_names(item->declaration);
    note_names(rest);
  }

  void note_names(const std::vector<Item*>& items) {
    for (Item* item : items)
      for (const std::string_view name : item->declaration.names) items_[name].push_back(item);
  }

  /// Of a macro's call: what the macro's text declares, or the arguments, where they may be parts of these names. What
  /// is not understood has those of its words that others declare, an operator those that are types.
  Words other_names(const CodeDeclaration& declaration) {
    Words names;
    if (declaration.words.empty()) return names;
    const bool is_operator = declaration.kind == Kind::function;
    const std::string_view macro = declaration.words.front();
    if (macros_.find(macro) == nullptr) {
      std::ranges::copy_if(declaration.words, std::back_inserter(names),
                           [&](auto word) { return types_.contains(word) || (!is_operator && items_.contains(word)); });
      return names;
    }
    const Words arguments(declaration.words.begin() + 1, declaration.words.end());
    const Words& parameters = macros_.parameters(macro);
    if (macros_.text(macro).find("##") != std::string_view::npos) return arguments;
    for (CodeDeclaration& each : declarations_of(macros_.text(macro), macros_)) {
      if (each.kind == Kind::function) keep_one_name(each.names);
      if (each.names.empty()) return arguments;
      names.insert(names.end(), each.names.begin(), each.names.end());
    }
    const bool is_named_by_call = std::ranges::any_of(names, [&](auto name) { return is_one_of(name, parameters); });
    return names.empty() || is_named_by_call ? arguments : names;
  }

  /// A function in a type's namespace, `Type::f`, is a part of the type.
  void keep_one_name(Words& names) const {
    if (names.size() > 1) names = {items_.contains(names.back()) ? names.back() : names.front()};
  }

  bool is_root(const CodeDeclaration& declaration, bool is_main) {
    if (declaration.kind == Kind::directive || declaration.names.empty()) return true;
    const Words& words = declaration.words;
    if (macros_.stand_for(words, "__global__")) return true;
    const bool is_device = is_one_of("__device__", words);
    if (declaration.is_variable)
      return is_device || is_one_of("__constant__", words) || is_one_of("__managed__", words);
    return is_device && is_main && declaration.kind == Kind::function && !declaration.is_internal;
  }

  void use(Item& item) {
    if (item.is_used || (item.type != nullptr && !item.type->is_used)) return;
    item.is_used = true;
    if (item.declaration.kind == Kind::directive) return;
    // Its names stand for other declarations, too: overloads, members, what tells of it before.
    if (item.declaration.kind != Kind::other)
      for (const std::string_view name : item.declaration.names) mention(name);
    for (const std::string_view word : item.declaration.words) mention(word);
    for (Item* member : item.host_members)
      if (std::ranges::any_of(member->declaration.names, [&](auto name) { return mentioned_.contains(name); }))
        use(*member);
  }
  void mention(std::string_view word) {
    if (mentioned_.insert(word).second) pending_.push_back(word);
  }
  void mention_all(std::string_view text) {
    CxxTokens tokens(text);
    for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) mention(token.text);
  }
  void follow() {
    while (!pending_.empty()) {
      const std::string_view word = pending_.back();
      pending_.pop_back();
      if (const Words* words = macros_.find(word))
        for (const std::string_view each : *words) mention(each);
      if (const auto found = items_.find(word); found != items_.end())
        for (Item* item : found->second) use(*item);
    }
  }

  CodeMacros macros_;
  std::list<Text> texts_;
  std::unordered_map<std::string_view, std::vector<Item*>> items_;
  std::unordered_set<std::string_view> types_;  // the names of types
  std::unordered_set<std::string_view> mentioned_;
  Words pending_;
};

}  // namespace

void drop_unused_code(KernelSource& source) {
  std::vector<std::string> texts;
  {
    const UsedCode code(source);
    for (std::size_t i = 0; i <= source.headers.size(); ++i) texts.push_back(code.used(i));
  }
  source.text = std::move(texts.front());
  for (std::size_t i = 0; i < source.headers.size(); ++i) source.headers[i].second = std::move(texts[i + 1]);
}

}  // namespace gpulua
