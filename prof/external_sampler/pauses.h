#pragma once
// When measuring is paused, as who samples from outside comes to know it: records are looked at some time
// after they were made, and each must be judged by its own time. All times are CLOCK_MONOTONIC in
// nanoseconds.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "hpcrun/measurement/writer.h"

namespace prof {

// The pauses of one process, which whoever opens its measurement file may begin and end. Knows the last two.
class ProcessPauses {
 public:
  // Looks at the file; before covers() is asked.
  void observe(hpcrun::MeasurementFile& file);

  bool covers(uint64_t time_ns) const;
  uint64_t last_end() const { return end_; }  // 0: none ended

 private:
  uint64_t since_ = 0;  // of the one that lasts; 0: none does
  uint64_t start_ = 0, end_ = 0;
  uint64_t total_ns_ = 0;
};

// The pause of a whole run, in which its processes start paused: it lasts while a file lies in the
// measurement directory (hpcrun/measurement/pause.h).
class RunPause {
 public:
  explicit RunPause(const std::filesystem::path& directory);

  // To be called often. The time at which the pause ended, where it did since the last call.
  std::optional<uint64_t> observe();

  bool covers(uint64_t time_ns) const;
  // Of the pause that ended last; nothing while one lasts.
  std::optional<uint64_t> end() const { return lasts_ ? std::nullopt : std::optional(end_); }

 private:
  uint64_t changed_at(const std::filesystem::path& path, uint64_t now_ns) const;

  std::filesystem::path directory_, marker_;
  bool lasts_;
  uint64_t start_ = 0, end_ = 0;
  uint64_t observed_ns_;
};

}  // namespace prof
