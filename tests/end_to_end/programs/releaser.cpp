// Releases blocks that other libraries allocated.

#include <cstdlib>

extern "C" void release_here(void* at) {
  std::free(at);
}
