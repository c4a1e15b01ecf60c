#include "analysis/pipeline/measurement_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "analysis/pipeline/locks.h"
#include "analysis/pipeline/measurement_outline.h"
#include "analysis/pipeline/memory_waste.h"
#include "analysis/pipeline/parallel.h"
#include "analysis/pipeline/stored_files.h"
#include "analysis/pipeline/waits.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

StoredFiles measurement_files(const fs::path& directory) {
  StoredFiles stored = stored_files(directory);
  if (stored.error) {
    throw AnalyzeError(AnalyzeError::Kind::NoDirectory,
                       fmt::format("cannot read {}: {}", directory.string(), stored.error.message()));
  }
  std::erase_if(stored.files, [](const StoredFile& file) { return file.path.extension() != ".prof"; });
  if (stored.files.empty()) {
    throw AnalyzeError(
        AnalyzeError::Kind::NoMeasurements,
        !stored.damage.empty()
            ? stored.damage.front()
            : fmt::format("no measurement files (*.prof) in {}; measure with `prof run -o DIR PROGRAM`",
                          directory.string()));
  }
  return stored;
}

// A file that was cut to its header or less reads as a process without metrics. No real run has none.
ProcessMeasurement read_usable(const StoredFile& file) {
  ProcessMeasurement measurement = read_measurement(file);
  if (measurement.metrics.empty() && measurement.threads.empty() && !measurement.warnings.empty())
    throw MeasurementError(MeasurementError::Kind::Empty,
                           fmt::format("{}: contains no usable measurements: {}", file.path.string(),
                                       measurement.warnings.front()));
  return measurement;
}

// True if `prof run` observed the end of the process; the report then says how it ended.
bool is_end_known(const MeasuredProcess& process, const RunRecord& record) {
  return process.end_monotonic_ns != 0 || (record.pid == process.pid && record.end_monotonic_ns);
}

// Collects warnings of the reader by file. Many processes of a run often have the same one, which is then
// reported once.
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
      const std::string more =
          group.more == 0 ? ""
                          : fmt::format(" (and {} more {})", group.more, group.more == 1 ? "file" : "files");
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

// Adds the metrics that the runtime records in other forms, after a measurement was read.
void charge(ProcessMeasurement& measurement, const RunRecord& record) {
  charge_waits(measurement, record);
  charge_locks(measurement);
  charge_memory_waste(measurement);
}

size_t bytes_of(const ProcessMeasurement& measurement) {
  size_t bytes = sizeof measurement + measurement.file_bytes +  // the file stays mapped
                 measurement.objects.size() * sizeof(MeasuredObject) +
                 measurement.written.size() * sizeof(MeasuredWritten);
  for (const MeasuredThread& thread : measurement.threads)
    bytes += sizeof thread + thread.nodes.size() * sizeof(MeasuredNode) +
             thread.cells.size() * sizeof(MeasuredCell) + thread.locks.size() * sizeof(MeasuredLockCell) +
             thread.waste.size() * sizeof(MeasuredWasteCell);
  return bytes;
}

// Removes what was added since the first reading, because the process may still run. Returns false if it is
// another file.
bool reduce_to(const std::vector<MeasuredThread>& threads, const std::vector<uint32_t>& nodes,
               ProcessMeasurement& measurement) {
  std::erase_if(measurement.threads, [&](const MeasuredThread& thread) {
    return !std::ranges::binary_search(threads, thread.index, {}, &MeasuredThread::index);
  });
  if (measurement.threads.size() != threads.size()) return false;
  for (size_t i = 0; i < threads.size(); ++i) {
    MeasuredThread& thread = measurement.threads[i];
    if (thread.nodes.size() < nodes[i] || thread.kind != threads[i].kind) return false;
    if (thread.nodes.size() == nodes[i]) continue;
    thread.nodes.resize(nodes[i]);
    std::erase_if(thread.cells, [&](const MeasuredCell& cell) { return cell.node >= nodes[i]; });
    std::erase_if(thread.waits, [&](const MeasuredWait& wait) { return wait.node >= nodes[i]; });
  }
  // Locks, wasted accesses and objects refer to nodes of any thread of the process.
  const auto is_new = [&](uint32_t thread, uint32_t node) {
    const auto at = std::ranges::lower_bound(threads, thread, {}, &MeasuredThread::index);
    return at == threads.end() || at->index != thread ||
           node >= nodes[static_cast<size_t>(at - threads.begin())];
  };
  for (MeasuredThread& thread : measurement.threads) {
    std::erase_if(thread.locks, [&](const MeasuredLockCell& cell) { return is_new(cell.thread, cell.node); });
    std::erase_if(thread.waste, [&](const MeasuredWasteCell& cell) {
      return is_new(cell.first_thread, cell.first_node) ||
             (cell.second_node != 0 && is_new(cell.second_thread, cell.second_node));
    });
    for (MeasuredWasteCell& cell : thread.waste)
      if (cell.object_node != 0 && is_new(cell.object_thread, cell.object_node)) cell.object_node = 0;
  }
  std::erase_if(measurement.objects,
                [&](const MeasuredObject& object) { return is_new(object.thread, object.node); });
  return true;
}

