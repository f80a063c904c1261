// printf and other functions that read strings.

#include <cstdio>
#include <string_view>

#include "src/device/cpu/check/launch_check.h"

namespace gpulua::cpu {
namespace {

/// A conversion of printf's format, without its "%".
struct Conversion {
  bool has_width = false, has_precision = false;  // as arguments of their own: "*"
  std::size_t precision = SIZE_MAX;               // as the format gives it
  std::string_view length;
  char kind = 0;  // 0: none that is known
  const char* end = nullptr;
};

Conversion read_conversion(const char* at) {
  Conversion result;
  const auto skip = [&](std::string_view set) {
    while (*at != 0 && set.find(*at) != std::string_view::npos) ++at;
  };
  const auto star = [&] { return *at == '*' ? (++at, true) : false; };
  skip("-+ #0");
  result.has_width = star();
  skip("0123456789");
  if (*at == '.') {
    ++at;
    result.has_precision = star();
    if (!result.has_precision) result.precision = 0;
    for (; *at >= '0' && *at <= '9'; ++at)
      if (result.precision < SIZE_MAX / 16)
        result.precision = result.precision * 10 + static_cast<std::size_t>(*at - '0');
  }
  const char* length = at;
  skip("hlzjtL");
  result.length = {length, at};
  constexpr std::string_view kinds = "%csdiuxXopfFeEgGaA", lengths[] = {"", "h", "hh", "l", "ll", "z", "j", "t", "L"};
  for (const std::string_view known : lengths)
    if (known == result.length && *at != 0 && kinds.find(*at) != std::string_view::npos) result.kind = *at;
  if ((result.kind == 's' || result.kind == 'c') && !result.length.empty()) result.kind = 0;  // wide characters
  result.end = at + (*at != 0);
  return result;
}

}  // namespace

void LaunchCheck::check_text(ThreadContext& context, const char* text, const CheckedSite& site, std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    check({context, text, text + i, 1, 0, site});
    if (text[i] == 0) return;
  }
}

int LaunchCheck::print(void* launch, ThreadContext* context, const CheckedSite* site, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  static_cast<LaunchCheck*>(launch)->check_print(*context, *site, format, arguments);
  va_end(arguments);
  va_start(arguments, format);
  const int count = std::vprintf(format, arguments);
  va_end(arguments);
  return count;
}

void LaunchCheck::check_print(ThreadContext& context, const CheckedSite& site, const char* format,
                              std::va_list arguments) {
  check_text(context, format, site);
  for (const char* at = format; *at != 0;) {
    if (*at++ != '%') continue;
    Conversion conversion = read_conversion(at);
    if (conversion.has_width) va_arg(arguments, int);
    if (conversion.has_precision) {
      const int precision = va_arg(arguments, int);
      conversion.precision = precision < 0 ? SIZE_MAX : static_cast<std::size_t>(precision);
    }
    switch (conversion.kind) {
      case 0:
        report(diagnose(context, site,
                        "printf knows no conversion '%" + std::string(at, conversion.end) + "' in a checked kernel"));
      case '%':
        break;
      case 's':
        check_text(context, va_arg(arguments, const char*), site, conversion.precision);
        break;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        if (conversion.length == "L")
          va_arg(arguments, long double);
        else
          va_arg(arguments, double);
        break;
      default:
        va_arg(arguments, long);  // a smaller one takes as much room
    }
    at = conversion.end;
  }
}

}  // namespace gpulua::cpu
