#include "analysis/pipeline/rank_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "analysis/pipeline/rank_choice.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

// Missing ranks of a larger launch are not reported, because the list would be unreadable.
constexpr int32_t kMaxRanks = 10'000'000;

std::string variable(std::string_view lines, std::string_view name) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (line.starts_with(name) && line.substr(name.size()).starts_with('='))
      return std::string(line.substr(name.size() + 1));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return {};
}

int32_t number(const std::string& text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

std::string of_ranks(const std::set<int32_t>& ranks) {
  const std::vector<int32_t> numbers(ranks.begin(), ranks.end());
  return (numbers.size() == 1 ? "rank " : "ranks ") + format_ranks(numbers);
}

// The ranks of each launch.
using Launches = std::map<std::string, std::set<int32_t>>;

void check_launches(const Launches& launches, std::vector<std::string>& warnings) {
  if (launches.size() < 2) return;
  std::string text;
  size_t named = 0;
  for (const auto& [launch, ranks] : launches) {
    if (named++ == 4) break;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", launch, of_ranks(ranks));
  }
  warnings.push_back(fmt::format(
      "measurements of {} launches are analyzed as one run: {}{}; measure each into a directory of its own",
      launches.size(), text, launches.size() > 4 ? ", ..." : ""));
}

void check_missing(const std::vector<ProcessMeasurement>& measurements, std::vector<std::string>& warnings) {
  int32_t size = 0;
  std::string chosen;
  std::set<int32_t> there;
  for (const ProcessMeasurement& measurement : measurements) {
    if (measurement.process.rank < 0) continue;
    const LaunchOfProcess launch = launch_of(measurement.process);
    size = std::max(size, launch.size);
    if (!launch.ranks.empty()) chosen = launch.ranks;
    there.insert(measurement.process.rank);
  }
  if (size > kMaxRanks) return;
  const RankChoice choice = RankChoice::parse(chosen).value_or(RankChoice());
  std::set<int32_t> missing;
  for (int32_t rank = 0; rank < size; ++rank)
    if (choice.contains(rank) && !there.contains(rank)) missing.insert(rank);
  if (missing.empty()) return;
  warnings.push_back(
      fmt::format("{} of {} left no measurements: killed at the start, measured elsewhere, or files damaged",
                  of_ranks(missing), size));
}

// Compares the programs of the ranks. A rank is its process with most samples; its helper processes may
// differ.
void check_programs(const std::vector<ProcessMeasurement>& measurements, std::vector<std::string>& warnings) {
  using hpcrun::Counter;
  std::map<int32_t, const ProcessMeasurement*> main_of;
  for (const ProcessMeasurement& measurement : measurements) {
    if (measurement.process.rank < 0) continue;
    const ProcessMeasurement*& known = main_of[measurement.process.rank];
    if (!known || measurement.counter(Counter::Samples) > known->counter(Counter::Samples))
      known = &measurement;
  }
  struct Program {
    std::string path;
    std::vector<uint8_t> build;
    auto operator<=>(const Program&) const = default;
  };
  std::map<Program, std::set<int32_t>> programs;
  std::map<std::string, std::set<int32_t>> releases;
  for (const auto& [rank, measurement] : main_of) {
    const std::string& path = measurement->process.executable;
    const auto module = std::ranges::find(measurement->modules, path, &MeasuredModule::path);
    programs[{path, module == measurement->modules.end() ? std::vector<uint8_t>() : module->build_id}].insert(
        rank);
    releases[launch_of(measurement->process).release].insert(rank);
  }
  const auto smaller = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto most_program = std::ranges::max_element(programs, smaller);
  for (auto at = programs.begin(); at != programs.end(); ++at) {
    if (at == most_program) continue;
    const bool is_build = at->first.path == most_program->first.path;
    warnings.push_back(fmt::format("{} ran a different {} than the other ranks: {}", of_ranks(at->second),
                                   is_build ? "build of the program" : "program", at->first.path));
  }
  const auto most_release = std::ranges::max_element(releases, smaller);
  for (auto at = releases.begin(); at != releases.end(); ++at)
    if (at != most_release)
      warnings.push_back(
          fmt::format("{} measured by a different prof than the other ranks: {}, not {}",
                      of_ranks(at->second) + (at->second.size() == 1 ? " was" : " were"),
                      at->first.empty() ? "an unknown version" : at->first,
                      most_release->first.empty() ? "an unknown version" : most_release->first));
}

std::string ending(const RunRecord& record) {
  const auto signal = static_cast<int>(record.signal.value_or(0));
  if (signal == 0) return fmt::format("ended with exit status {}", record.exit_status.value_or(0));
  const char* const name = sigabbrev_np(signal);
  return name ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", signal);
}

void check_endings(const std::vector<RankRecord>& records, std::vector<std::string>& warnings) {
  std::map<std::string, std::set<int32_t>> endings;
  for (const RankRecord& one : records)
    if (one.record.signal.value_or(0) != 0 || one.record.exit_status.value_or(0) != 0)
      endings[ending(one.record)].insert(one.rank);
  for (const auto& [how, ranks] : endings)
    warnings.push_back(fmt::format("{} {}{}", of_ranks(ranks),
                                   !how.starts_with("killed") ? ""
                                   : ranks.size() == 1        ? "was "
                                                              : "were ",
                                   how));
}

}  // namespace

LaunchOfProcess launch_of(const MeasuredProcess& process) {
  const std::string& lines = process.environment;
  LaunchOfProcess launch{variable(lines, "PROF_LAUNCH"), variable(lines, "PROF_RANKS"),
                         variable(lines, "PROF_RELEASE"), 0};
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"})
    if (launch.launch.empty()) launch.launch = variable(lines, name);
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "PALS_SIZE",
                           "FLUX_JOB_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (launch.size <= 0) launch.size = number(variable(lines, name));
  if (launch.size <= 0) launch.size = process.ranks;
  return launch;
}

std::vector<std::string> check_ranks(const std::vector<ProcessMeasurement>& measurements,
                                     const std::vector<RankRecord>& records) {
  std::vector<std::string> warnings;
  Launches launches;
  for (const ProcessMeasurement& measurement : measurements) {
    if (measurement.process.rank < 0) continue;
    const std::string launch = launch_of(measurement.process).launch;
    launches[launch.empty() ? "unknown" : launch].insert(measurement.process.rank);
  }
  if (launches.empty()) return warnings;
  check_launches(launches, warnings);
  if (launches.size() == 1) check_missing(measurements, warnings);
  check_programs(measurements, warnings);
  check_endings(records, warnings);
  return warnings;
}

}  // namespace prof
