#ifndef GPULUA_GPULUA_H
#define GPULUA_GPULUA_H

/* gpulua inside another program, in C11. docs/embedding.md tells it as a whole.
 *
 * Every function takes any handle: NULL, one that is closed, one of another kind, a stray address. It then answers
 * GPULUA_ARGUMENT, and gpulua_error() says what was expected. No function throws, jumps over the caller's frames, or
 * ends the process; what is printed are the lines of scripts, and warnings, as the options say. One thread at a time
 * works in a state; which one is the program's choice. A second one gets GPULUA_BUSY. Functions that say "any thread"
 * may be called at any time. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPULUA_API __attribute__((visibility("default")))
/* Of functions whose failure leaves a program without what it goes on with: a compiler warns where nobody looks at the
 * status. Nothing here is `nonnull`, as NULL has an answer, nor a format of printf: texts are taken as they are. */
#define GPULUA_CHECKED __attribute__((warn_unused_result))

/* The number changes when a program that was compiled against an older header no longer runs. */
#define GPULUA_ABI_VERSION 1

/* Not `gpulua`: that is the namespace of gpulua.hpp. */
typedef struct gpulua_state gpulua_state;       /* a state: a Lua state, its devices, its arrays */
typedef struct gpulua_function gpulua_function; /* a Lua function that is kept for calls */
typedef struct gpulua_array gpulua_array;       /* an array of numbers on a device */
struct lua_State;

typedef enum gpulua_status {
  GPULUA_OK = 0,
  GPULUA_SYNTAX = 1,   /* a script that does not parse */
  GPULUA_RUNTIME = 2,  /* an error of the script, of a function of gpu that the program calls by its path, or a kernel
                          that does not compile */
  GPULUA_MEMORY = 3,   /* Lua, the host or the device has no room */
  GPULUA_DEVICE = 4,   /* work on the device has failed */
  GPULUA_DEADLINE = 5, /* the call's deadline has passed, or that of a call in a callback, see gpulua_callback; work on
                          a GPU may still be queued */
  GPULUA_INTERRUPTED = 6, /* gpulua_interrupt() */
  GPULUA_ARGUMENT = 7,    /* what the program itself gives does not fit: a value, handle, option or path, the name of a
                             kernel, the size of a launch that it makes, an argument of one that it calls */
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
  GPULUA_NO_FAULT_HANDLERS = 32 /* a kernel's wild access on the cpu device ends the process. Without the flag it is an
                                   error: while that device is open, the handlers of SIGSEGV, SIGBUS, SIGILL, SIGTRAP
                                   and SIGFPE are the library's; they pass other faults on to the program's
                                   handlers */
};

enum { GPULUA_LOG_WARNING = 1 };

typedef struct gpulua_options {
  size_t struct_size;   /* sizeof(gpulua_options): the library reads no further. gpulua_options_init() sets it */
  const char* device;   /* "cpu", "cuda:0"; NULL: that of cu_context, else GPULUA_DEVICE, else cuda:0 if there is one */
  void* cu_context;     /* a CUcontext of the program's; NULL: the device's primary context */
  void* cu_stream;      /* a CUstream of that context, for all work of the state; NULL: the legacy default stream */
  size_t lua_memory;    /* bytes that Lua may use, 64 << 20 for 64 MB; 0: no limit */
  size_t device_memory; /* bytes of arrays on each device; 0: the device's memory */
  const char* cache_directory; /* for compiled kernels; NULL: GPULUA_CACHE_DIR or the user's; "": none */
  unsigned flags;              /* GPULUA_SANDBOX, ... */
  /* What the script prints, or shows as a chart, without the end of its line. gpulua_fail() in it makes print() an
   * error of the script. NULL: the lines go to the standard output, as what kernels print always does. */
  void (*print)(void* user, const char* text, size_t size);
  /* A warning of the library, such as a kernel that runs slowly. gpulua_options_init() sets a function that writes it
   * to the standard error, as gpulua_create(NULL, ...) does. NULL: warnings are dropped. */
  void (*log)(void* user, int level, const char* text);
  /* Lua's memory, as lua_Alloc: realloc, or free where size is 0. NULL: LuaJIT's own. Where it has no room during
   * gpulua_create, LuaJIT may end the process: lua_memory is the way to a limit. */
  void* (*allocate)(void* user, void* block, size_t old_size, size_t size);
  void* user; /* passed to the three callbacks */
  /* A lua_State of the program's own LuaJIT with open libraries and no other gpulua_state; NULL: the state makes one.
   * Where it has the module gpu already, options of devices are an error: the module has its context. */
  void* lua_state;
  /* What one gpulua_run or gpulua_call may do; 0: no limit. Kernels and recorded graphs that it launches, kernels that
   * it compiles or takes from the cache, and blocks of one launch of a kernel from source. */
  uint64_t launches, compilations, blocks;
  const char* default_dtype; /* of real numbers where a script does not say which: "float32", as NULL, or "float64" */
} gpulua_options;

