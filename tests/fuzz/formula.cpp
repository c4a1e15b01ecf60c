// libFuzzer entry: arbitrary bytes as the formula of a derived metric, as the viewer's settings store it.

#include "viewer/tables/formula.h"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> metrics{"CPUTIME", "L1-misses", "perf::CYCLES:u"};
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const prof::viewer::Formula formula(text, metrics);
    if (formula.text() != text) std::abort();
    formula.value([&](size_t metric) {
      if (metric >= metrics.size()) std::abort();
      return prof::Cost{static_cast<double>(metric), 1};
    });
  } catch (const prof::viewer::FormulaError& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
