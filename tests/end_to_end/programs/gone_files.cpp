// Works in code whose file is gone: the program itself ("self"), or a library ("library PATH": unlinked after
// it was loaded, "memory PATH": copied to a memory file, "kept PATH": still there).

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "spin.h"

namespace {

using Work = uint64_t (*)(uint64_t);

constexpr double kSeconds = 0.25;

bool delete_itself() {
  char path[PATH_MAX] = {};
  return readlink("/proc/self/exe", path, sizeof path - 1) > 0 && unlink(path) == 0;
}

void* load(const char* how, const char* path) {
  if (strcmp(how, "memory") != 0) {
    void* const library = dlopen(path, RTLD_NOW);
    if (library && strcmp(how, "library") == 0 && unlink(path) != 0) return nullptr;
    return library;
  }
  const int from = open(path, O_RDONLY | O_CLOEXEC);
  const int memory = memfd_create("code", MFD_CLOEXEC);
  while (sendfile(memory, from, nullptr, INT_MAX) > 0) {
  }
  void* const library = dlopen(("/proc/self/fd/" + std::to_string(memory)).c_str(), RTLD_NOW);
  close(memory);
  close(from);
  return library;
}

}  // namespace

[[gnu::noinline]] static uint64_t deleted_work() {
  const uint64_t state = spin(kSeconds);
  asm volatile("" : : "r"(state));  // no tail call: the function stays on the stack
  return state;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "self") == 0) {
    if (!delete_itself()) return 2;
    printf("worked %d\n", deleted_work() != 0);
    return 0;
  }
  if (argc != 3) return 2;
  void* const library = load(argv[1], argv[2]);
  const auto work = library ? reinterpret_cast<Work>(dlsym(library, "plugin_work")) : nullptr;
  if (!work) return 3;
  uint64_t state = 1;
  for (const double end = thread_cpu_seconds() + kSeconds; thread_cpu_seconds() < end;)
    state = work(state) | 1;
  printf("worked %d\n", state != 0);
}
