#include "analysis/pipeline/traces.h"

#include <algorithm>
#include <memory>

#include "analysis/database/idle_records.h"
#include "analysis/pipeline/common_time.h"
#include "analysis/pipeline/devices.h"

namespace prof {
namespace {

constexpr size_t kBlockRecords = 16 * 1024;  // 256 KiB as read, which fits into the processor's cache

class Source {
 public:
  Source(const MeasuredThread& thread, std::vector<uint32_t> context_of, const MeasuredProcess& process)
      : start_(thread.trace()),
        reader_(start_),
        context_of_(std::make_shared<const std::vector<uint32_t>>(std::move(context_of))),
        common_time_(process),
        thread_start_ns_(thread.start_ns),
        last_ns_(thread.start_ns) {}

  bool operator()(std::vector<TraceRecord>& block) {
    block.clear();
    if (done_) {
      rewind();
      return false;
    }
    samples_.resize(kBlockRecords);
    const size_t count = reader_.read(samples_);
    block.reserve(count + 1);
    for (size_t i = 0; i < count; ++i) {
      const TraceSample& sample = samples_[i];
      // A thread whose start record was lost begins at its first sample.
      if (last_ns_ == 0) last_ns_ = sample.time_ns;
      const uint32_t context = sample.node == kTraceGapNode ? kNone : (*context_of_)[sample.node];
      block.push_back({common_time_(last_ns_), context});
      last_ns_ = std::max(last_ns_, sample.time_ns);
    }
    if (count == 0) {
      done_ = true;
      if (!any_) {
        rewind();
        return false;
      }
      block.push_back({common_time_(last_ns_), kNone});
    }
    any_ = true;
    return true;
  }

 private:
  void rewind() {
    reader_ = start_;
    last_ns_ = thread_start_ns_;
    done_ = any_ = false;
    samples_ = {};
  }

  TraceReader start_;
  TraceReader reader_;
  std::shared_ptr<const std::vector<uint32_t>> context_of_;
  CommonTime common_time_;
  uint64_t thread_start_ns_;
  uint64_t last_ns_;
  bool done_ = false;
  bool any_ = false;
  std::vector<TraceSample> samples_;
};

}  // namespace

TraceSource trace_source(const MeasuredThread& thread, std::vector<uint32_t> context_of,
                         const MeasuredProcess& process) {
  return Source(thread, std::move(context_of), process);
}

TraceSource trace_of_track(const MeasuredThread& track, std::vector<uint32_t> context_of,
                           const MeasuredProcess& process) {
  return track.kind == TrackKind::Queue ? task_trace(track, std::move(context_of), process)
                                        : trace_source(track, std::move(context_of), process);
}

uint64_t trace_records(const MeasuredThread& track, const MeasuredProcess& process) {
  const TraceSource trace = trace_of_track(track, std::vector<uint32_t>(track.nodes.size(), 0), process);
  return count_records(trace);
}

}  // namespace prof
