// Streams for host functions, which are left out: declarations alone, as in <vector>.
#ifndef GPULUA_HOST_STREAMS_H
#define GPULUA_HOST_STREAMS_H
#include "gpulua/host_errors.h"
#include "gpulua/host_mark.h"
#include "gpulua/string"
namespace std {
/// All streams: input and output have the members of both.
class gpulua_stream {
 public:
  GPULUA_HOST_EMPTY(gpulua_stream)
  GPULUA_HOST explicit gpulua_stream(const char* name, int mode = 0);
  GPULUA_HOST explicit gpulua_stream(const string& text, int mode = 0);
  template <class _Tp>
  GPULUA_HOST gpulua_stream& operator<<(const _Tp& value);
  GPULUA_HOST gpulua_stream& operator<<(gpulua_stream& (*change)(gpulua_stream&));
  template <class _Tp>
  GPULUA_HOST gpulua_stream& operator>>(_Tp& value);
  GPULUA_HOST gpulua_stream& read(char* to, long count);
  GPULUA_HOST gpulua_stream& write(const char* from, long count);
  GPULUA_HOST gpulua_stream& flush();
  GPULUA_HOST gpulua_stream& seekg(long place);
  GPULUA_HOST long tellg();
  GPULUA_HOST long precision(long digits);
  GPULUA_HOST void open(const char* name, int mode = 0);
  GPULUA_HOST void close();
  GPULUA_HOST bool is_open() const;
  GPULUA_HOST bool good() const;
  GPULUA_HOST bool eof() const;
  GPULUA_HOST bool fail() const;
  GPULUA_HOST explicit operator bool() const;
  GPULUA_HOST bool operator!() const;
  GPULUA_HOST string str() const;
  GPULUA_HOST void str(const string& text);
};
class ios_base {
 public:
  using openmode = int;
  static constexpr int in = 1, out = 2, binary = 4, app = 8, trunc = 16, ate = 32;
};
using ios = ios_base;
template <class _Tp, class... _More>
using basic_istream = gpulua_stream;
template <class _Tp, class... _More>
using basic_ostream = gpulua_stream;
using istream = gpulua_stream;
using ostream = gpulua_stream;
using iostream = gpulua_stream;
using ifstream = gpulua_stream;
using ofstream = gpulua_stream;
using fstream = gpulua_stream;
using istringstream = gpulua_stream;
using ostringstream = gpulua_stream;
using stringstream = gpulua_stream;
extern istream cin;
extern ostream cout, cerr, clog;
GPULUA_HOST ostream& endl(ostream& stream);
GPULUA_HOST ostream& flush(ostream& stream);
GPULUA_HOST ostream& fixed(ostream& stream);
GPULUA_HOST ostream& scientific(ostream& stream);
GPULUA_HOST ostream& left(ostream& stream);
GPULUA_HOST ostream& right(ostream& stream);
GPULUA_HOST ostream& hex(ostream& stream);
GPULUA_HOST int setw(int width);
GPULUA_HOST int setprecision(int digits);
GPULUA_HOST int setfill(char filler);
GPULUA_HOST istream& getline(istream& stream, string& line, char end = '\n');
}  // namespace std
#endif
