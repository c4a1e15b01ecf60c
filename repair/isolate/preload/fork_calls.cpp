// A process that forks has private memory, like its child. This intercepts every way to fork. The C library's
// own calls that fork internally, such as daemon() and forkpty(), run the handlers of pthread_atfork() and
// are covered by these. vfork() and posix_spawn() use the parent's memory, and need nothing.

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include <atomic>

#include "hpcrun/interpose/next_function.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/preload/start.h"

extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library);

using namespace hpcrun;

HPCRUN_NEXT_OF(__register_atfork);
HPCRUN_NEXT_OF(_Fork);
HPCRUN_NEXT_OF(clone);

namespace {

// Our handlers are registered first, so that memory is left last of all before the fork and first in the
// child, and the handlers of others find it usable. They belong to no library, so they stay until the end.
void register_ours() noexcept {
  static std::atomic<bool> is_registered{false};
  if (is_registered.exchange(true)) return;
  HPCRUN_NEXT(__register_atfork)(before_fork, after_fork_in_parent, after_fork_in_child, nullptr);
}

__attribute__((constructor(102))) void start() noexcept {
  register_ours();
}

}  // namespace

// pthread_atfork() is part of every library, and calls this.
HPCRUN_EXPORT int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library) {
  register_ours();
  return HPCRUN_NEXT(__register_atfork)(prepare, parent, child, library);
}

// Runs before the handlers of others take locks. For calls that fork internally, our handlers run last.
HPCRUN_NEXT_OF(fork);
HPCRUN_EXPORT pid_t fork() noexcept {
  fork_begins();
  const pid_t child = HPCRUN_NEXT(fork)();
  if (child != 0) fork_ends();
  return child;
}

// Runs no handlers.
HPCRUN_EXPORT pid_t _Fork() noexcept {
  before_fork();
  const pid_t child = HPCRUN_NEXT(_Fork)();
  child == 0 ? after_fork_in_child() : after_fork_in_parent();
  return child;
}

namespace {

struct Beginning {
  int (*function)(void*);
  void* argument;
};

int begin_child(void* raw) {
  const Beginning beginning = *static_cast<Beginning*>(raw);
  after_fork_in_child();
  return beginning.function(beginning.argument);
}

}  // namespace

HPCRUN_EXPORT int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  va_list list;
  va_start(list, argument);
  void* more[3];
  for (void*& one : more) one = va_arg(list, void*);
  va_end(list);
  if (flags & CLONE_VM)
    return HPCRUN_NEXT(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
  before_fork();
  Beginning beginning{function, argument};  // the child has a copy of it at the same address
  const int child = HPCRUN_NEXT(clone)(begin_child, stack, flags, &beginning, more[0], more[1], more[2]);
  after_fork_in_parent();
  return child;
}
