// Preloaded into `prof attach`: kills it after its DIES_AT-th call of ptrace().

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdarg>

extern "C" __attribute__((visibility("default"))) long ptrace(int request, ...) noexcept {
  va_list list;
  va_start(list, request);
  const auto pid = va_arg(list, pid_t);
  void* const address = va_arg(list, void*);
  void* const data = va_arg(list, void*);
  va_end(list);
  using Ptrace = long (*)(int, pid_t, void*, void*);
  static const auto next = reinterpret_cast<Ptrace>(dlsym(RTLD_NEXT, "ptrace"));
  static const int last = atoi(getenv("DIES_AT"));
  static int calls = 0;
  const long result = next(request, pid, address, data);
  if (++calls == last) kill(getpid(), SIGKILL);
  return result;
}
