// Does not use OpenMP itself, but calls a plugin that does: openmp_host PLUGIN.

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) return std::fprintf(stderr, "%s\n", dlerror()), 3;
  const auto sum = reinterpret_cast<long (*)(int)>(dlsym(plugin, "sum_of_team"));
  if (!sum) return 4;
  for (int i = 0; i < 3; ++i) std::printf("%ld\n", sum(100));
  return 0;
}
