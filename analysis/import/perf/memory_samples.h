#pragma once
// The memory accesses in recordings of `perf mem`, `perf c2c` and similar tools (docs/import.md). Samples
// with an address and a data source show which thread read or wrote which bytes, and whether the line came
// from another processor's cache. From these, finds the data that threads contended for.

#include <optional>
#include <string>
#include <vector>

#include "analysis/import/perf/code_reader.h"
#include "analysis/import/perf/mapped_files.h"
#include "analysis/import/perf/recording.h"
#include "analysis/pipeline/contention.h"

namespace prof::perf {

class MemorySamples {
 public:
  // Both must outlive the object.
  MemorySamples(const Recording& recording, const AttributionOptions& options)
      : recording_(recording), options_(options), code_(options) {}

  // True if samples of the event are memory accesses.
  static bool has_accesses(const Event& event);

  // Adds a process. Returns its number. `modules` must be set before records().
  uint32_t process(int32_t pid);
  ProcessData& data_of(uint32_t process) { return processes_[process].data; }

  // `thread`: the database's number. `node`: the caller's number of the calling context. `code`: the place of
  // the instruction.
  void add(const Sample& sample, uint32_t process, uint32_t thread, uint32_t node,
           const MappedFiles::CodeInFile& code);

  // Returns nullopt if the recording has no memory accesses. `contexts`: the database's context of each node.
  // Adds warnings, one line each, about limits of the recording.
  std::optional<std::vector<ContendedRecord>> records(const std::vector<uint32_t>& contexts,
                                                      const std::string& name,
                                                      std::vector<std::string>& warnings);

 private:
  struct Access {
    uint64_t address;
    uint64_t time_ns;
    uint64_t period;
    uint32_t cycles;  // its latency; 0 if unknown
    uint32_t thread;
    uint32_t node;
    uint8_t bytes;
    hpcrun::AccessKind kind;
    bool is_modified_elsewhere, is_remote, is_from_peer, is_from_shared_cache;
  };
  struct Process {
    ProcessData data;
    std::vector<Access> accesses;
  };

  bool is_transfer(const Access& access) const;
  std::vector<ContentionAccess> contended_accesses(const Process& process,
                                                   uint64_t& lines_without_stores) const;
  // Returns the source by the processor or, if that was not recorded, by the names of the events.
  EvidenceSource source() const;
  void warn(const std::string& name, uint64_t lines_without_stores, std::vector<std::string>& warnings) const;

  const Recording& recording_;
  const AttributionOptions& options_;
  CodeReader code_;
  std::vector<Process> processes_;
  bool reports_snoops_ = false;  // if the hardware does not, lines from shared caches count as transfers
  uint64_t samples_ = 0, used_ = 0, widths_known_ = 0;
  std::optional<uint64_t> first_ns_, last_ns_;
  std::vector<bool> sampled_;  // by event
};

}  // namespace prof::perf
