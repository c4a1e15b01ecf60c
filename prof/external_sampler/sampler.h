#pragma once
// Samples programs in which a preloaded runtime cannot run (static ones, Go). Perf events on the process and
// its descendants write into ring buffers, which a thread of `prof` reads and records. It samples the program
// that is run, or descendants that request it (hpcrun/process/outside_request.h).

#include <sys/types.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "prof/external_sampler/events.h"
#include "prof/external_sampler/recorder.h"
#include "prof/external_sampler/socket.h"

namespace prof {

class OutsideSampler {
 public:
  // Answers requests from now on. Opens nothing else before the first request.
  explicit OutsideSampler(OutsidePlan plan);

  // Stops and completes the measurement files.
  ~OutsideSampler();
  OutsideSampler(const OutsideSampler&) = delete;
  OutsideSampler& operator=(const OutsideSampler&) = delete;

  // Returns the name for PROF_OUTSIDE; empty if requests are not possible.
  const std::string& socket_name() const { return socket_.name(); }

  // Samples a process and all its descendants from the exec of `program` on. Returns 0, or the errno with
  // which the kernel refuses.
  int attach(pid_t pid, const std::string& program);

 private:
  void serve();
  void answer_requests();
  int attach_from(pid_t pid, char what);
  int open_for(pid_t pid, char what);
  void read_rings();
  void record_up_to(uint64_t time_ns);
  bool knows(pid_t pid) const;
  void introduce(pid_t pid);
  uint64_t ring_bytes() const;

  const std::vector<hpcrun::EventSpec> specs_;
  const std::string refusal_;
  OutsideSocket socket_;
  int wake_ = -1;     // eventfd: notifies the thread of a change
  std::mutex mutex_;  // guards all below
  bool stopping_ = false;
  bool samples_kernel_ = true;
  std::vector<PerfRing> rings_;
  OutsideRecorder recorder_;
  std::vector<PerfRecord> waiting_;  // read, but other rings may still deliver earlier ones
  std::vector<OpenEvent> opened_;
  std::set<pid_t> attached_;
  std::thread thread_;
};

}  // namespace prof
