// Opens CUDA's driver, and then looks up symbols in ways whose result depends on the caller.

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

extern "C" int answer() {
  return 1;
}
extern "C" int next_answer_2();
extern "C" int next_answer_3();

namespace {

int call(void* function) {
  return function ? reinterpret_cast<int (*)()>(function)() : 0;
}

}  // namespace

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  printf("initialised: %d\n", initialise ? initialise(0) : -1);
  printf("first: %d\n", call(dlsym(RTLD_DEFAULT, "answer")));
  printf("next of the program: %d\n", call(dlsym(RTLD_NEXT, "answer")));
  printf("next of the library: %d\n", next_answer_2());
  printf("next of the last library: %d\n", next_answer_3());
  dlerror();
  printf("launch in the program: %d\n", dlsym(RTLD_NEXT, "cuLaunchKernel") != nullptr);
  printf("a message: %d\n", dlerror() != nullptr);
  printf("launch in the driver: %d\n", dlsym(driver, "cuLaunchKernel") != nullptr);
  printf("no function: %d\n", dlsym(driver, "cuNothing") != nullptr);
  const char* const message = dlerror();
  printf("its message names it: %d\n", message && strstr(message, "cuNothing"));
}
