#include "tests/fuzz/workers_seed.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "analysis/analyze/run_analyze.h"
#include "analysis/workers/shared_folder.h"
#include "hpcrun/unwind/frame.h"
#include "tests/analysis/workers/left_parts.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

namespace fs = std::filesystem;

namespace {

constexpr uint16_t kModule = 1;
constexpr int kRanks = 2;
// Relative to the folder in which this process is while it analyzes, so that parts contain no names of
// temporary folders.
constexpr char kMeasurements[] = "measured", kParts[] = "parts", kLeft[] = "left", kDatabase[] = "database";

void write_rank(const fs::path& path, int rank) {
  hpcrun::ProcessInfo info = process_info();
  info.rank = rank;
  Recorder recorder(path, info);
  recorder.file.write_metric({0, "REALTIME", "sec", 1e-9, "test clock", 1000, ""});
  recorder.file.write_metric({1, "MISSES", "", 1, "test counter", 0, "a note"});
  recorder.file.write_module(kModule, "/nowhere/app", 0x10000, 0x20000, 0x10000, nullptr, 0);
  for (uint32_t index = 0; index < 2; ++index) {
    recorder.file.write_thread_start(index, 1000 + rank, kStartMonotonic, "app");
    RecordedThread& thread = recorder.add_thread();
    for (uint32_t i = 1; i <= 6; ++i) {
      const hpcrun::FrameKey frames[] = {
          hpcrun::make_frame(kModule, 0x100 * i),
          hpcrun::make_frame(i % 3 == 0 ? hpcrun::kModuleNone : kModule, 0x40 * (i / 2)),
          hpcrun::make_frame(kModule, 0x10)};
      const hpcrun::NodeId node = thread.tree.insert(frames, 3);
      if (!thread.tree.add(node, 0, i * 1'000'000) ||
          !thread.tree.add(node, 1, i + static_cast<uint32_t>(rank)) ||
          !thread.trace.append(kStartMonotonic + i * 1'000'000, node))
        throw std::runtime_error("cannot record a sample");
    }
  }
  recorder.finish();
}

class InFolder {
 public:
  explicit InFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~InFolder() { fs::current_path(before_); }
  InFolder(const InFolder&) = delete;

 private:
  fs::path before_;
};

AnalysisWorkers::Setup setup(bool resume) {
  AnalysisWorkers::Setup setup;
  setup.folder = kParts;
  setup.resume = resume;
  setup.inputs = [] { return std::string("the same"); };
  return setup;
}

void analyze_as(AnalysisWorkers& workers) {
  AnalyzeOptions options;
  options.copy_sources = false;
  options.workers = &workers;
  run_analyze({kMeasurements}, kDatabase, options);
}

}  // namespace

WorkersSeed::WorkersSeed() {
  std::string name = (fs::temp_directory_path() / "prof-fuzz-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  folder_ = name;
  const InFolder inside(folder_);
  fs::create_directory(kMeasurements);
  for (int rank = 0; rank < kRanks; ++rank)
    write_rank(fs::path(kMeasurements) / ("node-" + std::to_string(rank) + "-7-0.prof"), rank);
  AnalysisWorkers workers(setup(false));
  analyze_as(workers);
  copy_as_left(kParts, kLeft);
  fs::copy(kDatabase, fs::path(kLeft) / kDatabase, fs::copy_options::recursive);
  workers.finish();
  for (const char* passed : {"written.0", "cleared.0"})  // after these no part is read
    fs::remove(fs::path(kLeft) / passed);
  for (const std::string& part : SharedFolder(kLeft).names())
    if (part.ends_with(".0")) parts_.push_back(part);
  std::ranges::sort(parts_);
}

WorkersSeed::~WorkersSeed() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string WorkersSeed::text_of(const std::string& part) const {
  return SharedFolder(folder_ / kLeft).read(part).value();
}

fs::path WorkersSeed::resume_with(const std::string& part, std::string_view text) const {
  const InFolder inside(folder_);
  fs::remove_all(kParts);
  fs::remove_all(kDatabase);
  fs::copy(kLeft, kParts, fs::copy_options::recursive);
  SharedFolder(kParts).write(part, text);
  AnalysisWorkers workers(setup(true));
  if (!workers.resumes()) throw std::logic_error("does not go on with what was left");
  analyze_as(workers);
  workers.finish();
  return folder_ / kDatabase;
}

}  // namespace prof::test
