#include "viewer/document/words.h"

#include <QLocale>

#include "analysis/views/wording.h"

namespace prof::viewer {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr int kExactDigits = 9;

QString counted(double value) {
  static const QLocale english(QLocale::English, QLocale::UnitedStates);
  return english.toString(value, 'f', 0);
}

}  // namespace

QString quantity(const Metric& metric, double value) {
  if (metric.unit == "sec") return QString::fromStdString(words_for_duration(value));
  if (metric.unit == "bytes") return QString::fromStdString(words_for_bytes(value));
  return counted(value);
}

QString percent(double share) {
  return share > 0 ? QString::fromStdString(words_for_percent(share)) : QString();
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
  constexpr uint64_t kUs = 1'000, kMs = 1'000'000;
  if (ns < kUs) return QString::number(ns) + " ns";
  if (ns < kMs) return QString::number(static_cast<double>(ns) / kUs, 'g', 3) + " us";
  return QString::fromStdString(words_for_duration(static_cast<double>(ns) / kNsPerSecond));
}

}  // namespace prof::viewer
