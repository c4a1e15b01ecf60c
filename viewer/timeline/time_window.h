#pragma once
// Which part of the run's time is shown, and which were before.

#include <vector>

#include "viewer/trace/time_range.h"

namespace prof::viewer {

class TimeWindow {
 public:
  // Shows all of it, and forgets what was before.
  void set_whole(TimeRange whole);
  const TimeRange& whole() const { return whole_; }
  const TimeRange& shown() const { return shown_; }

  // All clip to the whole and keep a shortest duration. False where nothing changed. A step can be undone;
  // one that continues a gesture is undone together with it.
  enum class Step { New, Continued };
  bool show(TimeRange range, Step step = Step::New);
  // Shows `factor` of the time, and the instant stays where it is.
  bool zoom(double factor, uint64_t at_ns, Step step = Step::New);
  // To later times, in shares of what is shown.
  bool pan(double share, Step step = Step::New);
  bool show_whole() { return show(whole_); }
  bool undo();
  // How many can be undone.
  size_t steps() const { return before_.size(); }

  // In ns: what a pixel can still tell apart.
  static constexpr uint64_t kShortest = 2'000;

 private:
  TimeRange whole_, shown_;
  std::vector<TimeRange> before_;
};

}  // namespace prof::viewer