struct Loaded {
  ProcessMeasurement outline;
  MeasurementStore::Contents contents;
  std::vector<std::string> warnings;
  std::string failure;  // empty if there is an outline
};

template <typename Archive>
void fields(Archive& archive, Loaded& loaded) {
  archive(loaded.outline, loaded.contents, loaded.warnings, loaded.failure);
}

struct File {
  StoredFile stored;
  uint32_t directory;
};

template <typename Archive>
void fields(Archive& archive, File& file) {
  auto& [path, container, offset, bytes, checksum] = file.stored;
  archive(path, container, offset, bytes, checksum, file.directory);
}

struct Files {
  std::vector<File> all;
  std::vector<std::string> damage;
};

Files files_of(const std::vector<fs::path>& directories) {
  Files files;
  for (uint32_t i = 0; i < directories.size(); ++i) {
    StoredFiles stored = measurement_files(directories[i]);
    for (StoredFile& file : stored.files) files.all.push_back({std::move(file), i});
    std::ranges::move(stored.damage, std::back_inserter(files.damage));
  }
  std::ranges::stable_sort(files.all, {}, [](const File& file) { return file.stored.as_file(); });
  return files;
}

// Returns the rank in "<host>-<rank>-<pid>-<n>"; 0 if the name has another form.
long rank_in_name(const fs::path& path) {
  const std::string name = path.stem().string();
  size_t dash = name.size();
  for (int part = 0; part < 3 && dash != std::string::npos && dash > 0; ++part)
    dash = name.rfind('-', dash - 1);
  return dash == std::string::npos ? 0 : std::strtol(name.c_str() + dash + 1, nullptr, 10);
}

// Returns the files that a process reads: those of consecutive ranks, in the order in which it merges them.
std::vector<size_t> files_to_read(const std::vector<File>& files, int rank, int processes) {
  std::vector<std::pair<long, size_t>> order;
  for (size_t i = 0; i < files.size(); ++i) order.emplace_back(rank_in_name(files[i].stored.path), i);
  std::ranges::sort(order);
  const auto [begin, end] = share_of(std::vector<uint64_t>(files.size()), rank, processes);
  std::vector<size_t> own;
  for (size_t i = begin; i < end; ++i) own.push_back(order[i].second);
  return own;
}

}  // namespace

