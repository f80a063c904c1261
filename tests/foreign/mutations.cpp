// Mutated CSV files for the reader, under AddressSanitizer and UBSan: see mutations.sh. Each file lies in memory of its
// exact size.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "src/base/error.h"
#include "src/files/csv.h"

namespace {

const std::string whole[] = {
    "id,price,ok,city\n1,2.5,true,Oslo\n2,,false,\"New \"\"York\"\", NY\"\n3,1e-3,true,Bern\n",
    "\xEF\xBB\xBF\"a\",b\r\n\"1\",0.1\r\n\r\n2,18446744073709551615\r\n\"x\ny\",-1",
    "1,2\n3,4\n9007199254740993,nan\n-5,inf\n",
    "day,time\n2024-03-01,2024-03-01T12:30:15.25+02:00\n,9999-12-31 23:59\n1066-10-14,2024-02-29 00:00:00.123456789\n",
};
const std::string pieces[] = {"\"",     ",",
                              "\n",     "\r",
                              "\r\n",   "\"\"",
                              ",,",     "e999",
                              "-",      "+",
                              "NA",     std::string(1, '\0'),
                              "\xFF",   "99999999999999999999",
                              "true",   ".",
                              "inf",    ";",
                              "1e-400", std::string(300, '7')};

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 10000;
  std::mt19937 random(1);
  int good = 0, bad = 0;
  for (int i = 0; i < count; ++i) {
    std::string text = whole[random() % std::size(whole)];
    for (unsigned n = 1 + random() % 6; n > 0; --n) {
      const std::size_t at = random() % (text.size() + 1);
      text = text.substr(0, at) + pieces[random() % std::size(pieces)] +
             text.substr(std::min(text.size(), at + random() % 3));
    }
    if (random() % 8 == 0) text.resize(random() % (text.size() + 1));
    const auto bytes = std::make_unique<char[]>(text.size());
    text.copy(bytes.get(), text.size());
    gpulua::CsvReading options;
    if (random() % 4 == 0) options.header = random() % 2 == 0;
    if (random() % 4 == 0) options.separator = ';';
    if (random() % 4 == 0) options.skip = random() % 3;
    if (random() % 4 == 0) options.dtype = static_cast<gpulua::DType>(random() % 13);
    if (random() % 4 == 0) options.numbers.missing = {"-1"};
    if (random() % 4 == 0) options.numbers.thousands = random() % 2 == 0 ? ',' : '.';
    if (random() % 4 == 0) options.numbers.decimal = ',';
    if (random() % 4 == 0) options.numbers.symbols = {"$", "%"};
    if (random() % 4 == 0) options.comments = "#";
    if (random() % 4 == 0) options.max_rows = random() % 4;
    if (text.starts_with("day,time\n") && random() % 2 == 0)
      options.types["day"] = gpulua::CsvDates{random() % 2 == 0 ? "" : "%Y-%b-%d %I:%M:%S.%f %p %j %y"};
    try {
      const gpulua::CsvTable table = gpulua::read_csv({bytes.get(), text.size()}, options, "m.csv");
      for (const auto& column : table.columns) {
        std::string shown;
        for (const std::uint64_t value : column.memory)
          if (column.dates)
            gpulua::append_date(shown, static_cast<std::int64_t>(value), column.dates->unit, "%A %B %T %f %j %F %p %I");
        if (column.memory.size() != static_cast<std::size_t>(table.rows))
          return std::puts("columns of different lengths"), 1;
      }
      ++good;
    } catch (const gpulua::Error&) {
      ++bad;
    }
  }
  std::printf("%d mutated files: %d read, %d refused\n", count, good, bad);
  return good > 0 && bad > 0 ? 0 : 1;
}
