
#include "src/base/error.h"
#include "src/device/cuda/cuda_graph.h"
#include "src/device/cuda/compiler/ptx.h"
#include "src/device/cuda/compiler/symbol_name.h"
#include "tests/catch.h"

using namespace gpulua;
using namespace gpulua::cuda;

TEST_CASE("PTX: parameters of entries", "[cuda][ptx]") {
  const PtxModule module = parse_ptx(R"(
.version 9.0
.target sm_90
.address_size 64
// .entry in_a_comment(
/* .entry in_another( */
.visible .entry k(
	.param .f32 k_param_0,
	.param .u64 .ptr .global .align 1 k_param_1,
	.param .align 8 .b8 k_param_2[24],
	.param .u8 k_param_3
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .f32 	%f<2>;
	{ .param .b32 param0; call.uni helper, (param0); }
	ret;
}
.weak .entry none()
{
	ret;
}
)");
  REQUIRE(module.entries.size() == 2);
  CHECK(module.entries[0].symbol == "k");
  const auto& parameters = module.entries[0].parameters;
  REQUIRE(parameters.size() == 4);
  CHECK(parameters[0].type == ".f32");
  CHECK(parameters[0].size == 4);
  CHECK(parameters[0].alignment == 4);
  CHECK_FALSE(parameters[0].array);
  CHECK(parameters[1].size == 8);
  CHECK(parameters[1].alignment == 8);
  CHECK(parameters[2].size == 24);
  CHECK(parameters[2].alignment == 8);
  CHECK(parameters[2].array);
  CHECK(parameters[3].size == 1);
  CHECK(module.entries[1].symbol == "none");
  CHECK(module.entries[1].parameters.empty());
}

TEST_CASE("PTX: variables of the module", "[cuda][ptx]") {
  const PtxModule module = parse_ptx(R"(
.const .align 4 .b8 coef[16];
.visible .global .align 4 .u32 counter = 7;
.global .align 8 .b8 table[24] = {1, 0, {2, 3}, 0xff, generic(counter)};
.global .attribute(.managed) .align 4 .u32 managed;
.global .align 16 .v4 .f32 lanes[2];
.global .align 4 .f32 grid[4][3], other;
.extern .global .align 4 .u32 elsewhere;
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 fixed[64];
.global .texref texture;
.extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 r) helper(.param .b32 x) { .local .align 4 .b8 stack[8]; ret; }
.section .debug_str { .b8 1, 2, 3 }
.global .align 1 .b8 last[3];
)");
  const auto bytes_of = [&](const std::string& symbol) -> long {
    for (const PtxGlobal& global : module.globals)
      if (global.symbol == symbol) return static_cast<long>(global.bytes);
    return -1;
  };
  CHECK(bytes_of("coef") == 16);
  CHECK(bytes_of("counter") == 4);
  CHECK(bytes_of("table") == 24);
  CHECK(bytes_of("managed") == 4);
  CHECK(bytes_of("lanes") == 32);
  CHECK(bytes_of("grid") == 48);
  CHECK(bytes_of("other") == 4);
  CHECK(bytes_of("texture") == 8);
  CHECK(bytes_of("last") == 3);
  CHECK(module.globals.size() == 9);
  CHECK(module.globals[0].space == PtxSpace::constant);
  CHECK(module.globals[1].space == PtxSpace::global);
}

TEST_CASE("PTX that is cut off is an error, not a hang", "[cuda][ptx]") {
  CHECK_THROWS_AS(parse_ptx(".visible .entry k(\n.param .f32"), Error);
  CHECK_THROWS_AS(parse_ptx(".global .align 4 .b8 x[3] = {1, 2"), Error);
  CHECK_THROWS_AS(parse_ptx(".visible .entry k() { ret;"), Error);
  CHECK(parse_ptx("/").entries.empty());
  CHECK(parse_ptx("/* open").entries.empty());
  CHECK(parse_ptx("").entries.empty());
}

TEST_CASE("names and parameters of symbols", "[cuda][ptx]") {
  CHECK(read_symbol("_Z5saxpyfPKf").name == "saxpy");
  CHECK(read_symbol("_Z5saxpyfPKf").parameters == "float, float const*");
  CHECK(read_symbol("_ZN2ns4axpyIfEEvT_PS1_").name == "ns::axpy<float>");
  CHECK(read_symbol("_ZN2ns4axpyIfEEvT_PS1_").parameters == "float, float*");
  CHECK(read_symbol("_ZN2ns3accE").name == "ns::acc");
  CHECK_FALSE(read_symbol("_ZN2ns3accE").parameters);
  CHECK(read_symbol("coef").name == "coef");
  CHECK_FALSE(read_symbol("coef").parameters);
  CHECK(read_symbol("_Z1kv").parameters == "");
  // A pointer to a function: the parameter list is the last pair of parentheses at the outside.
  CHECK(read_symbol("_Z1kPFviEi").name == "k");
  CHECK(read_symbol("_Z1kPFviEi").parameters == "void (*)(int), int");
  CHECK(read_symbol("_ZN12_GLOBAL__N_14anonE").name == "anon");
  CHECK(read_symbol("_ZN35_INTERNAL_00000000_5_s_lua_43acf5a837_GLOBAL__N__00000000_5_s_lua_43acf5a84anonE").name ==
        "anon");
  CHECK(template_argument("_Z16gpulua_signatureIFvfPKfhEEvv") == "void (float, float const*, unsigned char)");
  CHECK(template_argument("_Z16gpulua_signatureIA4_A3_fEvv") == "float [4][3]");
}

TEST_CASE("PTX: sizes that pass what memory has are refused", "[cuda][ptx]") {
  for (const char* extents :
       {"[4294967296][4294967296]", "[18446744073709551615]", "[9007199254740993]", "[2147483648][2147483648][4]"}) {
    CHECK_THROWS_AS(parse_ptx(std::string(".global .align 4 .b8 x") + extents + ";"), Error);
    CHECK_THROWS_AS(parse_ptx(std::string(".visible .entry k(.param .align 4 .b8 p") + extents + ") {}"), Error);
  }
  CHECK_THROWS_AS(parse_ptx(".visible .entry k(.param .align 4 .b8 p[4294967296]) {}"), Error);
  CHECK(parse_ptx(".global .f32 x[2][1099511627776];").globals.at(0).bytes == std::uint64_t{1} << 43);
  CHECK(parse_ptx(".visible .entry k(.param .f16x2 p) {}").entries.at(0).parameters.at(0).size == 4);
  // A type of a million pairs is none; nor does it take a million calls to see that.
  std::string pairs = ".f16";
  for (int i = 0; i < 1'000'000; ++i) pairs += "x2";
  CHECK(parse_ptx(".visible .entry k(.param " + pairs + " p) {}").entries.at(0).parameters.at(0).size == 0);
}

TEST_CASE("PTX: the module that gives a loop its condition has one kernel, of a handle and an address", "[cuda][ptx]") {
  const PtxModule module = parse_ptx(condition_module);
  REQUIRE(module.entries.size() == 1);
  CHECK(module.entries[0].symbol == "set_condition");
  REQUIRE(module.entries[0].parameters.size() == 2);
  for (const PtxParameter& parameter : module.entries[0].parameters) CHECK(parameter.size == 8);
}
