// libFuzzer entry: arbitrary bytes as a kernel's symbol list.

#include "analysis/import/perf/kernel_symbols.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const prof::perf::KernelSymbols symbols(std::string(reinterpret_cast<const char*>(data), size));
  for (const uint64_t address : {uint64_t{0}, uint64_t{0xffffffff81000150}, UINT64_MAX})
    for (const uint64_t slide : {uint64_t{0}, uint64_t{0x1000000}})
      if (const auto found = symbols.find(address, slide); found && found->name.empty()) std::abort();
  return 0;
}
