// A library for foreign_blocks.cpp, which loads it with RTLD_DEEPBIND.

#include <cstdlib>
#include <cstring>

extern "C" char* give(const char* text) {
  return strdup(text);
}
extern "C" void take(void* at) {
  free(at);
}
