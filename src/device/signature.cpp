#include "src/device/signature.h"

#include <algorithm>
#include <cctype>

#include "src/base/characters.h"
#include "src/base/error.h"

namespace gpulua {
namespace {

struct NamedType {
  std::string_view name;
  DType dtype;
};

// As both demanglers write them. `long` has 64 bits wherever CUDA runs on Linux.
constexpr NamedType scalar_types[] = {
    {"bool", DType::boolean},
    {"char", DType::int8},
    {"signed char", DType::int8},
    {"unsigned char", DType::uint8},
    {"char8_t", DType::uint8},
    {"short", DType::int16},
    {"unsigned short", DType::uint16},
    {"char16_t", DType::uint16},
    {"int", DType::int32},
    {"wchar_t", DType::int32},
    {"unsigned int", DType::uint32},
    {"unsigned", DType::uint32},
    {"char32_t", DType::uint32},
    {"long", DType::int64},
    {"long long", DType::int64},
    {"unsigned long", DType::uint64},
    {"unsigned long long", DType::uint64},
    {"float", DType::float32},
    {"double", DType::float64},
    {"half", DType::float16},
    {"__half", DType::float16},
    {"gpulua_half", DType::float16},
    {"__nv_bfloat16", DType::bfloat16},
    {"gpulua_bfloat16", DType::bfloat16},
    {"gpulua_complex<float>", DType::complex64},
    {"gpulua_complex<double>", DType::complex128},
};

// CUDA's vector types are these names with the number of lanes, 1 to 4.
constexpr NamedType vector_types[] = {
    {"char", DType::int8},      {"uchar", DType::uint8},      {"short", DType::int16},   {"ushort", DType::uint16},
    {"int", DType::int32},      {"uint", DType::uint32},      {"long", DType::int64},    {"ulong", DType::uint64},
    {"longlong", DType::int64}, {"ulonglong", DType::uint64}, {"float", DType::float32}, {"double", DType::float64},
};

/// What a type is once its qualifiers and pointers are off; without a dtype it is a record, or void.
struct Element {
  std::optional<DType> dtype;
  std::uint8_t lanes = 1;
  bool vector = false;  // float1 has one lane too
};

template <std::size_t N>
std::optional<DType> find(const NamedType (&types)[N], std::string_view name) {
  const auto* found =
      std::find_if(std::begin(types), std::end(types), [&](const NamedType& t) { return t.name == name; });
  return found != std::end(types) ? std::optional(found->dtype) : std::nullopt;
}

/// thrust::, cuda::std:: and std:: put complex into inline namespaces of their own: "cuda::std::__4::complex<float>".
std::optional<DType> find_complex(std::string_view name) {
  if (!name.starts_with("thrust::") && !name.starts_with("cuda::std::") && !name.starts_with("std::"))
    return std::nullopt;
  if (name.ends_with("::complex<float>")) return DType::complex64;
  if (name.ends_with("::complex<double>")) return DType::complex128;
  return std::nullopt;
}

Element element(std::string_view name) {
  if (auto dtype = find(scalar_types, name)) return {dtype};
  if (auto dtype = find_complex(name)) return {dtype};
  if (name == "dim3") return {DType::uint32, 3, true};
  if (name == "__half2") return {DType::float16, 2, true};
  if (name == "__nv_bfloat162") return {DType::bfloat16, 2, true};
  // CUDA 13 has double4_16a and double4_32a, by alignment, and so for the other vectors of four 64-bit lanes.
  if (name.ends_with("4_16a") || name.ends_with("4_32a")) name.remove_suffix(4);
  if (name.size() > 1 && name.back() >= '1' && name.back() <= '4')
    if (auto dtype = find(vector_types, name.substr(0, name.size() - 1)))
      return {dtype, static_cast<std::uint8_t>(name.back() - '0'), true};
  return {};
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool drop_last_word(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  const std::size_t rest = text.size() - word.size();
  if (rest > 0 && is_identifier(text[rest - 1])) return false;
  text = trim(text.substr(0, rest));
  return true;
}

bool drop_first_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size() || text[word.size()] != ' ') return false;
  text = trim(text.substr(word.size()));
  return true;
}

struct Qualifiers {
  bool is_const = false, is_volatile = false;
};

/// Takes the qualifiers that follow a type off it. restrict says nothing that matters here.
Qualifiers drop_trailing_qualifiers(std::string_view& type) {
  Qualifiers result;
  for (;;) {
    if (drop_last_word(type, "const"))
      result.is_const = true;
    else if (drop_last_word(type, "volatile"))
      result.is_volatile = true;
    else if (!drop_last_word(type, "__restrict__") && !drop_last_word(type, "__restrict") &&
             !drop_last_word(type, "restrict"))
      return result;
  }
}

/// As drop_trailing_qualifiers; those before it too where the type is no pointer.
Qualifiers drop_qualifiers(std::string_view& type) {
  Qualifiers result = drop_trailing_qualifiers(type);
  if (type.ends_with('*')) return result;
  for (;;) {
    if (drop_first_word(type, "const"))
      result.is_const = true;
    else if (drop_first_word(type, "volatile"))
      result.is_volatile = true;
    else
      return result;
  }
}

/// The type as programmers write it: "float const* const*" is "const float* const*".
std::string spell(std::string_view type) {
  const Qualifiers qualifiers = drop_qualifiers(type);
  if (type.ends_with('*')) {
    std::string result = spell(trim(type.substr(0, type.size() - 1))) + "*";
    if (qualifiers.is_const) result += " const";
    if (qualifiers.is_volatile) result += " volatile";
    return result;
  }
  std::string result;
  if (qualifiers.is_const) result += "const ";
  if (qualifiers.is_volatile) result += "volatile ";
  return result.append(type);
}

/// The position of the "(*" of a pointer to a function or an array: "void (*)(int)", "float (*) [4]".
std::optional<std::size_t> find_pointer_declarator(std::string_view type) {
  if (!type.ends_with(')') && !type.ends_with(']')) return std::nullopt;
  const std::size_t at = type.find("(*");
  return at != std::string_view::npos ? std::optional(at) : std::nullopt;
}

void describe_pointee(std::string_view pointee, Parameter& parameter) {
  parameter.writable = !drop_qualifiers(pointee).is_const;
  const Element of = element(pointee);
  parameter.dtype = of.dtype;
  parameter.lanes = of.lanes;
}

Parameter parse_parameter(std::string_view type) {
  // What follows the value itself is the callee's business: "float* const" is passed as "float*" is.
  drop_qualifiers(type);
  Parameter parameter;
  parameter.type = spell(type);
  if (type.ends_with('&'))
    throw Error("[kernel] expected parameters passed by value or by pointer, got a reference: {}", parameter.type);

  if (type.ends_with('*')) {
    parameter.kind = ParameterKind::pointer;
    parameter.size = sizeof(void*);
    describe_pointee(trim(type.substr(0, type.size() - 1)), parameter);
  } else if (auto declarator = find_pointer_declarator(type)) {
    parameter.kind = ParameterKind::pointer;
    parameter.size = sizeof(void*);
    if (type.ends_with(']')) describe_pointee(trim(type.substr(0, *declarator)), parameter);
  } else if (const Element value = element(type); value.dtype) {
    parameter.kind = value.vector ? ParameterKind::vector : ParameterKind::scalar;
    parameter.dtype = value.dtype;
    parameter.lanes = value.lanes;
    parameter.size = static_cast<std::uint32_t>(size_of(*value.dtype) * value.lanes);
  } else {
    parameter.kind = ParameterKind::record;
  }
  return parameter;
}

/// Splits at the commas outside of all brackets.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> result;
  std::string open;  // the brackets that are open; within (...), > may be an operator of a template argument
  std::size_t start = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      open += c;
    } else if (c == '>') {
      if (open.ends_with('<')) open.pop_back();
    } else if (c == ')' || c == ']' || c == '}') {
      const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (const std::size_t at = open.rfind(partner); at != std::string::npos) open.resize(at);
    } else if (c == ',' && open.empty()) {
      result.push_back(trim(list.substr(start, i - start)));
      start = i + 1;
    }
  }
  result.push_back(trim(list.substr(start)));
  return result;
}

