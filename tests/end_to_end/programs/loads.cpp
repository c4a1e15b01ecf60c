// Libraries and threads in unusual places: loads CASE.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <threads.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "spin.h"

namespace {

// Takes part of every thread's stack.
thread_local volatile unsigned char of_each_thread[4096];

int load(const char* library) {
  const bool loaded = dlopen(library, RTLD_NOW) != nullptr;
  std::puts(loaded ? "loaded" : dlerror());
  return 0;
}

// Calls a library that the program opens by its bare name.
int load_chain(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  auto* finds_leaf = handle ? reinterpret_cast<int (*)()>(dlsym(handle, "top_finds_leaf")) : nullptr;
  std::puts(!finds_leaf ? dlerror() : finds_leaf() ? "found" : "not found");
  return 0;
}

int keep_error() {
  dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere");
  sigset_t pending;
  sigpending(&pending);
  std::puts(dlerror() ? "kept" : "lost");
  return 0;
}

int c11_thread() {
  thrd_t thread;
  int result = 0;
  thrd_create(
      &thread,
      [](void*) {
        spin(0.2);
        return 7;
      },
      nullptr);
  thrd_join(thread, &result);
  std::printf("result %d\n", result);
  return 0;
}

constexpr unsigned char kUntouched = 0x5a;

// Works in a library opened by its bare name, which is not in the tables until they are refreshed.
bool work_in_plugin() {
  void* handle = dlopen("plugin.so", RTLD_NOW);  // along the executable's search path
  if (!handle) return load("plugin.so"), false;
  const auto work = reinterpret_cast<uint64_t (*)(uint64_t)>(dlsym(handle, "plugin_work"));
  uint64_t state = 1;
  for (const double end = thread_cpu_seconds() + 0.2; thread_cpu_seconds() < end;) state = work(state);
  return state != 0;
}

// Prints how much of an alternate signal stack was used beyond what the kernel itself needs. The latter is
// less than AT_MINSIGSTKSZ if the processor has state that only programs get which request it (AMX).
int alternate_stack() {
  constexpr size_t kBytes = 256 * 1024;
  static uintptr_t frame;
  auto* memory = static_cast<unsigned char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kBytes;
  struct sigaction action {};
  action.sa_handler = [](int) { frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); };
  action.sa_flags = SA_ONSTACK;
  if (sigaltstack(&stack, nullptr) != 0 || sigaction(SIGUSR1, &action, nullptr) != 0) return 1;
  raise(SIGUSR1);
  const auto of_kernel = static_cast<long>(reinterpret_cast<uintptr_t>(memory) + kBytes - frame);
  memset(memory, kUntouched, kBytes);
  if (!work_in_plugin()) return 1;
  size_t untouched = 0;
  while (untouched < kBytes && memory[untouched] == kUntouched) ++untouched;
  std::fprintf(stderr, "handler_bytes %ld\n", static_cast<long>(kBytes - untouched) - of_kernel);
  return 0;
}

// Runs a thread although no more memory can be mapped.
int thread_without_memory() {
  constexpr size_t kStackBytes = 256 * 1024;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kStackBytes);
  const rlimit nothing_more{1, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &nothing_more);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes, [](void*) -> void* { return nullptr; }, nullptr);
  if (error == 0) pthread_join(thread, nullptr);
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &all);
  std::printf("error %d\n", error);
  return 0;
}

// Runs a thread on the smallest stack, after a sample found a library that the tables do not have.
int small_stack() {
  if (!work_in_plugin()) return 1;
  constexpr size_t kBelow = 256 * 1024;
  constexpr size_t kStackBytes = 16 * 1024;
  auto* memory = static_cast<unsigned char*>(
      mmap(nullptr, kBelow + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memset(memory, kUntouched, kBelow);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory + kBelow, kStackBytes);
  pthread_t thread;
  pthread_create(
      &thread, &attributes,
      [](void*) -> void* {
        of_each_thread[0] = 1;
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  size_t touched = 0;
  for (size_t i = 0; i < kBelow; ++i) touched += memory[i] != kUntouched;
  std::printf("touched %zu\n", touched);
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  const std::string how = arguments[1];
  if (how == "load") return load(arguments[2]);
  if (how == "chain") return load_chain(arguments[2]);
  if (how == "error") return keep_error();
  if (how == "c11") return c11_thread();
  if (how == "alternate_stack") return alternate_stack();
  if (how == "no_memory") return thread_without_memory();
  if (how == "small_stack") return small_stack();
  return 2;
}
