#include "viewer/timeline/time_axis.h"

#include <algorithm>
#include <cmath>

namespace prof::viewer {

namespace {

constexpr double kSecondNs = 1e9;

uint64_t round_step(uint64_t shortest) {
  for (uint64_t power = 1;; power *= 10)
    for (const uint64_t factor : {1, 2, 5})
      if (power * factor >= shortest) return power * factor;
}

// Returns the number of decimals that distinguishes times one step apart.
int digits_for(uint64_t step) {
  int digits = 9;
  for (uint64_t power = 10; digits > 0 && step % power == 0; power *= 10) --digits;
  return digits;
}

QString seconds(int64_t ns, int digits) {
  return QString::number(static_cast<double>(ns) / kSecondNs, 'f', digits) + " s";
}

}  // namespace

std::vector<Tick> ticks(TimeRange range, uint64_t origin_ns, int most) {
  std::vector<Tick> result;
  if (range.ns() == 0) return result;
  const uint64_t step =
      round_step(std::max<uint64_t>(range.ns() / static_cast<uint64_t>(std::max(most, 1)), 1));
  const uint64_t from = range.begin_ns - std::min(range.begin_ns, origin_ns);
  for (uint64_t time = (from + step - 1) / step * step; origin_ns + time < range.end_ns; time += step)
    result.push_back({origin_ns + time, seconds(static_cast<int64_t>(time), digits_for(step))});
  return result;
}

QString instant(uint64_t time_ns, uint64_t origin_ns, TimeRange range) {
  constexpr uint64_t kParts = 10'000;  // parts of the range that can be distinguished
  return seconds(static_cast<int64_t>(time_ns) - static_cast<int64_t>(origin_ns),
                 digits_for(round_step(std::max<uint64_t>(range.ns() / kParts, 1))));
}

}  // namespace prof::viewer
