// The parser in sandboxes: texts that take it long end at the deadline.

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/embed/api.h"

namespace {

gpulua_options sandbox_options() {
  gpulua_options options = options_with(GPULUA_SANDBOX);
  options.device = "cpu";
  return options;
}

/// A table constructor of `size` bytes whose keys all have one place in LuaJIT's hash table, up to 2^20 places: the
/// inverse of hashrot() of lj_tab.h.
std::string colliding_keys(std::size_t size) {
  const std::uint32_t low = 0x12345678;
  std::string text = "return {";
  for (std::uint32_t i = 0; text.size() < size; ++i) {
    const std::uint32_t first = low + i / 4096, last = (i % 4096) << 20;
    const std::uint32_t high = std::rotr((std::rotl(first, 13) + last) ^ first, 19);
    if (high % 2 != 0) continue;  // the sign is not in it
    const std::uint32_t word = (first + std::rotl(high, 14)) ^ high;
    const double key = std::bit_cast<double>(std::uint64_t{high / 2} << 32 | word);
    if (!std::isfinite(key)) continue;
    char entry[40];
    std::snprintf(entry, sizeof entry, "[%.17g]=1,", key);
    text += entry;
  }
  return text + "}";
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("the parser stops at the deadline", "[sandbox]") {
  ApiState state(sandbox_options());
  const std::string keys = colliding_keys(1'000'000);
  const gpulua_value text = text_value(keys.c_str());
  REQUIRE(gpulua_set(state.get(), "text", &text) == GPULUA_OK);
  for (const char* script :
       {"local f = load(text)", "while true do pcall(load, text) end",
        "local at = 0 local f = load(function() at = at + 1 return at == 1 and text or nil end)"}) {
    INFO(script);
    gpulua_function* function = nullptr;
    REQUIRE(gpulua_load(state.get(), script, std::strlen(script), "script.lua", &function) == GPULUA_OK);
    const auto start = std::chrono::steady_clock::now();
    CHECK(gpulua_call(function, nullptr, 0, nullptr, nullptr, 50) == GPULUA_DEADLINE);
    CHECK(milliseconds_since(start) < 2000);  // no test of speed: without a deadline it takes several seconds
    CHECK(state.error().find("the call's deadline of ") != std::string::npos);
    CHECK(state.run("assert(load('return 7')() == 7)") == GPULUA_OK);
    gpulua_function_release(function);
  }
}

TEST_CASE("gpulua_load ends after a second in a sandbox, and gpulua_run with an interrupt", "[sandbox]") {
  ApiState state(sandbox_options());
  const std::string keys = colliding_keys(2'000'000);
  gpulua_function* function = nullptr;
  CHECK(gpulua_load(state.get(), keys.data(), keys.size(), "keys.lua", &function) == GPULUA_DEADLINE);
  CHECK(state.error() == "the call's deadline of 1000 ms has passed");
  CHECK(function == nullptr);

  gpulua_status status = GPULUA_OK;
  std::atomic<bool> has_ended{false};
  std::thread program([&] {
    status = state.run(keys);
    has_ended = true;
  });
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  interrupt_until(state.get(), has_ended);
  program.join();
  CHECK(status == GPULUA_INTERRUPTED);
  CHECK(milliseconds_since(start) < 4000);
  CHECK(state.run("assert(load('return 7')() == 7)") == GPULUA_OK);
}

TEST_CASE("texts of several pieces parse as one", "[sandbox]") {
  ApiState state(sandbox_options());
  std::string long_text = "local t = {} --[==[" + std::string(3000, 'x') + "]==] ";
  for (int i = 1; i <= 2000; ++i) long_text += "t[" + std::to_string(i) + "] = 'number " + std::to_string(i) + "'\n";
  long_text += "count, last = #t, t[#t]";
  REQUIRE(state.run(long_text) == GPULUA_OK);
  CHECK(state.number("count") == 2000);
  CHECK(state.text("last") == "number 2000");
  CHECK(state.run(long_text + " = = 1") == GPULUA_SYNTAX);
  CHECK(state.error().find("script.lua:2001:") == 0);
}
