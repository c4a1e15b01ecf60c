#include "hpcrun/process/debugger_or_emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun/process/proc_file.h"

namespace hpcrun {
namespace {

int tracer() noexcept {
  static char status[1024];  // TracerPid is in the first lines
  const size_t length = read_proc("/proc/self/status", status, sizeof status - 1);
  status[length] = '\0';
  const char* field = strstr(status, "\nTracerPid:");
  return field ? atoi(field + strlen("\nTracerPid:")) : 0;
}

}  // namespace

bool is_debugged() noexcept {
  const int pid = tracer();
  if (pid == 0) return false;
  char path[32];
  char name[17];
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  const size_t length = read_proc(path, name, sizeof name - 1);
  name[length] = '\0';
  return strcmp(name, "strace\n") != 0;
}

// valgrind preloads a library of its own into each program that it runs.
bool is_in_valgrind() noexcept {
  const char* preloaded = getenv("LD_PRELOAD");
  return preloaded && strstr(preloaded, "/vgpreload_core");
}

}  // namespace hpcrun
