// A library that the stress program loads and unloads.

#include <cstdint>

extern "C" [[gnu::visibility("default")]] uint64_t plugin_work(uint64_t state) {
  for (int i = 0; i < 2000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
  return state;
}