/* Sets the defaults: all fields to 0, but struct_size to the size and `log`. gpulua_options_init(&options, sizeof
 * options). GPULUA_ARGUMENT for a size that is no options' one, such as that of a pointer: gpulua_create() refuses the
 * options then, too. */
GPULUA_API gpulua_status gpulua_options_init(gpulua_options* options, size_t struct_size);
/* A new state. NULL options: all defaults. Opens no device. In Lua the module is the global `gpu`, and require "gpu"
 * gives it too. On failure *out is NULL and gpulua_error(NULL) says why. Any thread. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_create(const gpulua_options* options, gpulua_state** out);
/* In a sandbox: allows kernels from the source with this SHA-256 digest, 64 hexadecimal digits as sha256sum prints
 * them. The program vouches for the kernels, whatever arguments a script calls them with. */
GPULUA_API gpulua_status gpulua_allow_kernel(gpulua_state* state, const char* sha256);
/* Ends the state. Waits for the work on its devices, calls the release callbacks of borrowed memory, and closes the
 * handles of the state's functions and arrays. GPULUA_BUSY, and nothing done, while another thread is in the state or a
 * callback is running. A program's own lua_State stays, and what gpulua_register has put there raises errors from now
 * on. Where the program has closed that lua_State before, the state has ended with it, and this call frees the handle,
 * which all others refuse. NULL: nothing to do. */
GPULUA_API gpulua_status gpulua_destroy(gpulua_state* state);
/* The message of the last call that failed, with the traceback of a script's error; "" if there was none. It stays
 * until the next call that fails. NULL: the last failure of the calling thread, in whatever state; in a call that gives
 * GPULUA_BUSY, or whose handle is closed, only that one. Never NULL. */
GPULUA_API const char* gpulua_error(gpulua_state* state);
/* The `cause` of gpulua_fail_with() where the calling thread's last failure is the error of that callback, as the
 * script has got it or with words in front, error("reading: " .. why); NULL where it is another error, such as one that
 * the script has raised after pcall had handled the callback's. */
GPULUA_API void* gpulua_error_cause(void);

/* ---- scripts ---- */

/* A value between the program and Lua. Zeros are nil. */
typedef enum gpulua_kind {
  GPULUA_NIL = 0,
  GPULUA_BOOLEAN = 1,
  GPULUA_NUMBER = 2,
  GPULUA_INTEGER = 3,  /* in: any int64_t. out: an integer of the FFI that an int64_t holds; Lua's numbers are
                          GPULUA_NUMBER */
  GPULUA_TEXT = 4,     /* any bytes; out: with a zero after the end */
  GPULUA_ARRAY = 5,    /* out: a new handle, which the program releases */
  GPULUA_FUNCTION = 6, /* out: a new handle, which the program releases */
  GPULUA_OBJECT = 7    /* any other value, such as a table or a complex number. out: a new handle at as.function, which
                          calls take as it is, and which is released as a function's */
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
    gpulua_array* array;
    gpulua_function* function;
  } as;
} gpulua_value;

