#pragma once
// How the viewer writes quantities: as `prof report` does.

#include <QFontMetrics>
#include <QString>

#include "analysis/database/model.h"

namespace prof::viewer {

// "1.24 s", "3.1 MiB", "12,345": in the metric's unit.
QString quantity(const Metric& metric, double value);
// "12.3 %", "<0.1 %", and nothing where nothing was measured.
QString percent(double share);
// The same of a difference, by its sign (-1, 0, 1): "+12.3 %".
QString signed_percent(double share, int sign);
// Exact, for tooltips and copies: all digits that mean something, and the unit.
QString exact_quantity(const Metric& metric, double value);
// "1.5 s", "230 us": of a time in traces.
QString duration(uint64_t ns);
// A function's name that fits into so many pixels: shortened from the inside out (shorten_name()), and cut
// at its end where its own name does not fit.
QString fitted_name(const QString& name, const QFontMetrics& font, int pixels);

}  // namespace prof::viewer
