#include "src/device/shared/used_code.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/base/cxx_tokens.h"
#include "src/base/text_list.h"
#include "src/device/shared/blanked_code.h"
#include "src/device/shared/code_declarations.h"
#include "src/device/shared/compile_messages.h"

namespace gpulua {
namespace {

using Words = std::vector<std::string_view>;
using Kind = CodeDeclaration::Kind;

}  // namespace

/// Finds the declarations that are used, from the kernels on.
class UsedCode::Finder {
 public:
  explicit Finder(KernelSource source) : source_(std::move(source)) {
    add(source_.text, source_.file, source_.line);
    for (const auto& [name, text] : source_.headers) add(text, name, 1);
    for (Text& text : texts_)
      for (CodeDeclaration& declaration : declarations_of(text.text, macros_)) add(text, std::move(declaration));
    find_names();
    find_used();
  }

  KernelSource used() const {
    KernelSource result = source_;
    auto text = texts_.begin();
    result.text = used(*text);
    for (auto& [name, header] : result.headers) header = used(*++text);
    return result;
  }

  bool leave_out(std::string_view messages) {
    bool changed = false;
    for (const MessagePlace& place : error_places(messages))
      if (Text* text = find_text(place.file))
        for (const TextRange range : lines_of_number(text->text, text->line, place.line))
          changed |= leave_out(*text, range);
    if (changed) find_used();
    return changed;
  }

 private:
  struct Item {
    CodeDeclaration declaration = {};
    Item* type = nullptr;             // of a member that its type does not need: that type
    std::vector<Item*> members = {};  // of a type: those
    bool is_used = false, is_left_out = false;
  };
  struct Text {
    std::string_view text, name;
    int line;  // of its first
    bool is_main;
    std::list<Item> items = {};
  };

  void add(std::string_view text, std::string_view name, int line) {
    texts_.push_back({text, name, line, texts_.empty()});
    macros_.read(text);
  }

  /// Compilers may put the folder of the headers before a header's name.
  Text* find_text(std::string_view file) {
    Text* found = nullptr;
    for (Text& text : texts_) {
      if (text.name == file) return &text;
      const bool in_folder =
          !text.is_main && file.ends_with(text.name) && file[file.size() - text.name.size() - 1] == '/';
      if (in_folder && (found == nullptr || text.name.size() > found->name.size())) found = &text;
    }
    return found;
  }

  void find_used() {
    mentioned_.clear();
    for (Text& text : texts_)
      for (Item& item : text.items) item.is_used = false;
    for (const std::string& name : source_.names) mention_all(name);
    for (const auto& [name, value] : source_.defines) mention_all(value);
    for (const std::string& option : source_.options) mention_all(option);
    for (Text& text : texts_)
      for (Item& item : text.items)
        if (item.type == nullptr && is_root(item.declaration, text.is_main)) use(item);
    follow();
  }

  /// A text with blanks in the place of what is not used.
  std::string used(const Text& text) const {
    BlankedCode result(text.text);
    for (const Item& item : text.items) {
      if (item.is_used) continue;
      result.blank(item.declaration.begin, item.declaration.end);
      if (item.is_left_out && (item.type == nullptr || item.type->is_used))
        result.put(item.declaration.begin, stand_in(text, item.declaration));
    }
    return result.text();
  }

  /// Declares types by the names of the types and variables that are left out, so that they do not stand for others of
  /// outer namespaces.
  std::string stand_in(const Text& text, const CodeDeclaration& declaration) const {
    const Words& words = declaration.words;
    if (begins_with(words, "template") || begins_with(words, "friend")) return {};
    const std::string_view whole = text.text.substr(declaration.begin, declaration.end - declaration.begin);
    const bool is_using = is_one_of("using", words) && whole.find('=') == std::string_view::npos;
    const bool is_one_variable = declaration.is_variable && declaration.names.size() == 1;
    if (declaration.kind != Kind::type && !is_one_variable && (!is_alias(declaration) || is_using)) return {};
    std::string result;
    for (const std::string_view name : std::set<std::string_view>(declaration.names.begin(), declaration.names.end()))
      if (macros_.find(name) == nullptr) result += "struct " + std::string(name) + ";";
    return result;
  }

  /// What stands on a line: of a type, a member alone, where that is possible.
  bool leave_out(Text& text, TextRange line) {
    Item* found = nullptr;
    for (Item& item : text.items) {
      const CodeDeclaration& declaration = item.declaration;
      if (declaration.begin >= line.end || declaration.end <= line.begin) continue;
      if (item.is_left_out && item.type == nullptr && leave_out_aliases(declaration)) return true;
      if (item.is_used && (found == nullptr || item.type != nullptr)) found = &item;
    }
    if (found == nullptr || !may_be_left_out(*found)) return false;
    found->is_left_out = true;
    // Without one of a template's definitions others would take its place.
    if (found->type == nullptr && begins_with(found->declaration.words, "template") && names_type(found->declaration))
      for (const std::string_view name : found->declaration.names)
        for (Item* other : items_[name])
          if (names_type(other->declaration) && may_be_left_out(*other)) other->is_left_out = true;
    return true;
  }

