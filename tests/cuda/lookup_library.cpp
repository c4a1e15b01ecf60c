// One of two libraries in front of each other: both have the function `answer`, and tell what dlsym() finds
// behind them.

#include <dlfcn.h>

extern "C" int answer() {
  return ANSWER;
}

extern "C" int NEXT_ANSWER() {
  const auto next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "answer"));
  return next ? next() : 0;
}
