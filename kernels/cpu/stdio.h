#ifndef GPULUA_STDIO_H
#define GPULUA_STDIO_H
// printf is there without this header.
namespace std {
using ::printf;
}
#endif
