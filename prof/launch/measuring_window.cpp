#include "prof/launch/measuring_window.h"

#include <utility>

#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/launch/measured_process.h"

namespace prof {

namespace {

constexpr double kLongest = 1e9;  // thirty years

}  // namespace

void add_window_options(CLI::App& command, Window& window) {
  const auto seconds = within(0.0, kLongest);
  command.add_option("--delay", window.delay_s, "Start measuring after this many seconds")
      ->check(seconds)
      ->type_name("SECONDS");
  command.add_option("--duration", window.duration_s, "Measure for this many seconds")
      ->check(seconds)
      ->type_name("SECONDS");
}

MeasuringWindow::MeasuringWindow(std::filesystem::path directory, const Window& window)
    : directory_(std::move(directory)) {
  if (window.delay_s || window.duration_s) thread_ = std::thread([this, window] { keep(window); });
}

MeasuringWindow::~MeasuringWindow() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// Returns false when the run is over.
bool MeasuringWindow::wait(double seconds) {
  std::unique_lock lock(mutex_);
  return !stop_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return stopping_; });
}

void MeasuringWindow::keep(Window window) {
  if (window.delay_s) {
    if (!wait(*window.delay_s)) return;
    resume_run(directory_);
  }
  if (!window.duration_s || !wait(*window.duration_s)) return;
  try {
    pause_run(directory_);
  } catch (const CommandError& error) {
    say_line(error.what());
  }
}

}  // namespace prof
