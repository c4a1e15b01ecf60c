#pragma once
// Measurement files store nanoseconds, the database seconds.

namespace prof {

constexpr double kNanosecond = 1e-9;

}  // namespace prof