/* Runs a script: size bytes of text at `text`, without a zero at their end, called `name` in messages: a file's name,
 * or "=" and any other. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_run(gpulua_state* state, const char* text, size_t size,
                                                   const char* name);
/* Compiles it to a function, which gpulua_call() runs, with arguments and results. In a sandbox: GPULUA_DEADLINE after
 * a second. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_load(gpulua_state* state, const char* text, size_t size,
                                                    const char* name, gpulua_function** out);
/* The function at a path from the globals, of names with dots between them and positions in brackets: "update",
 * "model.stages[1].step", "gpu.add". */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_get(gpulua_state* state, const char* path, gpulua_function** out);
/* The value there. Text lives until the next gpulua_run, load, call, collect or destroy; text that a callback reads,
 * until the next callback. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_get_value(gpulua_state* state, const char* path, gpulua_value* out);
/* Sets the value there, and makes tables on the way to it that are not there. */
GPULUA_API gpulua_status gpulua_set(gpulua_state* state, const char* path, const gpulua_value* value);
/* Calls the function. *out_count: in, how many values fit at `out`; out, how many results there were: those that do not
 * fit are dropped. NULL out and out_count: no results; beside an out, *out_count is 1 or more. Text of results lives
 * until the next gpulua_run, load, call, collect or destroy; in a callback, until the next callback. deadline_ms > 0:
 * the call ends with GPULUA_DEADLINE after that many milliseconds; 0: no deadline. A call in a callback is part of the
 * one that runs: the earlier of both deadlines ends it, and its own one leaves the call that runs going. LuaJIT's
 * compiled loops cannot be stopped, so the state's first call with a deadline switches its compiler off. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_call(gpulua_function* function, const gpulua_value* in, size_t in_count,
                                                    gpulua_value* out, size_t* out_count, double deadline_ms);
/* One more release is needed, and one less. Any thread. */
GPULUA_API gpulua_status gpulua_function_retain(gpulua_function* function);
GPULUA_API gpulua_status gpulua_function_release(gpulua_function* function);
/* What the handle is of, for messages: "a function of desk.lua:1", "a function" of one that is no script's, "a script"
 * of gpulua_load(), and of an object what gpulua's own messages call it, "a table" or "a kernel". Any thread. The text
 * lives as long as the handle; NULL for a handle that is closed. */
GPULUA_API const char* gpulua_function_description(gpulua_function* function);

/* A function of the program's for scripts. `in` is valid during the call; *out_count: in, how many values fit at `out`,
 * 16; out, how many are set, 0 for none; to leave it as it was is an error. Handles in `out` pass to the library. It
 * may call everything on the state it gets but gpulua_collect, gpulua_set_stream and gpulua_destroy, which give
 * GPULUA_BUSY. What it runs is part of the call that called it, with that call's budget, and its deadline or an earlier
 * one. Any status but GPULUA_OK becomes an error of the script, with the text of gpulua_fail() or else that of the call
 * which has given the status, in whatever state: return gpulua_call(...) passes its error on. Where no script handles
 * that error, the program's call gives GPULUA_MEMORY, GPULUA_DEVICE, GPULUA_DEADLINE, GPULUA_INTERRUPTED,
 * GPULUA_UNAVAILABLE and GPULUA_LOST too, and GPULUA_RUNTIME for the others. Exceptions of C++ must not leave it. */
typedef gpulua_status (*gpulua_callback)(gpulua_state* state, void* user, const gpulua_value* in, size_t in_count,
                                         gpulua_value* out, size_t* out_count);
