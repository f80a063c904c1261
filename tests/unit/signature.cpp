#include <array>
#include <string>

#include "src/base/error.h"
#include "src/device/signature.h"
#include "tests/catch.h"

using namespace gpulua;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;

namespace {

Parameter parse_one(const std::string& type) {
  const Signature signature = parse_signature(type);
  REQUIRE(signature.parameters.size() == 1);
  return signature.parameters[0];
}

void check_scalar(const std::string& type, DType dtype) {
  INFO(type);
  const Parameter value = parse_one(type);
  CHECK(value.kind == ParameterKind::scalar);
  CHECK(value.dtype == dtype);
  CHECK(value.size == size_of(dtype));
  CHECK(value.type == type);

  const Parameter pointer = parse_one(type + " const*");
  CHECK(pointer.kind == ParameterKind::pointer);
  CHECK(pointer.dtype == dtype);
  CHECK_FALSE(pointer.writable);
  CHECK(pointer.size == 8);
  CHECK(pointer.type == "const " + type + "*");
}

void check_vector(const std::string& type, DType dtype, int lanes, unsigned size) {
  INFO(type);
  const Parameter value = parse_one(type);
  CHECK(value.kind == ParameterKind::vector);
  CHECK(value.dtype == dtype);
  CHECK(value.lanes == lanes);
  CHECK(value.size == size);

  const Parameter pointer = parse_one(type + "*");
  CHECK(pointer.kind == ParameterKind::pointer);
  CHECK(pointer.dtype == dtype);
  CHECK(pointer.lanes == lanes);
  CHECK(pointer.writable);
}

}  // namespace

TEST_CASE("a signature without parameters", "[signature]") {
  CHECK(parse_signature("").parameters.empty());
  CHECK(parse_signature(" ").parameters.empty());
  CHECK(parse_signature("void").parameters.empty());
  CHECK(to_string("f", parse_signature("")) == "f()");
}

TEST_CASE("a signature as a demangler writes it", "[signature]") {
  const std::array<std::uint32_t, 10> sizes{4, 8, 8, 20, 8, 12, 12, 8, 8, 8};
  const Signature signature = parse_signature(
      "float, float const*, float const* const*, ns::P<int, (3>2)>, unsigned long, float3, std::array<int, 3>, void "
      "(*)(int, "
      "int), unsigned char**, double const (*) [4]",
      sizes);
  REQUIRE(signature.parameters.size() == 10);
  CHECK(
      to_string("k", signature) ==
      "k(float, const float*, const float* const*, ns::P<int, (3>2)>, unsigned long, float3, std::array<int, 3>, void "
      "(*)(int, int), unsigned char**, double const (*) [4])");

  const auto& parameters = signature.parameters;
  CHECK(parameters[2].kind == ParameterKind::pointer);
  CHECK(parameters[2].dtype == std::nullopt);
  CHECK_FALSE(parameters[2].writable);
  CHECK(parameters[3].kind == ParameterKind::record);
  CHECK(parameters[3].size == 20);
  CHECK(parameters[4].dtype == DType::uint64);
  CHECK(parameters[6].kind == ParameterKind::record);
  CHECK(parameters[7].kind == ParameterKind::pointer);
  CHECK(parameters[7].dtype == std::nullopt);
  CHECK_FALSE(parameters[7].writable);
  CHECK(parameters[8].writable);
  CHECK(parameters[8].dtype == std::nullopt);
  CHECK(parameters[9].dtype == DType::float64);
  CHECK_FALSE(parameters[9].writable);
}

TEST_CASE("scalars and pointers to them", "[signature]") {
  check_scalar("bool", DType::boolean);
  check_scalar("char", DType::int8);
  check_scalar("signed char", DType::int8);
  check_scalar("unsigned char", DType::uint8);
  check_scalar("short", DType::int16);
  check_scalar("unsigned short", DType::uint16);
  check_scalar("int", DType::int32);
  check_scalar("unsigned int", DType::uint32);
  check_scalar("long", DType::int64);
  check_scalar("unsigned long", DType::uint64);
  check_scalar("long long", DType::int64);
  check_scalar("unsigned long long", DType::uint64);
  check_scalar("float", DType::float32);
  check_scalar("double", DType::float64);
  check_scalar("__half", DType::float16);
  check_scalar("half", DType::float16);
  check_scalar("gpulua_half", DType::float16);
  check_scalar("__nv_bfloat16", DType::bfloat16);
  check_scalar("gpulua_bfloat16", DType::bfloat16);
  check_scalar("gpulua_complex<float>", DType::complex64);
  check_scalar("gpulua_complex<double>", DType::complex128);
  check_scalar("thrust::complex<float>", DType::complex64);
  check_scalar("thrust::THRUST_300000_SM_900_NS::complex<double>", DType::complex128);
  check_scalar("cuda::std::__4::complex<float>", DType::complex64);
  check_scalar("std::complex<double>", DType::complex128);
}

