/* A program from before lua_memory and what follows it in gpulua_options: it has its header's struct, and nothing can
 * be read after that. */
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct gpulua_state gpulua_state;
typedef struct {
  size_t struct_size;
  const char* device;
  void* cu_context;
  void* cu_stream;
} older_options;

extern void gpulua_options_init(void* options, size_t struct_size);
extern int gpulua_create(const void* options, gpulua_state** out);
extern int gpulua_run(gpulua_state* state, const char* text, size_t size, const char* name);
extern int gpulua_destroy(gpulua_state* state);
extern const char* gpulua_error(gpulua_state* state);

int main(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) return 2;
  older_options* const options = (older_options*)(pages + page) - 1;
  gpulua_options_init(options, sizeof *options);
  options->device = "cpu";

  const char script[] = "print(gpu.ones(3):sum():item())";
  gpulua_state* state;
  if (gpulua_create(options, &state) != 0 || gpulua_run(state, script, sizeof script - 1, "script") != 0) {
    fprintf(stderr, "%s\n", gpulua_error(NULL));
    return 1;
  }
  return gpulua_destroy(state);
}
