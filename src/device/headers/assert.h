// No include guard: as in C, NDEBUG decides anew at each inclusion.
#ifdef GPULUA_CPU
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : gpulua_fail("assertion '" #condition "' failed", __FILE__, __LINE__))
#endif
#endif
