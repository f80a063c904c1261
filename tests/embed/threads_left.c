/* Once its last state is destroyed, a program has the threads that it had before: work on all processors, a sort, a
 * deadline. */
#define _DEFAULT_SOURCE /* usleep */
#include <dirent.h>
#include <gpulua/gpulua.h>
#include <stdio.h>
#include <unistd.h>

static int threads(void) {
  int count = 0;
  DIR* const tasks = opendir("/proc/self/task");
  for (const struct dirent* entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* The number, once it is the expected one: a thread that was joined leaves the list a moment later. */
static int settled(int expected) {
  int count = threads();
  for (int i = 0; i < 1000 && count != expected; ++i) {
    usleep(1000);
    count = threads();
  }
  return count;
}

static int fail(const char* what) {
  printf("FAILED: %s: %s\n", what, gpulua_error(NULL));
  return 1;
}

int main(void) {
  const int before = threads();
  const char script[] =
      "x = gpu.arange(1e6):eval() s = (x * 2):sum():item() y = gpu.sort(gpu.rand(3e5)):eval() "
      "function spin() while true do end end";
  gpulua_options options;
  gpulua_options_init(&options, sizeof options);
  options.device = "cpu";
  for (int round = 0; round < 3; ++round) {
    gpulua_state *first, *second;
    gpulua_function* spin;
    if (gpulua_create(&options, &first) != GPULUA_OK || gpulua_create(&options, &second) != GPULUA_OK)
      return fail("create");
    if (gpulua_run(first, script, sizeof script - 1, "script") != GPULUA_OK) return fail("run");
    if (gpulua_run(second, script, sizeof script - 1, "script") != GPULUA_OK) return fail("run");
    if (gpulua_get(first, "spin", &spin) != GPULUA_OK) return fail("get");
    if (gpulua_call(spin, NULL, 0, NULL, NULL, 5) != GPULUA_DEADLINE) return fail("the deadline");
    const int working = threads();
    if (gpulua_destroy(first) != GPULUA_OK || gpulua_destroy(second) != GPULUA_OK) return fail("destroy");
    const int after = settled(before);
    if (after != before || working == before) {
      printf("FAILED: %d threads before, %d with two states, %d after them\n", before, working, after);
      return 1;
    }
  }
  puts("passed");
  return 0;
}
