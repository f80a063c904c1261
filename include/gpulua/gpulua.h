#ifndef GPULUA_GPULUA_H
#define GPULUA_GPULUA_H

/* gpulua inside another program, in C11. docs/embedding.md tells it as a whole.
 *
 * Every function takes any handle: NULL, one that is closed, one of another kind, a stray address. It then answers
 * GPULUA_ARGUMENT, and gpulua_error() says what was expected. No function throws, jumps over the caller's frames,
 * prints, or ends the process. One thread at a time works in a state; which one is the program's choice. A second one
 * gets GPULUA_BUSY. Functions that say "any thread" may be called at any time. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPULUA_API __attribute__((visibility("default")))

/* The number changes when a program that was compiled against an older header no longer runs. */
#define GPULUA_ABI_VERSION 1

/* Not `gpulua`: that is the namespace of gpulua.hpp. */
typedef struct gpulua_state gpulua_state;       /* a state: a Lua state, its devices, its arrays */
typedef struct gpulua_function gpulua_function; /* a Lua function that is kept for calls */
struct lua_State;

typedef enum gpulua_status {
  GPULUA_OK = 0,
  GPULUA_SYNTAX = 1,      /* a script that does not parse */
  GPULUA_RUNTIME = 2,     /* an error of the script */
  GPULUA_MEMORY = 3,      /* Lua, the host or the device has no room */
  GPULUA_DEVICE = 4,      /* work on the device has failed */
  GPULUA_DEADLINE = 5,    /* the call's deadline has passed; work on a GPU may still be queued */
  GPULUA_INTERRUPTED = 6, /* gpulua_interrupt() */
  GPULUA_ARGUMENT = 7,    /* a value, handle or option that does not fit */
  GPULUA_BUSY = 8,        /* another thread works in the state, or a callback called what it may not */
  GPULUA_UNAVAILABLE = 9, /* a device or library that is not there */
  GPULUA_LOST = 10        /* the device is gone for this process */
} gpulua_status;

/* "GPULUA_OK", ...; "an unknown status" for other numbers. Any thread. */
GPULUA_API const char* gpulua_status_name(int status);
/* GPULUA_ABI_VERSION of the library. Any thread. */
GPULUA_API int gpulua_abi_version(void);

/* ---- states ---- */

enum {
  GPULUA_SANDBOX = 1,       /* for scripts that are not trusted: docs/security.md. lua_memory is 256 MB if it is 0, and
                               LuaJIT's compiler is off */
  GPULUA_KERNELS = 2,       /* with GPULUA_SANDBOX: kernels from source are allowed, and run under the checker */
  GPULUA_INTERRUPTIBLE = 4, /* LuaJIT's compiler is off: gpulua_interrupt() and deadlines stop every loop */
  GPULUA_STRICT = 8,        /* implicit waits for a device are errors: gpu.strict(true) */
  GPULUA_FAULT_HANDLERS = 16 /* handlers of SIGSEGV and its like while the cpu device is open: a kernel's wild access
                                is an error then, and not the end of the process */
};

enum { GPULUA_LOG_WARNING = 1 };