TEST_CASE("CUDA's vector types have CUDA's sizes", "[signature]") {
  for (int lanes = 1; lanes <= 4; ++lanes) {
    const std::string n = std::to_string(lanes);
    const auto count = static_cast<unsigned>(lanes);
    check_vector("char" + n, DType::int8, lanes, count);
    check_vector("uchar" + n, DType::uint8, lanes, count);
    check_vector("short" + n, DType::int16, lanes, 2 * count);
    check_vector("ushort" + n, DType::uint16, lanes, 2 * count);
    check_vector("int" + n, DType::int32, lanes, 4 * count);
    check_vector("uint" + n, DType::uint32, lanes, 4 * count);
    check_vector("long" + n, DType::int64, lanes, 8 * count);
    check_vector("ulong" + n, DType::uint64, lanes, 8 * count);
    check_vector("longlong" + n, DType::int64, lanes, 8 * count);
    check_vector("ulonglong" + n, DType::uint64, lanes, 8 * count);
    check_vector("float" + n, DType::float32, lanes, 4 * count);
    check_vector("double" + n, DType::float64, lanes, 8 * count);
  }
  check_vector("dim3", DType::uint32, 3, 12);
  check_vector("__half2", DType::float16, 2, 4);
  check_vector("double4_16a", DType::float64, 4, 32);
}

TEST_CASE("names that only look like CUDA's are records", "[signature]") {
  const std::array<std::uint32_t, 1> size{16};
  for (const char* type :
       {"ns::float3", "float5", "float0", "myconst", "P", "complex<float>", "ns::complex<float>", "4"}) {
    INFO(type);
    const Signature signature = parse_signature(type, size);
    CHECK(signature.parameters[0].kind == ParameterKind::record);
    CHECK(signature.parameters[0].type == type);
  }
}

TEST_CASE("what pointers point to", "[signature]") {
  CHECK(parse_one("void*").kind == ParameterKind::pointer);
  CHECK(parse_one("void*").dtype == std::nullopt);
  CHECK(parse_one("void*").writable);
  CHECK_FALSE(parse_one("void const*").writable);
  CHECK(parse_one("P*").dtype == std::nullopt);
  CHECK(parse_one("ns::Q<int, float> const*").type == "const ns::Q<int, float>*");
  CHECK(parse_one("float2 const*").lanes == 2);
  CHECK(parse_one("float const**").writable);
  CHECK(parse_one("float const**").type == "const float**");
  CHECK_FALSE(parse_one("float* const*").writable);
  CHECK(parse_one("float volatile*").type == "volatile float*");
  CHECK(parse_one("float volatile*").dtype == DType::float32);
  CHECK(parse_one("float (*) [3][4]").writable);
}

TEST_CASE("qualifiers of the parameter itself are dropped", "[signature]") {
  CHECK(parse_one("float const* __restrict__").type == "const float*");
  CHECK(parse_one("const float* restrict").dtype == DType::float32);
  CHECK_FALSE(parse_one("const float* __restrict__").writable);
  CHECK(parse_one("float* const").type == "float*");
  CHECK(parse_one("float* const").writable);
  CHECK(parse_one("int const").type == "int");
}

TEST_CASE("sizes that do not fit the types", "[signature]") {
  const std::array<std::uint32_t, 1> four{4};
  CHECK_THROWS_MATCHES(parse_signature("double", four), Error,
                       Message("[kernel] expected a parameter of type double to take 8 bytes, got 4"));
  CHECK_THROWS_MATCHES(parse_signature("int, int", four), Error,
                       Message("[kernel] expected the sizes of 2 parameters (int, int), got 1"));
  CHECK_THROWS_MATCHES(parse_signature("P"), Error,
                       Message("[kernel] expected the size of the parameter of type P, got none"));
  CHECK_THROWS_WITH(parse_signature("int, float const&"), ContainsSubstring("got a reference: float const&"));
}

TEST_CASE("parameters without types are shown by their sizes", "[signature]") {
  Signature signature;
  signature.parameters.resize(2);
  signature.parameters[0].size = 8;
  signature.parameters[1].size = 4;
  CHECK(to_string("k", signature) == "k(8 bytes, 4 bytes)");
}
