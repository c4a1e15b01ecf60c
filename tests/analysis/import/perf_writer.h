#pragma once
// Writes recordings as perf does, one record at a time.

#include <array>
#include <string>
#include <vector>

#include "analysis/import/perf/format.h"

namespace prof::test {

struct WrittenSample {
  uint16_t mode = PERF_RECORD_MISC_USER;
  uint64_t ip = 0;
  int32_t pid = 100, tid = 100;
  uint64_t time = 0;
  uint64_t event = 0;  // index
  uint64_t period = 1;
  std::vector<uint64_t> chain = {};
  // If the recording has them:
  uint64_t address = 0, weight = 0, data_source = 0, physical_address = 0;
  std::vector<uint64_t> registers = {};
  std::string stack = {};
};

class PerfWriter {
 public:
  // `more_of_samples`: sample fields besides IDENTIFIER, IP, TID, TIME, PERIOD and CALLCHAIN.
  explicit PerfWriter(uint64_t more_of_samples = 0, uint64_t register_mask = 0)
      : type_(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
              PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | more_of_samples),
        register_mask_(register_mask) {}

  void event(const std::string& name, uint32_t type, uint64_t config);
  void map(int32_t pid, uint64_t start, uint64_t bytes, uint64_t offset, const std::string& path,
           uint64_t time, uint16_t mode = PERF_RECORD_MISC_USER);
  void name(int32_t pid, int32_t tid, const std::string& name, uint64_t time, bool executed = false);
  void fork(int32_t pid, int32_t parent, int32_t tid, int32_t parent_tid, uint64_t time);
  void lost(uint64_t samples, uint64_t time);
  void kernel_symbol(uint64_t start, uint32_t bytes, const std::string& name, uint64_t time);
  void sample(const WrittenSample& sample);
  void build_id(const std::string& path, const std::array<uint8_t, 20>& id);
  void host(const std::string& name) { host_ = name; }
  void processor(const std::string& name) { processor_ = name; }

  std::string file(bool compressed = false) const;
  std::string pipe() const;

 private:
  struct Event {
    std::string name;
    perf_event_attr attributes;
    uint64_t id;
  };
  void record(uint32_t type, uint16_t misc, const std::string& body, uint64_t time,
              bool with_sample_id = true);
  std::string host_section() const;
  std::string processor_section() const;
  std::string descriptions() const;

  uint64_t type_;
  uint64_t register_mask_;
  std::vector<Event> events_;
  std::string records_;
  std::string build_ids_;
  std::string host_;
  std::string processor_;
};

// A bit of perf_event_attr::sample_type, for kernel headers that lack it.
constexpr uint64_t kSampleWeightStruct = uint64_t{1} << 24;

// Returns a recording as `perf c2c record` writes it: loads and stores of two threads with false sharing of a
// line, which the loads find modified in another core's cache.
PerfWriter memory_recording();

// Returns a recording with everything that the reader supports: two processes, threads, two events, kernel
// and user frames.
PerfWriter small_recording();

}  // namespace prof::test
