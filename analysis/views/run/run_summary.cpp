#include "analysis/views/run/run_summary.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/database/stored_values.h"
#include "analysis/views/run/merged_contention.h"

namespace prof {
namespace {

// What a run that is not recorded, or only in part, had at least.
void derive_from_profiles(const Database& database, RunSummary& summary) {
  std::set<std::tuple<std::string, int32_t, int32_t>> processes;
  std::set<int32_t> ranks;
  uint64_t samples = 0;
  for (const Profile& profile : database.profiles) {
    processes.emplace(profile.id.host, profile.id.rank, profile.id.process);
    if (profile.id.rank >= 0) ranks.insert(profile.id.rank);
    samples += profile.samples;
  }
  if (summary.command.empty()) summary.command = database.title;
  if (summary.processes == 0) summary.processes = processes.size();
  if (summary.threads == 0)
    summary.threads = static_cast<uint64_t>(std::ranges::count_if(
        database.profiles, [](const Profile& profile) { return profile.id.device < 0; }));
  if (summary.ranks == 0) summary.ranks = ranks.size();
  if (!summary.sampling.samples && samples > 0) summary.sampling.samples = samples;
}

struct KnownReason {
  std::string_view key, why, advice;
};

constexpr KnownReason kKnownReasons[] = {
    // How a complete walk ends: nothing to explain.
    {"endofstack", "", ""},
    {"threadstart", "", ""},
    {"foreignstack", "", ""},
    {"jitframepointer", "", ""},
    {"searchedleaf", "", ""},
    {"toodeep", "they are deeper than 8192 frames", "look for unbounded recursion"},
    {"lost", "the recording tool's buffers were full",
     "ask for larger ones (perf record -m) or for fewer samples per second"},
    {"nounwindinfo", "code on them has no unwind information",
     "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"},
    // What helps depends on the runtime (code_generators.h).
    {"generatedcode", "code on them was made by a JIT compiler and keeps no frame pointers", ""},
    {"unknownmodule", "they lead to an address that belongs to no code", ""},
    {"unreadablestack", "stack memory could not be read", ""},
    {"badreturnaddress", "a return address points to no code",
     "look for hand-written assembly without unwind information"},
    {"noprogress", "unwinding stopped making progress",
     "look for hand-written assembly with wrong unwind information"},
    {"unsupported", "unwind information uses an expression that is not supported", ""},
    {"stackcut", "they go on beyond the piece of the stack that came with the sample",
     "link the program dynamically, and build C code that Go calls with -fno-omit-frame-pointer; let perf "
     "record more (--call-graph dwarf,65528)"},
    {"chaincut", "the kernel follows no more callers of a program that is sampled from outside",
     "let it follow more: sysctl kernel.perf_event_max_stack=1024"},
    {"ringfull", "prof did not come to read the kernel's buffers in time",
     "ask for fewer samples per second, or raise kernel.perf_event_mlock_kb"},
    {"nomemory", "the memory set aside for a thread was full", ""},
    {"filefull", "the measurement file could not grow",
     "free space on the disk, or write elsewhere with -o DIR"},
    {"threadunready", "threads were just starting or ending", ""},
    {"nested", "the profiler itself was at work on the thread", ""},
    {"expensive", "sampling would have taken too much of the program's time",
     "ask for fewer samples per second; no time is lost, the next sample stands for it"},
    {"walktoolong", "they lead through too much code without unwind information",
     "let the JIT compiler keep frame pointers; the frames up to there are kept"},
    {"overrun", "the kernel merged several into one",
     "ask for fewer samples per second, or for fewer busy threads than processors"},
    {"fault", "the stack could not be read safely", ""},
};

std::string normalized(std::string_view reason) {
  std::string key;
  for (const char c : reason)
    if (std::isalnum(static_cast<unsigned char>(c)))
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key.starts_with("dropped") ? key.substr(7) : key;
}

}  // namespace

RunSummary run_summary(const Database& database) {
  RunSummary summary = database.run.value_or(RunSummary{});
  summary.contention = merge_processes(std::move(summary.contention));
  derive_from_profiles(database, summary);
  return summary;
}

Sampling shown_sampling(const CallTree& tree, const RunSummary& run) {
  Sampling sampling = run.sampling;
  if (tree.metrics() == 0) return sampling;
  if (const auto own = run.by_metric.find(tree.metric(0).name); own != run.by_metric.end())
    sampling = own->second;
  if (tree.selection.every_profile || !sampling.samples) return sampling;
  const Database& database = *tree.database;
  double all = 0;
  std::vector<ProfileValue> buffer;
  for (uint32_t profile = 0; profile < database.profiles.size(); ++profile)
    for (const ProfileValue& value : values_of(database, profile, buffer, tree.selection.metrics[0]))
      if (value.metric == tree.selection.metrics[0] && database.contexts[value.context].parent == kNone)
        all += value.values.inclusive;
  const double share = all > 0 ? std::min(1.0, tree.totals[0] / all) : 0;
  sampling.samples = static_cast<uint64_t>(std::llround(static_cast<double>(*sampling.samples) * share));
  return sampling;
}

ReasonWords words_for_reason(const std::string& reason) {
  const std::string key = normalized(reason);
  for (const KnownReason& known : kKnownReasons)
    if (known.key == key) return {std::string(known.why), std::string(known.advice)};
  return {reason, ""};
}

bool loses_no_time(const std::string& reason) {
  return normalized(reason) == "overrun";
}

}  // namespace prof
