#pragma once
// The part of the run's time that is shown, and its history.

#include <vector>

#include "viewer/trace/time_range.h"

namespace prof::viewer {

class TimeWindow {
 public:
  // Shows the whole time and clears the history.
  void set_whole(TimeRange whole);
  const TimeRange& whole() const { return whole_; }
  const TimeRange& shown() const { return shown_; }

  // All clip to the whole and keep a minimum duration. They return false if nothing changed. Each step can be
  // undone; a step that continues a gesture is undone together with it.
  enum class Step { New, Continued };
  bool show(TimeRange range, Step step = Step::New);
  // Shows `factor` times the current time; the instant stays in place.
  bool zoom(double factor, uint64_t at_ns, Step step = Step::New);
  // Moves to later times, by a share of what is shown.
  bool pan(double share, Step step = Step::New);
  bool show_whole() { return show(whole_); }
  bool undo();
  // The number of steps that can be undone.
  size_t steps() const { return before_.size(); }

  // The shortest time that a pixel can resolve, in ns.
  static constexpr uint64_t kShortest = 2'000;

 private:
  TimeRange whole_, shown_;
  std::vector<TimeRange> before_;
};

}  // namespace prof::viewer
