#pragma once
// Reports the progress of work.

#include <atomic>
#include <cstddef>
#include <functional>

namespace prof {

// Receives that `done` of `total` pieces of a stage ("reading files") are done; may be empty. Called from
// several threads at once, not necessarily in the order of `done`. A stage ends when all of its pieces are
// done.
using Progress = std::function<void(const char* stage, size_t done, size_t total)>;

// Counts the finished pieces of a stage. Thread-safe. `progress` must outlive it.
class Stage {
 public:
  Stage(const Progress& progress, const char* name, size_t total)
      : progress_(progress), name_(name), total_(total) {}

  void add(size_t pieces = 1) {
    const size_t now = done_ += pieces;
    if (progress_ && pieces > 0) progress_(name_, now, total_);
  }

 private:
  const Progress& progress_;
  const char* name_;
  size_t total_;
  std::atomic<size_t> done_{0};
};

}  // namespace prof
