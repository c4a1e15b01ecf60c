#pragma once
// Formats quantities as `prof report` does.

#include <QFontMetrics>
#include <QString>

#include "analysis/database/model.h"

namespace prof::viewer {

// Returns "1.24 s", "3.1 MiB" or "12,345", in the metric's unit.
QString quantity(const Metric& metric, double value);
// Returns "12.3 %", "<0.1 %", or an empty string if nothing was measured.
QString percent(double share);
// The same for a difference, by its sign (-1, 0, 1): "+12.3 %".
QString signed_percent(double share, int sign);
// Returns all significant digits and the unit, for tooltips and copies.
QString exact_quantity(const Metric& metric, double value);
// Returns "1.5 s" or "230 us" for a time in traces.
QString duration(uint64_t ns);
// Returns a function's name that fits into `pixels`. It is shortened from the inside out (shorten_name()),
// and cut at its end if the function's own name does not fit.
QString fitted_name(const QString& name, const QFontMetrics& font, int pixels);

}  // namespace prof::viewer
