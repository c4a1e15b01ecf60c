#include "viewer/document/words.h"

#include <QLocale>
#include <algorithm>
#include <string>

#include "analysis/words/numbers.h"
#include "analysis/words/short_names.h"

namespace prof::viewer {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr int kExactDigits = 9;

QString counted(double value) {
  static const QLocale english(QLocale::English, QLocale::UnitedStates);
  return english.toString(value, 'f', 0);
}

// Formats a number from 1 to 1000.
QString three_digits(double value) {
  const int whole = value < 9.995 ? 1 : value < 99.95 ? 2 : 3;
  QString text = QString::number(value, 'f', 3 - whole);
  while (text.contains('.') && (text.endsWith('0') || text.endsWith('.'))) text.chop(1);
  return text;
}

}  // namespace

QString quantity(const Metric& metric, double value) {
  if (metric.unit == "sec") return QString::fromStdString(format_duration(value));
  if (metric.unit == "bytes") return QString::fromStdString(format_bytes(value));
  return counted(value);
}

QString percent(double share) {
  return share > 0 ? QString::fromStdString(format_percent(share)) : QString();
}

QString signed_percent(double share, int sign) {
  const QString words = percent(share);
  return words.isEmpty() || sign == 0 ? words : (sign > 0 ? "+" : "-") + words;
}

QString exact_quantity(const Metric& metric, double value) {
  if (metric.unit == "sec") return QString::number(value, 'g', kExactDigits) + " s";
  return counted(value) + (metric.unit.empty() ? QString() : " " + QString::fromStdString(metric.unit));
}

QString duration(uint64_t ns) {
  constexpr uint64_t kUs = 1'000, kMs = 1'000'000, kSecond = 1'000'000'000;
  if (ns < kUs) return QString::number(ns) + " ns";
  if (ns < kMs) return three_digits(static_cast<double>(ns) / kUs) + " us";
  if (ns < kSecond) return three_digits(static_cast<double>(ns) / kMs) + " ms";
  return QString::fromStdString(format_duration(static_cast<double>(ns) / kNsPerSecond));
}

QString fitted_name(const QString& name, const QFontMetrics& font, int pixels) {
  if (font.horizontalAdvance(name) <= pixels) return name;
  constexpr int kFewestColumns = 18;  // room for the function's own name with dots around it
  constexpr int kTries = 4;           // letters differ in width
  const std::string whole = name.toStdString();
  int columns = std::min(static_cast<int>(name.size()), pixels / std::max(1, font.averageCharWidth()));
  for (int i = 0; i < kTries && columns >= kFewestColumns; ++i, columns = columns * 7 / 8) {
    const QString shorter = QString::fromStdString(shorten_name(whole, static_cast<size_t>(columns)));
    if (font.horizontalAdvance(shorter) <= pixels) return shorter;
  }
  QString own = QString::fromStdString(shorten_name(whole, kFewestColumns));
  if (own.startsWith("...::")) own.remove(0, 5);
  if (const auto parameters = own.indexOf("(..."); parameters > 0) own.truncate(parameters);
  return font.elidedText(own, Qt::ElideRight, pixels);
}

}  // namespace prof::viewer
