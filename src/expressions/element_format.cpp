#include "src/expressions/element_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace gpulua {

namespace {

/// Formats as the C locale does, whatever locale the host program has set.
std::string digits(double value, std::chars_format form, int decimals) {
  char text[400];  // 309 digits before the point, at most
  return {text, std::to_chars(text, text + sizeof text, value, form, decimals).ptr};
}

/// The common format of a column of real numbers.
class RealColumn {
 public:
  RealColumn(bool sign, int precision) : sign_(sign), precision_(precision) {}

  void add(double value) {
    if (!std::isfinite(value)) return;
    const std::string text = digits(std::abs(value), std::chars_format::scientific, precision_ - 1);
    const std::size_t e = text.find('e');
    const std::size_t last = text.find_last_not_of('0', e - 1);
    const int mantissa = last == 1 ? 0 : static_cast<int>(last) - 1;  // digits after the point
    const int exponent = std::stoi(text.substr(e + 1));
    mantissa_ = std::max(mantissa_, mantissa);
    exponent_width_ = std::max(exponent_width_, text.size() - e - 2);
    decimals_ = std::max(decimals_, mantissa - exponent);
    if (value != 0 && (std::abs(value) >= 1e8 || std::abs(value) < 1e-4)) exponents_ = true;
  }

  /// The text of a value. All values have been added before the first call.
  std::string text(double value) const {
    std::string sign = std::signbit(value) && !std::isnan(value) ? "-" : sign_ ? "+" : "";
    if (std::isnan(value)) return sign + "nan";
    if (std::isinf(value)) return sign + "inf";
    if (exponents_) return sign + with_exponent(std::abs(value));
    // Each number has only the digits that it needs; blanks fill the column.
    std::string text = digits(std::abs(value), std::chars_format::fixed, std::max(own_decimals(value), 0));
    const std::size_t point = text.find('.');
    const int fraction = point == text.npos ? -1 : static_cast<int>(text.size() - point - 1);
    const int most = decimals_ > 0 ? decimals_ : -1;
    return sign + text + std::string(static_cast<std::size_t>(most - fraction), ' ');
  }

 private:
  int own_decimals(double value) const {
    RealColumn alone(false, precision_);
    alone.add(value);
    return alone.decimals_;
  }

  std::string with_exponent(double value) const {
    std::string text = digits(value, std::chars_format::scientific, mantissa_);
    const std::size_t first = text.find('e') + 2;
    return text.insert(first, exponent_width_ - (text.size() - first), '0');
  }

  bool sign_;
  int precision_;
  bool exponents_ = false;
  int mantissa_ = 0;
  int decimals_ = 0;
  std::size_t exponent_width_ = 0;
};

void align_right(std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
}

/// One aligned column: real numbers, or the real or imaginary parts of complex ones.
template <class Part>
std::vector<std::string> column(const std::vector<Scalar>& elements, bool sign, int precision, const Part& part) {
  RealColumn numbers(sign, precision);
  for (const Scalar& element : elements) numbers.add(part(element));
  std::vector<std::string> texts;
  for (const Scalar& element : elements) texts.push_back(numbers.text(part(element)));
  align_right(texts);
  return texts;
}

std::vector<std::string> complex_texts(const std::vector<Scalar>& elements, int precision) {
  using Complex = std::complex<double>;
  const auto real = column(elements, false, precision, [](const Scalar& z) { return std::get<Complex>(z).real(); });
  const auto imaginary = column(elements, true, precision, [](const Scalar& z) { return std::get<Complex>(z).imag(); });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < real.size(); ++i) {
    // The i follows the last digit, before the blanks that fill the column.
    std::string text = imaginary[i];
    text.insert(text.find_last_not_of(' ') + 1, "i");
    texts.push_back(real[i] + text);
  }
  return texts;
}

}  // namespace

std::vector<std::string> aligned_texts(const std::vector<Scalar>& elements, int precision) {
  if (elements.empty()) return {};
  if (std::holds_alternative<double>(elements[0]))
    return column(elements, false, precision, [](const Scalar& number) { return std::get<double>(number); });
  if (std::holds_alternative<std::complex<double>>(elements[0])) return complex_texts(elements, precision);
  std::vector<std::string> texts;
  for (const Scalar& element : elements) texts.push_back(to_string(element));
  align_right(texts);
  return texts;
}

}  // namespace gpulua
