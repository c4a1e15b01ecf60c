// Releases what others allocated.

#include <cstdlib>

extern "C" void release_here(void* at) {
  std::free(at);
}