typedef struct gpulua_options {
  size_t struct_size; /* sizeof(gpulua_options): the library reads no further */
  const char* device; /* "cpu", "cuda:0"; NULL: that of cu_context, else GPULUA_DEVICE, else cuda:0 if there is one */
  void* cu_context;   /* a CUcontext of the program's; NULL: the device's primary context */
  void* cu_stream;    /* a CUstream of that context, for all work of the state; NULL: the legacy default stream */
  size_t lua_memory;  /* bytes that Lua may use; 0: no limit */
  size_t device_memory;        /* bytes of arrays on each device; 0: the device's memory */
  const char* cache_directory; /* for compiled kernels; NULL: GPULUA_CACHE_DIR or the user's; "": none */
  unsigned flags;              /* GPULUA_SANDBOX, ... */
  /* A line that the script prints, without its end. NULL: print writes to the standard output. */
  void (*print)(void* user, const char* text, size_t size);
  /* A warning of the library, such as a kernel that runs slowly. NULL: warnings are dropped. */
  void (*log)(void* user, int level, const char* text);
  /* Lua's memory, as lua_Alloc: realloc, or free where size is 0. NULL: LuaJIT's own. */
  void* (*allocate)(void* user, void* block, size_t old_size, size_t size);
  void* user;      /* passed to the three callbacks */
  void* lua_state; /* a lua_State of the program's own LuaJIT with open libraries; NULL: the state makes one */
  /* What one gpulua_run or gpulua_call may do; 0: no limit. Kernels and recorded graphs that it launches, kernels that it
   * compiles or takes from the cache, and blocks of one launch of a kernel from source. */
  uint64_t launches, compilations, blocks;
} gpulua_options;

/* Sets all fields to 0 and struct_size to the size. */
GPULUA_API void gpulua_options_init(gpulua_options* options, size_t struct_size);
/* A new state. NULL options: all defaults. Opens no device. In Lua the module is the global `gpu`, and require "gpu"
 * gives it too. On failure *out is NULL and gpulua_error(NULL) says why. Any thread. */
GPULUA_API gpulua_status gpulua_create(const gpulua_options* options, gpulua_state** out);
/* In a sandbox: allows kernels from the source with this SHA-256 digest, 64 hexadecimal digits as sha256sum prints them.
 * The program vouches for the kernels, whatever arguments a script calls them with. */
GPULUA_API gpulua_status gpulua_allow_kernel(gpulua_state* state, const char* sha256);
/* Ends the state. Waits for the work on its devices, calls the release callbacks of borrowed memory, and closes the
 * handles of the state's functions and arrays. GPULUA_BUSY, and nothing done, while another thread is in the state or a
 * callback is running. A program's own lua_State stays, and is closed after this call. NULL: nothing to do. */
GPULUA_API gpulua_status gpulua_destroy(gpulua_state* state);
/* The message of the last call that failed, with the traceback of a script's error; "" if there was none. It stays until
 * the next call that fails. NULL: the last failure of the calling thread, in whatever state; in a call that gives
 * GPULUA_BUSY, or whose handle is closed, only that one. Never NULL. */
GPULUA_API const char* gpulua_error(gpulua_state* state);

/* ---- scripts ---- */

/* A value between the program and Lua. Zeros are nil. */
typedef enum gpulua_kind {
  GPULUA_NIL = 0,
  GPULUA_BOOLEAN = 1,
  GPULUA_NUMBER = 2,
  GPULUA_INTEGER = 3, /* in: any int64_t. out: an int64_t or uint64_t of the FFI; Lua's numbers are GPULUA_NUMBER */
  GPULUA_TEXT = 4,    /* any bytes; out: with a zero behind the end */
  GPULUA_FUNCTION = 6 /* out: a new handle, which the program releases */
} gpulua_kind;

typedef struct gpulua_value {
  int kind;
  union {
    int boolean;
    double number;
    int64_t integer;
    struct {
      const char* data;
      size_t size;
    } text;
    gpulua_function* function;
  } as;
} gpulua_value;

/* Runs a script: size bytes of text at `text`, called `name` in messages. */
GPULUA_API gpulua_status gpulua_run(gpulua_state* state, const char* text, size_t size, const char* name);
/* Compiles it to a function, which gpulua_call() runs, with arguments and results. */
GPULUA_API gpulua_status gpulua_load(gpulua_state* state, const char* text, size_t size, const char* name,
                                     gpulua_function** out);