void settle_size(Parameter& parameter, std::uint32_t size) {
  if (parameter.kind != ParameterKind::record && parameter.size != size)
    throw Error("[kernel] expected a parameter of type {} to take {} bytes, got {}", parameter.type, parameter.size,
                size);
  parameter.size = size;
}

}  // namespace

Signature parse_signature(std::string_view parameters, std::span<const std::uint32_t> sizes) {
  Signature signature;
  parameters = trim(parameters);
  if (!parameters.empty() && parameters != "void")
    for (std::string_view type : split(parameters)) signature.parameters.push_back(parse_parameter(type));

  if (sizes.empty()) {
    for (const Parameter& parameter : signature.parameters)
      if (parameter.kind == ParameterKind::record)
        throw Error("[kernel] expected the size of the parameter of type {}, got none", parameter.type);
    return signature;
  }
  if (sizes.size() != signature.parameters.size())
    throw Error("[kernel] expected the sizes of {} parameters ({}), got {}", signature.parameters.size(), parameters,
                sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) settle_size(signature.parameters[i], sizes[i]);
  return signature;
}

std::string to_string(std::string_view name, const Signature& signature) {
  std::string result(name);
  result += '(';
  for (const Parameter& parameter : signature.parameters) {
    if (result.back() != '(') result += ", ";
    result += parameter.kind == ParameterKind::unknown ? std::to_string(parameter.size) + " bytes" : parameter.type;
  }
  return result += ')';
}

}  // namespace gpulua
