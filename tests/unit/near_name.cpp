#include <string>
#include <vector>

#include "src/base/near_name.h"
#include "tests/catch.h"

using namespace gpulua;

TEST_CASE("an edit is a letter put in, left out, replaced, or exchanged with its neighbour", "[near_name]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "sum") == 3);
  CHECK(edit_distance("sum", "sum") == 0);
  CHECK(edit_distance("sume", "sum") == 1);
  CHECK(edit_distance("su", "sum") == 1);
  CHECK(edit_distance("som", "sum") == 1);
  CHECK(edit_distance("smu", "sum") == 1);
  CHECK(edit_distance("haspe", "shape") == 2);
  CHECK(edit_distance("axis", "device") == 5);
  CHECK(edit_distance("keepDims", "keepdims") == 0);
}

TEST_CASE("the distance is the same in both directions", "[near_name]") {
  const std::vector<std::string> names{"", "a", "ab", "ba", "sum", "cumsum", "nansum", "muscmu", "take_along_axis"};
  for (const std::string& a : names)
    for (const std::string& b : names) {
      CAPTURE(a, b);
      CHECK(edit_distance(a, b) == edit_distance(b, a));
      CHECK((edit_distance(a, b) == 0) == (a == b));
    }
}

TEST_CASE("the nearest name is asked about", "[near_name]") {
  const std::vector<std::string> names{"shape", "size", "sum", "nansum", "concat", "keepdims", "lt", "le"};
  CHECK(did_you_mean("shpe", names) == "; did you mean \"shape\"?");
  CHECK(did_you_mean("sume", names) == "; did you mean \"sum\"?");
  CHECK(did_you_mean("nansums", names) == "; did you mean \"nansum\"?");
  CHECK(did_you_mean("keep_dims", names) == "; did you mean \"keepdims\"?");
  CHECK(did_you_mean("Shape", names) == "; did you mean \"shape\"?");
}

TEST_CASE("a letter typed twice, or once in place of twice, is asked about in short names, too", "[near_name]") {
  const std::vector<std::string> names{"f", "dt", "yy"};
  CHECK(did_you_mean("ff", names) == "; did you mean \"f\"?");
  CHECK(did_you_mean("dtt", names) == "; did you mean \"dt\"?");
  CHECK(did_you_mean("ddt", names) == "; did you mean \"dt\"?");
  CHECK(did_you_mean("y", names) == "; did you mean \"yy\"?");
  CHECK(did_you_mean("fx", names).empty());
  CHECK(did_you_mean("x", names).empty());
  CHECK(did_you_mean("td", names).empty());
}

TEST_CASE("a name that most of the unknown one begins with is near", "[near_name]") {
  const std::vector<std::string> names{"concat", "con", "median"};
  CHECK(did_you_mean("concatenate", names) == "; did you mean \"concat\"?");
  CHECK(did_you_mean("med", names) == "; did you mean \"median\"?");
}

TEST_CASE("what is not near is not asked about", "[near_name]") {
  const std::vector<std::string> names{"lt", "le", "sum", "device"};
  CHECK(did_you_mean("xs", names).empty());  // of two letters every name is an edit away
  CHECK(did_you_mean("min", names).empty());
  CHECK(did_you_mean("", names).empty());
  CHECK(did_you_mean(std::string(1000, 'a'), std::vector{std::string(1001, 'a')}).empty());
  CHECK(did_you_mean("sum", std::vector<std::string>{}).empty());
}

TEST_CASE("of names as near the first in the alphabet is asked about, in whatever order they come", "[near_name]") {
  CHECK(did_you_mean("cumsun", std::vector<std::string>{"cumsux", "cumsum"}) == "; did you mean \"cumsum\"?");
  CHECK(did_you_mean("cumsun", std::vector<std::string>{"cumsum", "cumsux"}) == "; did you mean \"cumsum\"?");
}

TEST_CASE("another spelling of a name asks about the name", "[near_name]") {
  NearName near("dubble");
  near.offer("double", "float64");
  near.offer("bool");
  CHECK(near.name() == "float64");
}
