#pragma once
// The measurements of a run in terms of one tree of calling contexts: whose profiles the database has, and
// what the nodes of each are in it. Neither depends on the order in which measurements are read, nor on how
// many threads do it.

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
  // Reads the measurements, of a team each process its share; fills the database's modules, files, functions,
  // contexts, metrics and costs of instructions. `database` is not looked at afterwards, and may be moved.
  // Throws AnalyzeError.
  MergedRun(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options,
            Database& database, std::vector<std::string>& warnings);

  const MeasurementStore& store() const { return store_; }
  // The metrics of each measurement.
  const std::vector<std::vector<MetricColumn>>& columns() const { return columns_; }

  // A thread, or the line of a device queue: the same number is its profile's in the database.
  struct Line {
    uint32_t measurement;
    uint32_t thread;             // index into its threads
    uint64_t trace_records = 0;  // of the database's trace; 0: it has none
  };
  const std::vector<Line>& lines() const { return lines_; }
  // The measurements whose call paths a process of the team has merged, and whose values it is to write: from
  // the first number to before the second. Each can process those of others as well, in more time.
  std::pair<size_t, size_t> measurements_of(int process) const {
    return shares_[static_cast<size_t>(process)];
  }
  // Those of one measurement, which are lines() from here to that of the next one.
  uint32_t first_line(size_t measurement) const { return first_line_[measurement]; }

  // The lines of a process, whole.
  struct Process {
    std::shared_ptr<const ProcessMeasurement> measurement;
    uint32_t first_line = 0;
    std::vector<const MeasuredThread*> lines;
    std::vector<std::vector<uint32_t>> context_of;  // of each line the contexts of its nodes

    // Without queues.
    std::vector<ThreadInDatabase> threads() const;
  };
  // Callable by several threads at once. Throws AnalyzeError.
  Process process(size_t measurement) const;

  // One line of it alone.
  std::vector<uint32_t> contexts_of(size_t measurement, const ProcessMeasurement& whole,
                                    const MeasuredThread& thread) const;

 private:
  void merge(const AnalyzeOptions& options, std::pair<size_t, size_t> share, InstructionSums& instructions);

  Places places_;  // the store's reading fills it
  MeasurementStore store_;
  ContextTree tree_;
  std::vector<std::vector<MetricColumn>> columns_;
  std::vector<Line> lines_;
  std::vector<uint32_t> first_line_;               // and one behind the last
  std::vector<std::pair<size_t, size_t>> shares_;  // by process
};

}  // namespace prof
