#include "src/exchange/shared_handle.h"

#include <string>

#include "src/base/error.h"
#include "src/base/sha256.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

SharedHandle make_handle() {
  SharedHandle handle;
  handle.process = {"0e1-machine", 4026531836, 77, 123456};
  handle.device = "cuda:3";
  handle.hardware = "00112233445566778899aabbccddeeff";
  handle.dtype = DType::complex64;
  handle.layout = {{2, 3}, {-3, 1}, 5};
  handle.bytes = 1024;
  handle.place = {77, 12, 99887766};
  return handle;
}

std::string refusal(std::string_view text) {
  try {
    parse_shared_handle(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// A text with a digest of its own.
std::string with_digest(const std::string& text) {
  return text + sha256(text).substr(0, 16);
}

std::string replaced(std::string text, const std::string& part, const std::string& instead) {
  text.resize(text.size() - 16);
  text.replace(text.find(part), part.size(), instead);
  return with_digest(text);
}

constexpr const char* changed =
    "[from_ipc] expected a text of x:ipc_handle(), whole and as it was, got one that was changed";

}  // namespace

TEST_CASE("a handle's text has all of the handle", "[shared_handle]") {
  for (const bool has_axes : {true, false}) {
    SharedHandle handle = make_handle();
    if (!has_axes) handle.layout = {{}, {}, 0};
    const SharedHandle same = parse_shared_handle(to_text(handle) + "\n");
    CHECK(same.process == handle.process);
    CHECK(same.device == handle.device);
    CHECK(same.hardware == handle.hardware);
    CHECK(same.dtype == handle.dtype);
    CHECK(same.layout.shape == handle.layout.shape);
    CHECK(same.layout.strides == handle.layout.strides);
    CHECK(same.layout.offset == handle.layout.offset);
    CHECK(same.bytes == handle.bytes);
    CHECK(same.place == handle.place);
  }
}

TEST_CASE("a handle's text that makes no sense is refused", "[shared_handle]") {
  const std::string text = to_text(make_handle());
  REQUIRE(refusal(text).empty());
  CHECK(refusal(replaced(text, "array:1/", "array:2/")) ==
        "[from_ipc] expected a handle of format 1, got one of format 2: both processes need gpulua of one version");
  CHECK(refusal(replaced(text, "/2,3/", "/2,3,4/")) == changed);
  CHECK(refusal(replaced(text, "/2,3/", "/2,x/")) == changed);
  CHECK(refusal(replaced(text, "/5/", "/126/")) == changed);  // elements behind the block
  CHECK(refusal(replaced(text, "/5/", "/2/")) == changed);    // and before it
  CHECK(refusal(replaced(text, "/-3,1/", "/-9223372036854775807,1/")) == changed);
  CHECK(refusal(replaced(text, "/77/", "/77/0/")) == changed);
  CHECK(refusal(with_digest("gpulua-array:1/")) == changed);
  CHECK(refusal(replaced(text, "complex64", "complex65")).find("complex65") != std::string::npos);
  CHECK(refusal("gpulua-array:") == changed);
  CHECK(refusal("") == "[from_ipc] expected a text of x:ipc_handle(), got \"\"");
}
