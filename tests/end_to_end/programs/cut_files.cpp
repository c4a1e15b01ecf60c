// Works, waits for a line, and then works in ways that make the runtime write to its files: samples, a
// thread, a library. Meanwhile it has a SIGBUS of its own, by an access past the end of a file, which it
// handles, or which kills it (argument "fatal"). With the argument "child", a child that it forked before
// does the work.

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "spin.h"

namespace {

sigjmp_buf back;
volatile char* mapped = nullptr;

void on_bus_error(int, siginfo_t* info, void*) {
  if (info->si_addr == mapped && info->si_code == BUS_ADRERR) siglongjmp(back, 1);
  _exit(99);
}

volatile char* map_nothing() {
  FILE* const file = tmpfile();
  return static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fileno(file), 0));
}

[[gnu::noinline]] void throw_once() {
  throw 1;
}

// The child has used almost no CPU time before the line arrives.
int fork_before_the_line() {
  int line[2];
  if (pipe(line) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    close(line[1]);
    char end;
    if (read(line[0], &end, 1) == 0) spin(0.2);
    _exit(7);
  }
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 2;
  close(line[1]);
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d exited %d\n", child, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 42;
}

}  // namespace

int main(int argc, char** arguments) {
  spin(0.1);  // its file contains samples then
  if (argc > 1 && strcmp(arguments[1], "child") == 0) return fork_before_the_line();
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 2;
  spin(0.4);  // prof examines the process meanwhile
  std::thread([] { spin(0.1); }).join();
  if (void* const library = dlopen("libm.so.6", RTLD_NOW)) dlclose(library);
  try {
    throw_once();
  } catch (int) {
  }
  mapped = map_nothing();
  if (argc > 1) return mapped[0];
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
  int caught = 0;
  for (int i = 0; i < 3; ++i) {
    if (sigsetjmp(back, 1) == 0)
      caught += mapped[0];
    else
      ++caught;
  }
  spin(0.1);
  printf("caught %d\n", caught);
  return 42;
}