/* Makes the callback the Lua function at the path, and tables on the way to it that are not there. It lives as long as
 * the state. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_register(gpulua_state* state, const char* path, gpulua_callback callback,
                                                        void* user);
/* In a callback: sets the text of the error, and gives GPULUA_RUNTIME: return gpulua_fail(state, "no such port"). */
GPULUA_API gpulua_status gpulua_fail(gpulua_state* state, const char* text);
/* The same with a value of the program's for the error, which gpulua_error_cause() gives after the call that it ends.
 */
GPULUA_API gpulua_status gpulua_fail_with(gpulua_state* state, const char* text, void* cause);

/* ---- arrays ----
 * Shapes count elements; strides are in bytes, as x.strides in Lua, and may be negative or 0. Dtypes have their names
 * in Lua: "bool", "int8" ... "int64", "uint8" ... "uint64", "float16", "bfloat16", "float32", "float64", "complex64",
 * "complex128". Streams are CUstreams: NULL is the legacy default stream. On the cpu device all work is done when a
 * call returns, and streams do not matter. */

/* For the parameters that take a stream: no stream waits. */
#ifdef __cplusplus
#define GPULUA_NO_STREAM (reinterpret_cast<void*>(static_cast<intptr_t>(-1)))
#else
#define GPULUA_NO_STREAM ((void*)(intptr_t)-1)
#endif

/* An array over the program's memory on a device: no copy. `pointer` is the first element, a multiple of the element's
 * size. strides NULL: row-major. device NULL: the state's. The state's stream is expected to follow the program's
 * writes: see cu_stream and gpulua_wait_stream(). The program may write there between two calls: what a call has
 * computed from the memory, evaluated or not, is of what stood there when it ended. release(user), if given, is called
 * when the last work that uses the memory is done, within a later call of the library, on its thread; when the call
 * fails it is not. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_device(gpulua_state* state, const char* device, void* pointer,
                                                            const char* dtype, int ndim, const int64_t* shape,
                                                            const int64_t* strides, void (*release)(void* user),
                                                            void* user, gpulua_array** out);
/* An array with the elements of host memory on the state's device. copy: 1, the array has memory of its own, and the
 * program's is free when the call returns; 0, the array is the program's memory, as gpulua_array_device, which a GPU
 * can reach only where it is pinned or registered; GPULUA_READ_ONLY, as 0, and a script that writes there gets an
 * error. */
#define GPULUA_READ_ONLY 2
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_host(gpulua_state* state, void* pointer, const char* dtype,
                                                          int ndim, const int64_t* shape, const int64_t* strides,
                                                          void (*release)(void* user), void* user, int copy,
                                                          gpulua_array** out);
/* A new row-major array of zeros on the state's device. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_zeros(gpulua_state* state, const char* dtype, int ndim,
                                                           const int64_t* shape, gpulua_array** out);
/* One more release is needed, and one less: the last one gives the memory back, at the state's next call. Any thread.
 */
GPULUA_API gpulua_status gpulua_array_retain(gpulua_array* array);
GPULUA_API gpulua_status gpulua_array_release(gpulua_array* array);

/* What an array is; these never wait, and may be called on any thread. A handle that is closed has NULL, -1 or 0. Texts
 * and tables live as long as the handle. */
GPULUA_API const char* gpulua_array_dtype(gpulua_array* array);
GPULUA_API const char* gpulua_array_device_name(gpulua_array* array);
GPULUA_API int gpulua_array_ndim(gpulua_array* array);
GPULUA_API const int64_t* gpulua_array_shape(gpulua_array* array);
GPULUA_API const int64_t* gpulua_array_strides(gpulua_array* array);
GPULUA_API int64_t gpulua_array_size(gpulua_array* array);   /* elements */
GPULUA_API int64_t gpulua_array_nbytes(gpulua_array* array); /* of the elements */

