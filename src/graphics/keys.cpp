#include "src/graphics/keys.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace gpulua {
namespace {

constexpr NamedKey keys[] = {
    {"space", GLFW_KEY_SPACE},
    {"return", GLFW_KEY_ENTER},
    {"escape", GLFW_KEY_ESCAPE},
    {"tab", GLFW_KEY_TAB},
    {"backspace", GLFW_KEY_BACKSPACE},
    {"insert", GLFW_KEY_INSERT},
    {"delete", GLFW_KEY_DELETE},
    {"left", GLFW_KEY_LEFT},
    {"right", GLFW_KEY_RIGHT},
    {"up", GLFW_KEY_UP},
    {"down", GLFW_KEY_DOWN},
    {"pageup", GLFW_KEY_PAGE_UP},
    {"pagedown", GLFW_KEY_PAGE_DOWN},
    {"home", GLFW_KEY_HOME},
    {"end", GLFW_KEY_END},
    {"lshift", GLFW_KEY_LEFT_SHIFT},
    {"rshift", GLFW_KEY_RIGHT_SHIFT},
    {"lctrl", GLFW_KEY_LEFT_CONTROL},
    {"rctrl", GLFW_KEY_RIGHT_CONTROL},
    {"lalt", GLFW_KEY_LEFT_ALT},
    {"ralt", GLFW_KEY_RIGHT_ALT},
    {"f1", GLFW_KEY_F1},
    {"f2", GLFW_KEY_F2},
    {"f3", GLFW_KEY_F3},
    {"f4", GLFW_KEY_F4},
    {"f5", GLFW_KEY_F5},
    {"f6", GLFW_KEY_F6},
    {"f7", GLFW_KEY_F7},
    {"f8", GLFW_KEY_F8},
    {"f9", GLFW_KEY_F9},
    {"f10", GLFW_KEY_F10},
    {"f11", GLFW_KEY_F11},
    {"f12", GLFW_KEY_F12},
    {"-", GLFW_KEY_MINUS},
    {"=", GLFW_KEY_EQUAL},
    {",", GLFW_KEY_COMMA},
    {".", GLFW_KEY_PERIOD},
    {"/", GLFW_KEY_SLASH},
    {";", GLFW_KEY_SEMICOLON},
    {"[", GLFW_KEY_LEFT_BRACKET},
    {"]", GLFW_KEY_RIGHT_BRACKET},
};

}  // namespace

std::span<const NamedKey> named_keys() {
  return keys;
}

int find_key(std::string_view name) {
  if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'z') return GLFW_KEY_A + (name[0] - 'a');
  if (name.size() == 1 && name[0] >= '0' && name[0] <= '9') return GLFW_KEY_0 + (name[0] - '0');
  for (const NamedKey& key : keys)
    if (key.name == name) return key.code;
  return -1;
}

}  // namespace gpulua
