#pragma once
// The time window in which a run is measured: `--delay`, `--duration`, `--paused`.

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

namespace CLI {
class App;
}  // namespace CLI

namespace prof {

struct Window {
  bool paused = false;  // until prof_start() or `prof resume`
  std::optional<double> delay_s;
  std::optional<double> duration_s;  // of measuring, after the delay

  bool starts_paused() const { return paused || delay_s; }
};

// Adds --delay and --duration, with their checks.
void add_window_options(CLI::App& command, Window& window);

// Pauses and resumes the processes of a run as the window requires, from construction to destruction. Starts
// a thread only if the window requires anything.
class MeasuringWindow {
 public:
  MeasuringWindow(std::filesystem::path directory, const Window& window);
  ~MeasuringWindow();
  MeasuringWindow(const MeasuringWindow&) = delete;
  MeasuringWindow& operator=(const MeasuringWindow&) = delete;

 private:
  void keep(Window window);
  bool wait(double seconds);

  std::filesystem::path directory_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace prof
