#pragma once
// Finds out when measuring was paused. Records are processed some time after they were made, and each must be
// judged by its own time. All times are CLOCK_MONOTONIC in nanoseconds.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "hpcrun/measurement/writer.h"

namespace prof {

// The pauses of one process. Anyone who opens its measurement file may begin and end them. Keeps the last
// two.
class ProcessPauses {
 public:
  // Reads the file. Must be called before covers().
  void observe(hpcrun::MeasurementFile& file);

  bool covers(uint64_t time_ns) const;
  uint64_t last_end() const { return end_; }  // 0: none ended

 private:
  uint64_t since_ = 0;  // start of the present pause; 0 if there is none
  uint64_t start_ = 0, end_ = 0;
  uint64_t total_ns_ = 0;
};

// The pause of a whole run, in which its processes start paused. It lasts while a marker file is in the
// measurement directory (hpcrun/measurement/pause.h).
class RunPause {
 public:
  explicit RunPause(const std::filesystem::path& directory);

  // Must be called often. Returns the time at which the pause ended, if it ended since the last call.
  std::optional<uint64_t> observe();

  bool covers(uint64_t time_ns) const;
  // Returns the end of the last pause; nothing during one.
  std::optional<uint64_t> end() const { return lasts_ ? std::nullopt : std::optional(end_); }

 private:
  uint64_t changed_at(const std::filesystem::path& path, uint64_t now_ns) const;

  std::filesystem::path directory_, marker_;
  bool lasts_;
  uint64_t start_ = 0, end_ = 0;
  uint64_t observed_ns_;
};

}  // namespace prof
