#pragma once
// The measurements of the given directories, which are distinct. Keeps an outline of each measurement. Call
// paths, values and traces, which are most of a file, are read again on request, except for files that were
// used recently. So ten thousand ranks need no more memory than a few.

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
  // visit() gets each measurement once and whole, when it is first read; several threads call it at once.
  // Measurements have no order yet: `file` is the number that file_of() returns. For those that another
  // process read, take() gets here what give() wrote there.
  struct Visitor {
    std::function<void(size_t file, const ProcessMeasurement& measurement)> visit;
    std::function<void(Packer& out)> give;
    std::function<void(Unpacker& in)> take;
  };

  // Reads all measurements on options.jobs threads; each worker reads its share. Damaged files are
  // skipped, with a warning that names them. Throws AnalyzeError if no measurement is left.
  MeasurementStore(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options,
                   std::vector<std::string>& warnings, const Visitor& visitor);

  // Sorted by rank, then start, then file name, independent of the order in the file system.
  // measurement_outline.h describes what an outline has.
  const std::vector<ProcessMeasurement>& outlines() const { return outlines_; }
  size_t size() const { return outlines_.size(); }
  size_t file_of(size_t index) const { return files_[index]; }
  const NodeClocks& clocks() const { return clocks_; }
  const std::vector<DirectoryRecords>& records() const {
    return of_directories_;
  }  // in the order of the given directories

  // The parts of a measurement that an outline omits.
  struct Contents {
    bool accesses = false;  // or counted writes
    bool lock_waits = false;
    bool memory_waste = false;
    bool device_waits = false;
    bool repairs = false;
    std::vector<uint32_t> nodes;  // the number of nodes of each thread
  };
  const Contents& contents(size_t index) const { return contents_[index]; }

  // Returns the whole measurement as it was first read: nodes that a growing file got since are left out.
  // Safe to call from several threads at once. Throws AnalyzeError if the file was replaced.
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
  std::vector<const RunRecord*> records_;  // points into of_directories_, for each file
  NodeClocks clocks_;
  size_t most_bytes_;

  mutable std::mutex lock_;
  mutable std::condition_variable was_read_;
  mutable std::set<size_t> being_read_;
  mutable std::list<Kept> kept_;  // the most recently used comes first
  mutable std::unordered_map<size_t, std::list<Kept>::iterator> kept_by_index_;
  mutable size_t kept_bytes_ = 0;
};

}  // namespace prof
