// libFuzzer entry: arbitrary bytes as a Go program's table of functions.

#include <cstdlib>

#include "analysis/attribution/go_functions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kText = 0x401000;
  const auto functions = prof::GoFunctions::read({data, size}, kText);
  if (!functions) return 0;
  const auto is_inside = [&](std::string_view text) {
    const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
    return text.empty() || (begin >= data && begin + text.size() <= data + size);
  };
  for (const uint64_t offset : {0x0u, 0x40u, 0x60u, 0x7fu, 0x80u, 0xbfu, 0x1000u}) {
    const auto place = functions->find(kText + offset);
    if (!place) continue;
    if (place->name.empty() || place->start < kText) std::abort();
    if (!is_inside(place->name) || !is_inside(place->file) || !is_inside(place->definition_file))
      std::abort();
  }
  return 0;
}
