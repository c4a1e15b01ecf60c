// A library to preload that makes all memory of a program common, and has its calls of memory, threads and
// fork. At the end of each process it says on standard error what became of it, where COMMON_MEMORY_TELLS is
// set.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "repair/isolate/common_calls.h"
#include "repair/isolate/common_memory.h"
#include "repair/isolate/thread_stacks.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <typename Function>
Function next(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::atomic<unsigned> stacks{0}, threads{0}, forks{0};
std::atomic<bool> has_begun{false};

long told(long result) noexcept {
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
void* place(long result) noexcept {
  return reinterpret_cast<void*>(told(result));
}

void before_fork() noexcept {
  ++forks;
  if (!hpcrun::leave_common()) abort();
}
void in_child() noexcept {
  hpcrun::forked_from_common();
  hpcrun::thread_stacks_after_fork();
}

// Before the constructors of the program and its libraries, and after that of the C library.
__attribute__((constructor(101))) void start() noexcept {
  if (has_begun.exchange(true)) return;
  pthread_atfork(before_fork, nullptr, in_child);
  if (getenv("COMMON_MEMORY_OFF")) return;
  if (!hpcrun::make_common() && getenv("COMMON_MEMORY_TELLS"))
    fprintf(stderr, "not common: %s\n", hpcrun::why_not_common());
}

__attribute__((destructor)) void tell() noexcept {
  if (!getenv("COMMON_MEMORY_TELLS")) return;
  fprintf(stderr, "common memory: %s, %u of %u stacks, %u forks\n",
          hpcrun::common_memory_file() >= 0 ? "in use" : "not in use", stacks.load(), threads.load(),
          forks.load());
}

struct Start {
  void* (*routine)(void*);
  void* argument;
  hpcrun::ThreadStack* stack;
};

void* run(void* argument) {
  const Start start = *static_cast<Start*>(argument);
  free(argument);
  hpcrun::thread_stack_is_used(start.stack);
  return start.routine(start.argument);
}

bool has_own_stack(const pthread_attr_t& attributes) noexcept {
  void* low;
  size_t bytes;
  return pthread_attr_getstack(&attributes, &low, &bytes) == 0 &&
         reinterpret_cast<uintptr_t>(low) + bytes != 0;
}

}  // namespace

EXPORT void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  return place(hpcrun::common_mmap(at, bytes, protection, flags, file, offset));
}
EXPORT void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  return mmap(at, bytes, protection, flags, file, offset);
}
EXPORT int munmap(void* at, size_t bytes) {
  return static_cast<int>(told(hpcrun::common_munmap(at, bytes)));
}
EXPORT int mprotect(void* at, size_t bytes, int protection) {
  return static_cast<int>(told(hpcrun::common_mprotect(at, bytes, protection)));
}
EXPORT int madvise(void* at, size_t bytes, int advice) {
  return static_cast<int>(told(hpcrun::common_madvise(at, bytes, advice)));
}
EXPORT int mlockall(int flags) {
  return static_cast<int>(told(hpcrun::common_mlockall(flags)));
}
EXPORT void* mremap(void* at, size_t bytes, size_t new_bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* const new_at = flags & MREMAP_FIXED ? va_arg(more, void*) : nullptr;
  va_end(more);
  return place(hpcrun::common_mremap(at, bytes, new_bytes, flags, new_at));
}
EXPORT void* sbrk(intptr_t more) {
  static const auto behind = next<void* (*)(intptr_t)>("sbrk");
  void* const before = behind(0);
  void* const result = behind(more);
  if (result != reinterpret_cast<void*>(-1) && more) hpcrun::common_break_moved(before, behind(0));
  return result;
}
EXPORT int brk(void* to) {
  static const auto behind = next<int (*)(void*)>("brk");
  static const auto behind_sbrk = next<void* (*)(intptr_t)>("sbrk");
  void* const before = behind_sbrk(0);
  const int result = behind(to);
  if (result == 0) hpcrun::common_break_moved(before, to);
  return result;
}
EXPORT int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  static const auto behind = next<int (*)(__rlimit_resource_t, const rlimit*)>("setrlimit");
  const int result = behind(resource, limit);
  if (result == 0 && resource == RLIMIT_STACK) hpcrun::common_stack_limit_changed(limit->rlim_cur);
  return result;
}
EXPORT pid_t _Fork() noexcept {
  static const auto behind = next<pid_t (*)()>("_Fork");
  before_fork();
  const pid_t child = behind();
  if (child == 0) in_child();
  return child;
}

EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* wanted, void* (*routine)(void*),
                          void* argument) {
  static const auto behind = next<decltype(&pthread_create)>("pthread_create");
  ++threads;
  pthread_attr_t attributes;
  if (wanted)
    memcpy(&attributes, wanted, sizeof attributes);
  else if (pthread_getattr_default_np(&attributes))
    return behind(thread, wanted, routine, argument);
  size_t bytes = 0, guard_bytes = 0;
  int detached = PTHREAD_CREATE_JOINABLE;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_getguardsize(&attributes, &guard_bytes);
  pthread_attr_getdetachstate(&attributes, &detached);
  // A program that forked before it had threads has common memory again.
  if (hpcrun::common_memory_file() < 0 && !getenv("COMMON_MEMORY_OFF")) hpcrun::make_common();
  hpcrun::ThreadStack* const stack =
      has_own_stack(attributes)
          ? nullptr
          : hpcrun::take_thread_stack(bytes, guard_bytes, detached == PTHREAD_CREATE_DETACHED);
  if (!stack) {
    if (!wanted) pthread_attr_destroy(&attributes);
    return behind(thread, wanted, routine, argument);
  }
  pthread_attr_setstack(&attributes, stack->begin(), stack->bytes());
  auto* const start = static_cast<Start*>(malloc(sizeof(Start)));
  *start = {routine, argument, stack};
  const int error = behind(thread, &attributes, run, start);
  if (error) {
    hpcrun::return_thread_stack(stack);
    free(start);
  } else {
    ++stacks;
  }
  if (!wanted) pthread_attr_destroy(&attributes);
  return error;
}

EXPORT int pthread_join(pthread_t thread, void** result) {
  static const auto behind = next<decltype(&pthread_join)>("pthread_join");
  const int error = behind(thread, result);
  if (!error) hpcrun::thread_stack_is_left(thread);
  return error;
}
EXPORT int pthread_detach(pthread_t thread) noexcept {
  static const auto behind = next<int (*)(pthread_t)>("pthread_detach");
  const int error = behind(thread);
  if (!error) hpcrun::thread_stack_is_left(thread);
  return error;
}