/* The function at a path of names from the globals: "update", "model.step", "gpu.add". */
GPULUA_API gpulua_status gpulua_get(gpulua_state* state, const char* path, gpulua_function** out);
/* The value there. Text lives until the next gpulua_run, load, call, collect or destroy. */
GPULUA_API gpulua_status gpulua_get_value(gpulua_state* state, const char* path, gpulua_value* out);
/* Sets the value there; the tables on the way to it exist. */
GPULUA_API gpulua_status gpulua_set(gpulua_state* state, const char* path, const gpulua_value* value);
/* Calls the function. *out_count: in, how many values fit at `out`; out, how many results there were: those that do not
 * fit are dropped. NULL out and out_count: no results. Text of results lives until the next gpulua_run, load, call,
 * collect or destroy. deadline_ms > 0: the call ends with GPULUA_DEADLINE after so many milliseconds; 0: no deadline.
 * LuaJIT's compiled loops cannot be stopped, so the state's first call with a deadline switches its compiler off. */
GPULUA_API gpulua_status gpulua_call(gpulua_function* function, const gpulua_value* in, size_t in_count,
                                     gpulua_value* out, size_t* out_count, double deadline_ms);
/* One more release is needed, and one less. Any thread. */
GPULUA_API gpulua_status gpulua_function_retain(gpulua_function* function);
GPULUA_API gpulua_status gpulua_function_release(gpulua_function* function);

/* A function of the program's for scripts. `in` is valid during the call; *out_count: in, how many values fit at `out`,
 * 16; out, how many are set. Handles in `out` pass to the library. It may call what reads and sets values and what
 * works with arrays, on the state it gets, but runs no script: that gives GPULUA_BUSY. Any status but GPULUA_OK becomes
 * an error of the script, with the text of gpulua_fail(). Exceptions of C++ must not leave it. */
typedef gpulua_status (*gpulua_callback)(gpulua_state* state, void* user, const gpulua_value* in, size_t in_count,
                                         gpulua_value* out, size_t* out_count);
/* Makes the callback the Lua function at the path. It lives as long as the state. */
GPULUA_API gpulua_status gpulua_register(gpulua_state* state, const char* path, gpulua_callback callback, void* user);
/* In a callback: sets the text of the error, and gives GPULUA_RUNTIME: return gpulua_fail(state, "no such port"). */
GPULUA_API gpulua_status gpulua_fail(gpulua_state* state, const char* text);

/* Waits for all work on the state's devices. */
GPULUA_API gpulua_status gpulua_sync(gpulua_state* state);
/* Collects Lua's garbage, and the arrays in it. ms > 0: for about that long, with a part of a cycle; 0: all. */
GPULUA_API gpulua_status gpulua_collect(gpulua_state* state, double ms);
/* Stops what the state runs: that call gives GPULUA_INTERRUPTED, and the state goes on working. Nothing happens when
 * nothing runs. A loop that LuaJIT has compiled is stopped only in a call with a deadline or a state with
 * GPULUA_INTERRUPTIBLE. Any thread, and a signal handler. */
GPULUA_API gpulua_status gpulua_interrupt(gpulua_state* state);

/* ---- Lua ---- */

/* The module `gpu` for a program with its own LuaJIT: pushes it and returns 1, as require "gpu" wants it,
 *
 *   lua_getglobal(L, "package");
 *   lua_getfield(L, -1, "preload");
 *   lua_pushcfunction(L, luaopen_gpu);
 *   lua_setfield(L, -2, "gpu");
 *
 * Called again on a state it gives the module that is there. Each state gets a context of its own, with the
 * configuration of the environment; states share nothing. While a state has the cpu device open, the process's handlers
 * of SIGSEGV, SIGBUS, SIGILL, SIGTRAP and SIGFPE are the library's, which passes on what is not a fault of a kernel;
 * GPULUA_FAULT_HANDLERS=0 in the environment leaves them out. Raises a Lua error when the environment's configuration
 * makes no sense. Opens no device. */
GPULUA_API int luaopen_gpu(struct lua_State* L);

#ifdef __cplusplus
}
#endif

#endif
