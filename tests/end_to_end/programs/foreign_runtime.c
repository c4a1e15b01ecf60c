// Allocates and works for 0.15 s of CPU time, for compilers and C libraries that the tests find. With
// arguments it prints them, the process's name, and whether LD_PRELOAD names a library of prof's.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noinline)) unsigned work(double seconds) {
  unsigned sum = 0;
  for (const double end = cpu_seconds() + seconds; cpu_seconds() < end;) {
    unsigned* const block = malloc(1024 * sizeof *block);
    memset(block, 1, 1024 * sizeof *block);
    for (int turn = 0; turn < 50; ++turn)
      for (int i = 0; i < 1024; ++i) sum = sum * 3 + block[i];
    free(block);
  }
  return sum;
}

static void print_start(char** arguments) {
  char name[32] = "";
  FILE* const file = fopen("/proc/self/comm", "r");
  if (file && fgets(name, sizeof name, file)) printf("%s", name);
  if (file) fclose(file);
  while (*arguments) puts(*arguments++);
  const char* const preload = getenv("LD_PRELOAD");
  puts(preload && strstr(preload, "libprof-") ? "preloaded" : "not preloaded");
}

int main(int count, char** arguments) {
  if (count > 1) print_start(arguments);
  const unsigned sum = work(0.15);
  if (sum) puts("worked");
  return 42;
}
