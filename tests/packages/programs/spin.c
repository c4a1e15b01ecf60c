/* A program that needs nothing but libc: about a second of CPU time in `turn`, called by `spin`, in two
 * processes. */

#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t turn(uint64_t state) {
  for (unsigned i = 0; i < 20000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

__attribute__((noinline)) static uint64_t spin(unsigned rounds) {
  uint64_t state = 1;
  for (unsigned i = 0; i < rounds; ++i) state = turn(state) | 1;
  return state;
}

/* What is mapped into this process from `folder`: the test looks for what does not belong here. */
static void print_maps(void) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return;
  while (fgets(line, sizeof line, maps) != NULL) fputs(line, stderr);
  fclose(maps);
}

int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", spin(8000) != 0);
    return 0;
  }
  waitpid(child, NULL, 0);
  printf("parent %d\n", spin(8000) != 0);
  print_maps();
  return 7;
}
