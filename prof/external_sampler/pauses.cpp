#include "prof/external_sampler/pauses.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "hpcrun/measurement/pause.h"
#include "prof/external_sampler/recorded_process.h"

namespace prof {

using hpcrun::Counter;

// The file records when the last pause ended, and the length of all pauses. If the start of a pause was not
// observed, it is computed from these.
void ProcessPauses::observe(hpcrun::MeasurementFile& file) {
  const uint64_t since = file.counter(Counter::PausedSinceNs).load(std::memory_order_acquire);
  const uint64_t end = file.counter(Counter::ResumedAtNs).load(std::memory_order_acquire);
  const uint64_t total = file.counter(Counter::PausedNanoseconds).load(std::memory_order_acquire);
  if (end != end_) {
    start_ = since_ != 0 ? since_ : end - std::min(end, total - total_ns_);
    end_ = end;
  }
  since_ = since;
  total_ns_ = total;
}

bool ProcessPauses::covers(uint64_t time_ns) const {
  return (since_ != 0 && time_ns >= since_) || (time_ns >= start_ && time_ns < end_);
}

RunPause::RunPause(const std::filesystem::path& directory)
    : directory_(directory),
      marker_(directory / hpcrun::kPausedMarker),
      lasts_(access(marker_.c_str(), F_OK) == 0),
      observed_ns_(clock_ns(CLOCK_MONOTONIC)) {}

std::optional<uint64_t> RunPause::observe() {
  const bool lasted = lasts_;
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  lasts_ = access(marker_.c_str(), F_OK) == 0;
  if (lasts_ && !lasted) start_ = changed_at(marker_, now);
  if (lasted && !lasts_) end_ = changed_at(directory_, now);
  observed_ns_ = now;
  return lasted && !lasts_ ? std::optional(end_) : std::nullopt;
}

bool RunPause::covers(uint64_t time_ns) const {
  return time_ns >= start_ && (lasts_ || time_ns < end_);
}

// Returns a time after the last observation in any case. (A folder changes when a file in it is removed, but
// also on other occasions.)
uint64_t RunPause::changed_at(const std::filesystem::path& path, uint64_t now_ns) const {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return now_ns;
  const auto seconds = static_cast<uint64_t>(status.st_mtim.tv_sec);
  const uint64_t changed = seconds * 1'000'000'000u + static_cast<uint64_t>(status.st_mtim.tv_nsec);
  const uint64_t ago = clock_ns(CLOCK_REALTIME) - changed;
  return std::clamp(now_ns - std::min(ago, now_ns), observed_ns_, now_ns);
}

}  // namespace prof
