#include "analysis/pipeline/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "analysis/pipeline/locks.h"
#include "analysis/pipeline/parallel.h"
#include "analysis/pipeline/run_record.h"
#include "analysis/pipeline/waits.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> measurement_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (at->path().extension() == ".prof" && at->is_regular_file(unreadable)) files.push_back(at->path());
  }
  if (error) {
    throw AnalyzeError(AnalyzeError::Kind::NoDirectory,
                       fmt::format("cannot read {}: {}", directory.string(), error.message()));
  }
  if (files.empty()) {
    throw AnalyzeError(
        AnalyzeError::Kind::NoMeasurements,
        fmt::format("no measurement files (*.prof) in {}; `prof run -o DIR program` makes some",
                    directory.string()));
  }
  return files;
}

struct Loaded {
  std::optional<ProcessMeasurement> measurement;
  std::string failure;
};

// A file of which only the header was left, or less, reads as a process without metrics: no run has those.
Loaded load(const fs::path& file) {
  try {
    ProcessMeasurement measurement = read_measurement(file);
    if (measurement.metrics.empty() && measurement.threads.empty() && !measurement.warnings.empty())
      return {std::nullopt,
              fmt::format("{}: nothing in it can be used: {}", file.string(), measurement.warnings.front())};
    return {std::move(measurement), {}};
  } catch (const MeasurementError& error) {
    return {std::nullopt, error.what()};
  }
}

// `prof run` saw its program's end, and the report tells how it came.
bool is_end_known(const MeasuredProcess& process, const RunRecord& record) {
  return process.end_monotonic_ns != 0 || (record.pid == process.pid && record.end_monotonic_ns);
}

// Warnings of the reader with the file they are about. A run of many processes tends to have the same one
// many times, which then is one line.
class FileWarnings {
 public:
  void add(const fs::path& file, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const auto known = std::ranges::find(groups_, text, &Group::text);
      if (known == groups_.end()) {
        groups_.push_back({text, file, 0});
      } else {
        ++known->more;
      }
    }
  }

  void report(std::vector<std::string>& warnings) const {
    for (const Group& group : groups_) {
      const std::string more = group.more == 0 ? ""
                                               : fmt::format(" (and {} {} like it)", group.more,
                                                             group.more == 1 ? "file" : "files");
      warnings.push_back(fmt::format("{}{}: {}", group.first.string(), more, group.text));
    }
  }

 private:
  struct Group {
    std::string text;
    fs::path first;
    size_t more;
  };
  std::vector<Group> groups_;
};

}  // namespace

std::vector<ProcessMeasurement> load_measurements(const std::vector<fs::path>& directories,
                                                  const AnalyzeOptions& options,
                                                  std::vector<std::string>& warnings) {
  std::vector<fs::path> files;
  for (const fs::path& directory : directories) {
    std::ranges::move(measurement_files(directory), std::back_inserter(files));
  }
  std::sort(files.begin(), files.end());

  std::vector<Loaded> loaded(files.size());
  parallel_for(files.size(), options, "reading files", [&](size_t i) { loaded[i] = load(files[i]); });

  std::vector<ProcessMeasurement> measurements;
  FileWarnings file_warnings;
  for (size_t i = 0; i < loaded.size(); ++i) {
    Loaded& one = loaded[i];
    if (!one.measurement) {
      warnings.push_back(one.failure + "; left out");
      continue;
    }
    const RunRecord record = read_run_record(files[i].parent_path());
    if (!is_end_known(one.measurement->process, record))
      one.measurement->warnings.insert(
          one.measurement->warnings.begin(),
          "the process did not end normally, or still runs; everything it published is here");
    file_warnings.add(files[i], one.measurement->warnings);
    charge_waits(*one.measurement, record);
    charge_locks(*one.measurement);
    measurements.push_back(std::move(*one.measurement));
  }
  file_warnings.report(warnings);
  if (measurements.empty()) {
    throw AnalyzeError(AnalyzeError::Kind::AllUnusable,
                       files.size() == 1
                           ? loaded[0].failure
                           : fmt::format("none of the {} measurement files can be used; the first: {}",
                                         files.size(), loaded[0].failure));
  }
  std::stable_sort(measurements.begin(), measurements.end(),
                   [](const ProcessMeasurement& a, const ProcessMeasurement& b) {
                     return std::tuple(a.process.rank, a.process.start_realtime_ns) <
                            std::tuple(b.process.rank, b.process.start_realtime_ns);
                   });
  return measurements;
}

}  // namespace prof
