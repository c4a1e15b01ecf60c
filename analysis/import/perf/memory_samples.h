#pragma once
// The memory accesses in recordings of `perf mem`, `perf c2c` and the like (docs/import.md): of samples with
// an address and a data source, which bytes of memory which thread read or wrote, and whether the line came
// from another processor's cache; and from these the data that threads contended for.

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
  // Both must outlive this.
  MemorySamples(const Recording& recording, const AttributionOptions& options)
      : recording_(recording), options_(options), code_(options) {}

  // Whether samples of the event are memory accesses.
  static bool has_accesses(const Event& event);

  // A new process; its number. `modules` must be set before records().
  uint32_t process(int32_t pid);
  ProcessData& data_of(uint32_t process) { return processes_[process].data; }

  // `thread`: of the database. `node`: the caller's number of the calling context. `code`: of the
  // instruction.
  void add(const Sample& sample, uint32_t process, uint32_t thread, uint32_t node,
           const MappedFiles::CodeInFile& code);

  // Nothing where the recording has no memory accesses. `contexts`: of the database, by node. What is less
  // well known than users would expect is a warning, one line each.
  std::optional<std::vector<ContendedRecord>> records(const std::vector<uint32_t>& contexts,
                                                      const std::string& name,
                                                      std::vector<std::string>& warnings);

 private:
  struct Access {
    uint64_t address;
    uint64_t time_ns;
    uint64_t period;
    uint32_t cycles;  // it took; 0: not known
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
  // By the processor; where the recording does not tell that, by the names of its events.
  EvidenceSource source() const;
  void warn(const std::string& name, uint64_t lines_without_stores, std::vector<std::string>& warnings) const;

  const Recording& recording_;
  const AttributionOptions& options_;
  CodeReader code_;
  std::vector<Process> processes_;
  bool tells_snoops_ = false;  // the hardware does; else lines from shared caches are taken for transfers
  uint64_t samples_ = 0, used_ = 0, widths_known_ = 0;
  std::optional<uint64_t> first_ns_, last_ns_;
  std::vector<bool> sampled_;  // by event
};

}  // namespace prof::perf
