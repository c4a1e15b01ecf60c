#include "viewer/timeline/time_window.h"

#include <algorithm>
#include <cmath>

namespace prof::viewer {

namespace {

constexpr size_t kMaxSteps = 200;  // that can be undone

}  // namespace

void TimeWindow::set_whole(TimeRange whole) {
  whole_ = shown_ = whole;
  before_.clear();
}

bool TimeWindow::show(TimeRange range, Step step) {
  const uint64_t shortest = std::min(kShortest, whole_.ns());
  const uint64_t duration = std::clamp(range.end_ns > range.begin_ns ? range.ns() : 0, shortest, whole_.ns());
  range.begin_ns = std::clamp(range.begin_ns, whole_.begin_ns, whole_.end_ns - duration);
  range.end_ns = range.begin_ns + duration;
  if (range == shown_) return false;
  if (step == Step::New || before_.empty()) before_.push_back(shown_);
  if (before_.size() > kMaxSteps) before_.erase(before_.begin());
  shown_ = range;
  return true;
}

bool TimeWindow::zoom(double factor, uint64_t at_ns, Step step) {
  at_ns = std::clamp(at_ns, shown_.begin_ns, shown_.end_ns);
  const auto duration = static_cast<double>(shown_.ns());
  const double wanted = std::clamp(duration * factor, static_cast<double>(std::min(kShortest, whole_.ns())),
                                   static_cast<double>(whole_.ns()));
  const double before = static_cast<double>(at_ns - shown_.begin_ns) * (duration > 0 ? wanted / duration : 0);
  const uint64_t begin = at_ns - std::min(at_ns - whole_.begin_ns, static_cast<uint64_t>(before));
  return show({begin, begin + static_cast<uint64_t>(std::llround(wanted))}, step);
}

bool TimeWindow::pan(double share, Step step) {
  const double by = share * static_cast<double>(shown_.ns());
  const auto ns = static_cast<uint64_t>(std::abs(by));
  const uint64_t begin = by < 0 ? shown_.begin_ns - std::min(ns, shown_.begin_ns - whole_.begin_ns)
                                : shown_.begin_ns + std::min(ns, whole_.end_ns - shown_.end_ns);
  return show({begin, begin + shown_.ns()}, step);
}

bool TimeWindow::undo() {
  if (before_.empty()) return false;
  shown_ = before_.back();
  before_.pop_back();
  return true;
}

}  // namespace prof::viewer