  /// Where the compiler stops at a stand-in, the name is an alias elsewhere.
  bool leave_out_aliases(const CodeDeclaration& declaration) {
    bool changed = false;
    for (const std::string_view name : declaration.names)
      for (Item* other : items_[name])
        if (other->is_used && is_alias(other->declaration) && !begins_with(other->declaration.words, "template"))
          changed = other->is_left_out = true;
    return changed;
  }

  bool may_be_left_out(const Item& item) {
    const Words& words = item.declaration.words;
    if (is_one_of("static_assert", words) && item.declaration.kind == Kind::other) return false;
    if (macros_.stand_for(words, "__global__") || begins_with(words, "enum")) return false;
    if (item.type != nullptr || item.declaration.kind == Kind::type) return true;
    for (const char* mark : {"__device__", "__constant__", "__managed__", "constexpr"})
      if (macros_.stand_for(words, mark)) return false;
    return true;
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
      if (!is_host_function(member, type)) {
        if (!is_alias(member) && !is_host_friend(member)) continue;
        text.items.push_back({std::move(member), &owner});
        owner.members.push_back(&text.items.back());
        continue;
      }
      std::erase_if(owner.declaration.words, [&](std::string_view word) {
        return word.data() >= text.text.data() + member.begin && word.data() < text.text.data() + member.end;
      });
      // No name calls constructors and operators alone: a kernel cannot.
      if (is_one_of("operator", member.words) || is_name_of(type, member)) member.names.clear();
      text.items.push_back({std::move(member), &owner});
      owner.members.push_back(&text.items.back());
    }
  }

  /// Words of a body do not count.
  bool begins_with(const Words& words, std::string_view word) const {
    if (words.empty()) return false;
    const bool has_prefix = words.size() > 1 && (words[0] == "typedef" || words[0] == "extern");
    return macros_.stand_for({words[has_prefix ? 1 : 0]}, word);
  }

  static bool is_alias(const CodeDeclaration& member) {
    return member.kind == Kind::named && (is_one_of("using", member.words) || is_one_of("typedef", member.words));
  }

  static bool names_type(const CodeDeclaration& declaration) {
    return declaration.kind == Kind::type || is_alias(declaration);
  }

  /// An alias or a friend: its type needs it, and other types have some by the same names.
  bool belongs_to_type(const Item& item) const {
    return item.type != nullptr && (is_alias(item.declaration) || begins_with(item.declaration.words, "friend"));
  }

  bool is_host_friend(const CodeDeclaration& member) {
    const Words& words = member.words;
    return begins_with(words, "friend") && !macros_.stand_for(words, "__device__") &&
           !macros_.stand_for(words, "constexpr");
  }

  static bool is_name_of(const CodeDeclaration& type, const CodeDeclaration& member) {
    return std::ranges::any_of(member.names, [&](std::string_view name) { return is_one_of(name, type.names); });
  }

  /// Not those that the compiler would write otherwise, as a copy then would be another.
  bool is_host_function(const CodeDeclaration& member, const CodeDeclaration& type) {
    const Words& words = member.words;
    if (member.kind != Kind::function || is_one_of("default", words) || is_one_of("delete", words)) return false;
    if (macros_.stand_for(words, "__device__") || macros_.stand_for(words, "constexpr")) return false;
    // A type with virtual functions has another size.
    if (is_one_of("friend", words) || is_one_of("virtual", words)) return false;
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
        if (declaration.kind == Kind::directive || belongs_to_type(item)) continue;
        if (item.type != nullptr && declaration.names.empty()) continue;
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
    if (item.is_used || item.is_left_out || (item.type != nullptr && !item.type->is_used)) return;
    item.is_used = true;
    if (item.declaration.kind == Kind::directive) return;
    // Its names stand for other declarations, too: overloads, members, what tells of it before.
    if (item.declaration.kind != Kind::other && !belongs_to_type(item))
      for (const std::string_view name : item.declaration.names) mention(name);
    for (const std::string_view word : item.declaration.words) mention(word);
    for (Item* member : item.members)
      if (belongs_to_type(*member) ||
          std::ranges::any_of(member->declaration.names, [&](auto name) { return mentioned_.contains(name); }))
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

  const KernelSource source_;
  CodeMacros macros_;
  std::list<Text> texts_;
  std::unordered_map<std::string_view, std::vector<Item*>> items_;
  std::unordered_set<std::string_view> types_;  // the names of types
  std::unordered_set<std::string_view> mentioned_;
  Words pending_;
};

UsedCode::UsedCode(KernelSource source) : finder_(std::make_unique<Finder>(std::move(source))) {}
UsedCode::UsedCode(UsedCode&& other) noexcept = default;
UsedCode::~UsedCode() = default;

KernelSource UsedCode::used() const {
  return finder_->used();
}

bool UsedCode::leave_out(std::string_view messages) {
  return finder_->leave_out(messages);
}

}  // namespace gpulua
