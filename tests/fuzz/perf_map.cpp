// libFuzzer entry: arbitrary bytes as the map of a just-in-time compiler.

#include <array>

#include "analysis/attribution/attribution.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const prof::test::InputFile file("perf-1.map");
  file.fill(data, size);
  const std::array<uint64_t, 5> addresses = {0, 0x1000, 0x2000, 0x7f0000000010, UINT64_MAX};
  const prof::AttributedModule attributed = prof::attribute_jit({file.path(), getuid(), 0}, addresses);
  for (size_t i = 0; i < addresses.size(); ++i)
    for (const prof::AttributedFrame& frame : attributed.chain(i))
      if (frame.function >= attributed.functions.size()) std::abort();
  return 0;
}
