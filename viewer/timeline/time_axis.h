#pragma once
// Round times for the ruler above a timeline.

#include <QString>
#include <vector>

#include "viewer/trace/time_range.h"

namespace prof::viewer {

struct Tick {
  uint64_t time_ns;
  QString label;  // from the run's begin: "1.25 s"
};

// As many as `most` that are a round step (1, 2 or 5 times a power of ten) apart, counted from `origin_ns`.
std::vector<Tick> ticks(TimeRange range, uint64_t origin_ns, int most);

// "1.234567 s": of an instant, from the run's begin, with the digits that `range` needs.
QString instant(uint64_t time_ns, uint64_t origin_ns, TimeRange range);

}  // namespace prof::viewer