MeasurementStore::MeasurementStore(const std::vector<fs::path>& directories, const AnalyzeOptions& options,
                                   std::vector<std::string>& warnings, const Visitor& visitor)
    : clocks_(directories), most_bytes_(options.kept_bytes) {
  AnalysisWorkers& workers = *options.workers;
  Files found;
  workers.from_first(
      "files", [&] { found = files_of(directories); }, found.all, found.damage);
  const std::vector<File>& files = found.all;
  for (const File& file : files)
    workers.require(file.directory < directories.size(), "files", 0, "it is of other directories");
  std::ranges::copy(found.damage, std::back_inserter(warnings));
  for (const fs::path& directory : directories) of_directories_.push_back(read_records(directory));
  const auto record_of = [&](size_t file, const MeasuredProcess& process) -> const RunRecord& {
    return of_directories_[files[file].directory].of(process.rank);
  };

  std::vector<Loaded> loaded(files.size());
  const std::vector<size_t> own = files_to_read(files, workers.rank(), workers.size());
  workers.share(
      "outlines",
      [&] {
        parallel_for(own.size(), options, "reading files", [&](size_t i) {
          const size_t file = own[i];
          Loaded& one = loaded[file];
          try {
            auto measurement = std::make_shared<ProcessMeasurement>(read_usable(files[file].stored));
            one.warnings = std::move(measurement->warnings);
            const RunRecord& record = record_of(file, measurement->process);
            if (!is_end_known(measurement->process, record))
              one.warnings.insert(
                  one.warnings.begin(),
                  "the process did not end normally, or still runs; everything it recorded so far is used");
            charge(*measurement, record);
            clocks_.correct(measurement->process);
            one.outline = outline_of(*measurement);
            one.contents = contents_of(*measurement);
            visitor.visit(file, *measurement);
            keep(file, std::move(measurement));
          } catch (const MeasurementError& error) {
            one.failure = error.what();
          }
        });
      },
      [&](Packer& out) {
        for (const size_t file : own) out(loaded[file]);
        visitor.give(out);
      },
      [&](Unpacker& in, int rank) {
        for (const size_t file : files_to_read(files, rank, workers.size())) {
          Loaded& one = loaded[file];
          in(one);
          Unpacker::require(!one.failure.empty() || is_outline(one.outline, one.contents),
                            "it is of other measurements");
        }
        visitor.take(in);
      });

  FileWarnings file_warnings;
  for (size_t i = 0; i < loaded.size(); ++i) {
    if (loaded[i].failure.empty()) {
      file_warnings.add(files[i].stored.path, loaded[i].warnings);
      files_.push_back(i);
    } else {
      warnings.push_back(loaded[i].failure + "; left out");
    }
  }
  file_warnings.report(warnings);
  if (files_.empty()) {
    throw AnalyzeError(AnalyzeError::Kind::AllUnusable,
                       files.size() == 1
                           ? loaded[0].failure
                           : fmt::format("none of the {} measurement files is usable; the first: {}",
                                         files.size(), loaded[0].failure));
  }
  std::ranges::stable_sort(files_, {}, [&](size_t file) {
    const MeasuredProcess& process = loaded[file].outline.process;
    return std::pair(process.rank, process.start_realtime_ns);
  });
  std::unordered_map<size_t, std::list<Kept>::iterator> by_index;
  for (size_t index = 0; index < files_.size(); ++index) {
    const size_t file = files_[index];
    outlines_.push_back(std::move(loaded[file].outline));
    contents_.push_back(std::move(loaded[file].contents));
    stored_.push_back(files[file].stored);
    records_.push_back(&record_of(file, outlines_.back().process));
    if (const auto kept = kept_by_index_.find(file); kept != kept_by_index_.end()) {
      kept->second->index = index;
      by_index.emplace(index, kept->second);
    }
  }
  kept_by_index_ = std::move(by_index);
}

ProcessMeasurement MeasurementStore::read_again(size_t index) const {
  const ProcessMeasurement& outline = outlines_[index];
  try {
    ProcessMeasurement measurement = read_usable(stored_[index]);
    charge(measurement, *records_[index]);
    clocks_.correct(measurement.process);
    if (reduce_to(outline.threads, contents_[index].nodes, measurement)) return measurement;
  } catch (const MeasurementError& error) {
    throw AnalyzeError(AnalyzeError::Kind::AllUnusable, error.what());
  }
  throw AnalyzeError(
      AnalyzeError::Kind::AllUnusable,
      fmt::format("{}: was replaced while it was analyzed; analyze it again", outline.file.string()));
}

void MeasurementStore::keep(size_t index, std::shared_ptr<const ProcessMeasurement> measurement) const {
  const size_t bytes = bytes_of(*measurement);
  const std::lock_guard guard(lock_);
  if (kept_by_index_.contains(index)) return;
  kept_.push_front({index, bytes, std::move(measurement)});
  kept_by_index_.emplace(index, kept_.begin());
  kept_bytes_ += bytes;
  while (kept_bytes_ > most_bytes_ && kept_.size() > 1) {
    kept_bytes_ -= kept_.back().bytes;
    kept_by_index_.erase(kept_.back().index);
    kept_.pop_back();
  }
}

std::shared_ptr<const ProcessMeasurement> MeasurementStore::whole(size_t index) const {
  {
    std::unique_lock guard(lock_);
    was_read_.wait(guard, [&] { return !being_read_.contains(index); });
    if (const auto known = kept_by_index_.find(index); known != kept_by_index_.end()) {
      kept_.splice(kept_.begin(), kept_, known->second);
      return known->second->measurement;
    }
    being_read_.insert(index);
  }
  std::shared_ptr<const ProcessMeasurement> measurement;
  std::exception_ptr failure;
  try {
    measurement = std::make_shared<const ProcessMeasurement>(read_again(index));
    keep(index, measurement);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard guard(lock_);
    being_read_.erase(index);
  }
  was_read_.notify_all();
  if (failure) std::rethrow_exception(failure);
  return measurement;
}

}  // namespace prof
