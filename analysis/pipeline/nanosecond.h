#pragma once
// Measurement files count nanoseconds, the database seconds.

namespace prof {

constexpr double kNanosecond = 1e-9;

}  // namespace prof
