#pragma once
// Merges the measurements of a run into one calling context tree. Determines which profiles the database has,
// and the context of each node. The result depends neither on the order in which measurements are read nor on
// the number of threads.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/context_tree.h"
#include "analysis/pipeline/instruction_sums.h"
#include "analysis/pipeline/measurement_store.h"
#include "analysis/pipeline/places.h"

namespace prof {

class MergedRun {
 public:
  // Reads the measurements; each worker reads its share. Fills the database's modules, files,
  // functions, contexts, metrics and costs of instructions. `database` is not used afterwards, and may be
  // moved. Throws AnalyzeError.
  MergedRun(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options,
            Database& database, std::vector<std::string>& warnings);

  const MeasurementStore& store() const { return store_; }
  // The metric columns of each measurement.
  const std::vector<std::vector<MetricColumn>>& columns() const { return columns_; }

  // A thread, or the track of a device queue. Its index is that of its profile in the database.
  struct Track {
    uint32_t measurement;
    uint32_t thread;             // index into its threads
    uint64_t trace_records = 0;  // of the database's trace; 0 if there is none
  };
  const std::vector<Track>& tracks() const { return tracks_; }
  // Returns the range [first, last) of measurements whose call paths a worker has merged, and
  // whose values it writes. Each process can also handle the measurements of others, more slowly.
  std::pair<size_t, size_t> measurements_of(int process) const {
    return shares_[static_cast<size_t>(process)];
  }
  // Returns the index in tracks() of a measurement's first track. Its tracks end at that of the next
  // measurement.
  uint32_t first_track(size_t measurement) const { return first_track_[measurement]; }

  // All tracks of a process.
  struct Process {
    std::shared_ptr<const ProcessMeasurement> measurement;
    uint32_t first_track = 0;
    std::vector<const MeasuredThread*> tracks;
    std::vector<std::vector<uint32_t>> context_of;  // for each track, the contexts of its nodes

    // Returns the threads, without queues.
    std::vector<ThreadInDatabase> threads() const;
  };
  // Safe to call from several threads at once. Throws AnalyzeError.
  Process process(size_t measurement) const;

  // Returns the contexts of one track.
  std::vector<uint32_t> contexts_of(size_t measurement, const ProcessMeasurement& whole,
                                    const MeasuredThread& thread) const;

 private:
  void merge(const AnalyzeOptions& options, std::pair<size_t, size_t> share, InstructionSums& instructions);

  Places places_;  // filled while the store reads
  MeasurementStore store_;
  ContextTree tree_;
  std::vector<std::vector<MetricColumn>> columns_;
  std::vector<Track> tracks_;
  std::vector<uint32_t> first_track_;              // with the end of the last
  std::vector<std::pair<size_t, size_t>> shares_;  // by process
};

}  // namespace prof
