#include "prof/export/times.h"

#include <ctime>

namespace prof {

int64_t start_ns(const RunSummary& run) {
  std::tm time{};
  const char* end = strptime(run.start.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  return end && *end == '\0' ? int64_t{timegm(&time)} * 1'000'000'000 : 0;
}

}  // namespace prof
