// One of two libraries in lookup order. Both have the function `answer`, and report what dlsym() finds after
// them.

#include <dlfcn.h>

extern "C" int answer() {
  return ANSWER;
}

extern "C" int NEXT_ANSWER() {
  const auto next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "answer"));
  return next ? next() : 0;
}
