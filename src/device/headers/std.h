// And of namespace std: included ahead of the sources that mention it.
#ifndef GPULUA_STD
#define GPULUA_STD
#include "gpulua/cmath"
#include "gpulua/iterator"
#include "gpulua/limits"
#include "gpulua/string"
#include "gpulua/string.h"
#include "gpulua/tuple"
#include "gpulua/utility"
namespace std {
using ::printf;
}
#endif
