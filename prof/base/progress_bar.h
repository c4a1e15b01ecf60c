#pragma once
// Shows the progress of the analysis on a terminal. Draws nothing into a file or a pipe, on a dumb terminal,
// with --quiet, and for work that takes less than half a second.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace prof {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Shows that `done` of `total` pieces of a stage ("reading files") are complete. May be called from any
  // thread. Draws at most ten times a second, and at the end of each stage.
  void show(std::string_view stage, size_t done, size_t total);

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  size_t columns_;
  std::mutex mutex_;
  Clock::time_point first_, next_;  // when it may be drawn for the first time, and again
  bool drawn_ = false;
  std::string stage_;  // the stage drawn last, and how much of it
  size_t done_ = 0;
};

// Returns "reading files [##### ] 50 %", at most `columns` wide.
std::string progress_line(std::string_view stage, size_t done, size_t total, size_t columns);

}  // namespace prof
