// A rank that gets its number from MPI only: unnumbered_rank MODULE [global]. It and a child that it forks
// compute for some time.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace {

void compute() {
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 5;
  while (std::clock() < end) continue;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  void* const module = dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!module) return std::fprintf(stderr, "%s\n", dlerror()), 3;
  const int result = reinterpret_cast<int (*)()>(dlsym(module, "begin"))();
  const pid_t child = fork();
  compute();
  if (child == 0) return 0;
  waitpid(child, nullptr, 0);
  std::printf("%d\n", result);
}
