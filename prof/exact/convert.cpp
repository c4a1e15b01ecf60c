#include "prof/exact/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "hpcrun/measurement/waste_metrics.h"
#include "hpcrun/measurement/writer.h"
#include "prof/exact/recorded_contexts.h"
#include "prof/exact/recorded_waste.h"

namespace prof {

namespace fs = std::filesystem;

using hpcrun::Counter;
using hpcrun::WasteKind;
using hpcrun::WasteMetric;

namespace {

constexpr int kMaxFilesOfOnePid = 10'000;  // execs of one process

constexpr char kRunNote[] =
    "prof exact ran this program in Valgrind and followed all of its loads and stores. Its times are those "
    "of "
    "a program that runs 5 to 40 times slower.";

struct SearchedKind {
  uint32_t bit;
  WasteKind kind;
  WasteMetric all;
  WasteMetric wasted;
};
constexpr SearchedKind kSearched[] = {
    {PE_DEAD_STORES, WasteKind::DeadStore, WasteMetric::Written, WasteMetric::DeadWrite},
    {PE_SILENT_STORES, WasteKind::SilentStore, WasteMetric::Written, WasteMetric::SilentWrite},
    {PE_REDUNDANT_LOADS, WasteKind::RedundantLoad, WasteMetric::Loaded, WasteMetric::RedundantLoad},
};

bool is_announced(const ExactDump& dump, WasteMetric metric) {
  if (metric == WasteMetric::Instructions) return dump.header.searched & PE_INSTRUCTIONS;
  for (const SearchedKind& searched : kSearched)
    if ((dump.header.searched & searched.bit) && (metric == searched.all || metric == searched.wasted))
      return true;
  return false;
}

void announce_metrics(const ExactDump& dump, hpcrun::MeasurementFile& file) {
  for (const auto& metric : hpcrun::kWasteMetrics)
    if (is_announced(dump, metric.id))
      file.write_metric({static_cast<uint16_t>(metric.id), metric.name, metric.unit, metric.scale,
                         metric.description, 0, ""});
}

uint64_t searched_bits(const ExactDump& dump) {
  uint64_t bits = 0;
  for (const SearchedKind& searched : kSearched)
    if (dump.header.searched & searched.bit) bits |= uint64_t{1} << static_cast<unsigned>(searched.kind);
  return bits == 0 ? 0 : bits | hpcrun::kWasteExact;
}

// The tool knows the program by its name only; its path is that of the module with this name.
std::string executable_of(const ExactDump& dump) {
  const std::string name = dump.text(dump.header.executable);
  for (const PeDumpModule& module : dump.modules)
    if (const std::string path = dump.text(module.path);
        fs::path(path).filename() == fs::path(name).filename())
      return path;
  return name;
}

void create(const ExactDump& dump, const fs::path& directory, hpcrun::MeasurementFile& file) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string executable = executable_of(dump);
  hpcrun::ProcessInfo process{};
  process.command = dump.text(dump.header.command);
  process.executable = executable.c_str();
  process.host = host.data();
  process.pid = dump.header.pid;
  process.parent_pid = dump.header.parent_pid;
  process.rank = -1;
  process.start_realtime_ns = dump.header.start_realtime_ns;
  process.start_monotonic_ns = dump.header.start_monotonic_ns;
  process.environment = "";
  int error = EEXIST;
  for (int n = 0; n < kMaxFilesOfOnePid && error == EEXIST; ++n)
    error = file.create((directory / fmt::format("{}-0-{}-{}.prof", host.data(), process.pid, n)).c_str(),
                        process);
  if (error) throw DumpError(fmt::format("cannot write {}: {}", directory.string(), std::strerror(error)));
}

void write_threads(const ExactDump& dump, hpcrun::MeasurementFile& file) {
  for (uint32_t i = 0; i < dump.threads.size(); ++i) {
    const PeDumpThread& thread = dump.threads[i];
    file.write_thread_start(i, thread.tid, thread.start_ns, dump.text(thread.name));
    if (thread.stack_high != 0) file.write_thread_memory({i, thread.stack_low, thread.stack_high, 0});
  }
}

// Instructions are counted where they were executed.
void add_instructions(const ExactDump& dump, RecordedContexts& contexts) {
  for (uint32_t i = 0; i < dump.accesses.size(); ++i)
    if (dump.accesses[i].kind == PE_ACCESS_INSTRUCTION)
      contexts.add(i, static_cast<uint16_t>(WasteMetric::Instructions), dump.accesses[i].count);
}

void finish(const ExactDump& dump, hpcrun::MeasurementFile& file) {
  for (uint32_t i = 0; i < dump.threads.size(); ++i) file.write_thread_end(i, dump.threads[i].end_ns, 0);
  file.counter(Counter::Threads) = dump.threads.size();
  file.counter(Counter::LooksForWaste) = searched_bits(dump);
  file.counter(Counter::ProgramBeganNs) = dump.header.start_monotonic_ns;
  file.counter(Counter::ProgramEndedNs) = dump.header.end_monotonic_ns;
  file.finish(dump.header.end_monotonic_ns);
}

}  // namespace

void convert_exact_dump(const ExactDump& dump, const fs::path& directory) {
  const auto file = std::make_unique<hpcrun::MeasurementFile>();
  create(dump, directory, *file);
  announce_metrics(dump, *file);
  file->write_note(kRunNote);
  {
    RecordedContexts contexts(dump, *file);
    write_threads(dump, *file);
    add_instructions(dump, contexts);
    record_waste(dump, contexts, *file);
  }
  finish(dump, *file);
  const int error = file->failure();
  const std::string path = file->path();
  file->detach();  // unmaps and closes it
  if (error) throw DumpError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

}  // namespace prof
