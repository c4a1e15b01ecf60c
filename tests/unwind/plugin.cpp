// A library that is loaded and unloaded. It works in its constructor, where it cannot have been announced
// yet.
#include <cstdint>

namespace {
volatile uint64_t sink;

__attribute__((noipa)) uint64_t inner(uint64_t value) {
  for (int i = 0; i < 20'000; ++i) value = value * 6364136223846793005u + PLUGIN_NUMBER;
  return value;
}
__attribute__((noipa)) uint64_t outer(uint64_t value) {
  return inner(value) + 1;
}

__attribute__((constructor)) void start() {
  sink = outer(sink);
}
__attribute__((destructor)) void stop() {
  sink = outer(sink);
}
}  // namespace

extern "C" __attribute__((visibility("default"))) uint64_t plugin_work(uint64_t value) {
  return outer(value);
}
