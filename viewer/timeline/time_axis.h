#pragma once
// Round times for the ruler above a timeline.

#include <QString>
#include <vector>

#include "viewer/trace/time_range.h"

namespace prof::viewer {

struct Tick {
  uint64_t time_ns;
  QString label;  // from the start of the run: "1.25 s"
};

// Returns at most `most` ticks at a round distance (1, 2 or 5 times a power of ten), counted from
// `origin_ns`.
std::vector<Tick> ticks(TimeRange range, uint64_t origin_ns, int most);

// Formats an instant from the start of the run with the digits that `range` needs: "1.234567 s".
QString instant(uint64_t time_ns, uint64_t origin_ns, TimeRange range);

}  // namespace prof::viewer
