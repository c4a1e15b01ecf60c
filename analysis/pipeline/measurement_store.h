#pragma once
// The measurements of the directories given to the analysis, which are distinct. What all of an analysis
// wants of every measurement is kept; call paths, values and traces, which are most of a file, are read anew
// when they are asked for, unless they were a moment ago: so ten thousand ranks need no more memory than a
// few do.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "analysis/pipeline/node_clocks.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/run_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

class MeasurementStore {
 public:
  // Sees every measurement once, whole, when it is read for the first time; called by several threads at
  // once. Measurements have no order yet: `file` is the number by which file_of() calls them. Those that
  // another process read it has from there: what give() there put out take() gets here.
  struct Visitor {
    std::function<void(size_t file, const ProcessMeasurement& measurement)> visit;
    std::function<void(Packer& out)> give;
    std::function<void(Unpacker& in)> take;
  };

  // Reads them all on options.jobs threads, and of a team each process its share. Damaged files are left out
  // with a warning that names them. Throws AnalyzeError when nothing is left.
  MeasurementStore(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options,
                   std::vector<std::string>& warnings, const Visitor& visitor);

  // Ordered by rank, then start, then file name, whatever order the file system lists them in; what is left
  // of each says measurement_outline.h.
  const std::vector<ProcessMeasurement>& outlines() const { return outlines_; }
  size_t size() const { return outlines_.size(); }
  size_t file_of(size_t index) const { return files_[index]; }
  const NodeClocks& clocks() const { return clocks_; }
  const std::vector<DirectoryRecords>& records() const {
    return of_directories_;
  }  // as the directories given

  // What of it an outline lacks.
  struct Contents {
    bool accesses = false;  // or counted writes
    bool lock_waits = false;
    bool device_waits = false;
    bool repairs = false;
    std::vector<uint32_t> nodes;  // of each thread
  };
  const Contents& contents(size_t index) const { return contents_[index]; }

  // All of it, with what the first reading found: of a file that grew since, no more nodes. Callable by
  // several threads at once. Throws AnalyzeError where the file is not the one that it was.
  std::shared_ptr<const ProcessMeasurement> whole(size_t index) const;

 private:
  struct Kept {
    size_t index;
    size_t bytes;
    std::shared_ptr<const ProcessMeasurement> measurement;
  };
  ProcessMeasurement read_again(size_t index) const;
  void keep(size_t index, std::shared_ptr<const ProcessMeasurement> measurement) const;

  std::vector<ProcessMeasurement> outlines_;
  std::vector<Contents> contents_;
  std::vector<size_t> files_;
  std::vector<StoredFile> stored_;
  std::vector<DirectoryRecords> of_directories_;
  std::vector<const RunRecord*> records_;  // of each file, in these
  NodeClocks clocks_;
  size_t most_bytes_;

  mutable std::mutex lock_;
  mutable std::condition_variable was_read_;
  mutable std::set<size_t> being_read_;
  mutable std::list<Kept> kept_;  // the one that was asked for last comes first
  mutable std::unordered_map<size_t, std::list<Kept>::iterator> kept_by_index_;
  mutable size_t kept_bytes_ = 0;
};

}  // namespace prof