/* Queues what computes the elements, and makes `reader`, a stream of the program's, wait for it. Waits itself only
 * where work is queued that may find an error, such as an index out of range, and gives that error. The address of the
 * first element is on the device, and stays as long as the handle. Work of the program's that writes there tells
 * gpulua_wait_stream() afterwards, unless it is on the state's stream. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_evaluate(gpulua_array* array, void* reader, void** pointer);
/* Copies all elements, in row-major order, to or from host memory of `bytes` = gpulua_array_nbytes. Waits. */
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_copy_to(gpulua_array* array, void* host, size_t bytes);
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_copy_from(gpulua_array* array, const void* host, size_t bytes);

/* All work of the state's device goes to this stream from now on, after the work so far; the program keeps the stream
 * until the next call of this function, or of gpulua_destroy, has returned. GPULUA_ARGUMENT on the cpu device. */
GPULUA_API gpulua_status gpulua_set_stream(gpulua_state* state, void* cu_stream);
/* Work that the state queues from now on waits for what this stream has been given so far. */
GPULUA_API gpulua_status gpulua_wait_stream(gpulua_state* state, void* cu_stream);

/* DLPack. A tensor from the program passes to the library in every case, which calls its deleter when its elements are
 * used no more, or at once when the call fails; only a struct that looks like that of the other function stays as it
 * is. `writer` is the stream that computes its elements. A tensor for the program keeps its elements, also after
 * gpulua_destroy(), until its deleter is called, on any thread; `reader` is the stream on which the program reads them.
 * Without `_legacy`: version 1; with it: the form from before 1.0. */
struct DLManagedTensorVersioned;
struct DLManagedTensor;
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_from_dlpack(gpulua_state* state,
                                                                 struct DLManagedTensorVersioned* tensor, void* writer,
                                                                 gpulua_array** out);
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_from_dlpack_legacy(gpulua_state* state,
                                                                        struct DLManagedTensor* tensor, void* writer,
                                                                        gpulua_array** out);
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_to_dlpack(gpulua_array* array, void* reader,
                                                               struct DLManagedTensorVersioned** out);
GPULUA_API GPULUA_CHECKED gpulua_status gpulua_array_to_dlpack_legacy(gpulua_array* array, void* reader,
                                                                      struct DLManagedTensor** out);

/* Waits for all work on the state's devices. */
GPULUA_API gpulua_status gpulua_sync(gpulua_state* state);
/* Collects Lua's garbage, and the arrays in it. ms > 0: for about that long, with a part of a cycle; 0: all. */
GPULUA_API gpulua_status gpulua_collect(gpulua_state* state, double ms);
/* Stops what the state runs: that call gives GPULUA_INTERRUPTED, and the state goes on working. Nothing happens when
 * nothing runs, nor to a call that another thread has just entered: a program that must stop it calls again until it
 * has ended. In a state without GPULUA_INTERRUPTIBLE or GPULUA_SANDBOX, and before its first call with a deadline, a
 * loop of Lua that LuaJIT has compiled goes on: there only interpreted code, waits for a device and launches on the cpu
 * device are stopped. Any thread, and a signal handler: so a handle that is not open gives GPULUA_ARGUMENT, and
 * gpulua_error() no text for it. */
GPULUA_API gpulua_status gpulua_interrupt(gpulua_state* state);

/* Bytes of the live arrays on the state's device, and the most there have been. Opens the device. */
GPULUA_API gpulua_status gpulua_memory(gpulua_state* state, size_t* used, size_t* peak);

/* ---- Lua ---- */

/* For programs that work with Lua's own C API, sol2 among them, on the lua_State of options.lua_state or in a callback:
 * pushes the array and returns 1; nil for a handle that is none of this Lua state. May raise a Lua error. */
GPULUA_API int gpulua_push_array(struct lua_State* L, gpulua_array* array);
/* A new handle of the array at the stack index; NULL for another value, or a Lua state without gpulua_state. */
GPULUA_API gpulua_array* gpulua_to_array(struct lua_State* L, int index);

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
