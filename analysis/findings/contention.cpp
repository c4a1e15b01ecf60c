#include "analysis/findings/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/run/format_contention.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/views/tree/selection.h"
#include "analysis/views/tree/thread_costs.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

using hpcrun::Sharing;

constexpr double kMediumShare = 0.05, kHighShare = 0.20;
// Limits for transfers per second. TMI found more than the larger limit in all programs that were worth a
// repair; a tenth of it costs a thread a percent of its time.
constexpr double kMediumTransfers = 10'000, kHighTransfers = 100'000;
// Limits for counted writes that follow another thread's, per second. Two threads that contend all the time
// have one per period in which they are observed, 100 of each, or more if they synchronise.
constexpr double kMediumInterleaved = 10, kHighInterleaved = 50;
constexpr size_t kShownSides = 16;  // as contexts of a finding

double share_of_run(double seconds, const RunSummary& run) {
  const double cpu_s = run.cpu_s.value_or(0);
  return cpu_s > 0 ? std::min(1.0, seconds / cpu_s) : 0;
}

// The accesses of one thread to one place, possibly by several instructions.
struct ThreadAccess {
  const ContendedRecord::Side* most;
  bool reads = false;
  bool writes = false;

  const char* does() const { return reads && writes ? "reads and writes" : writes ? "writes" : "reads"; }
};

// The accesses of a thread to a part, with all its sides there.
ThreadAccess access_of(const ContendedRecord& record, const ContendedRecord::Side& most) {
  ThreadAccess at{&most};
  for (const ContendedRecord::Side& side : record.sides) {
    if (side.profile != most.profile || side.object != most.object || side.name != most.name ||
        side.offset != most.offset)
      continue;
    at.reads |= hpcrun::reads(side.access);
    at.writes |= hpcrun::writes(side.access);
  }
  return at;
}

// Chooses the two sides to name: from different threads, with the most accesses, and one of which writes. If
// none is seen to write, chooses those that use the data most.
std::vector<ThreadAccess> telling_sides(const ContendedRecord& record) {
  std::vector<ThreadAccess> accesses;
  for (const ContendedRecord::Side& side : record.sides) accesses.push_back(access_of(record, side));
  for (const bool must_write : {true, false})
    for (size_t second = 1; second < accesses.size(); ++second)
      for (size_t first = 0; first < second; ++first) {
        const bool differ = accesses[first].most->profile != accesses[second].most->profile;
        if (differ && (!must_write || accesses[first].writes || accesses[second].writes))
          return {accesses[first], accesses[second]};
      }
  if (accesses.size() > 1) accesses.resize(1);
  return accesses;
}

// 123456 -> "120,000"
std::string format_rounded(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (size_t i = 2; i < digits.size(); ++i) digits[i] = '0';
  for (size_t from_end = 3; from_end < digits.size(); from_end += 4)
    digits.insert(digits.size() - from_end, ",");
  return digits;
}

// Formats loads that had to wait for another processor, as reported by the hardware.
std::string format_transfers(const ContendedRecord& record) {
  std::string text = record.transfers_per_s > 0
                         ? fmt::format("about {} loads a second", format_rounded(record.transfers_per_s))
                         : fmt::format("about {} loads", format_rounded(record.transfers));
  text += record.hitm > 0 ? " found the line modified in another processor's cache (HITM)"
                          : " found the line in a cache that processors share";
  if (record.remote_hitm > 0)
    text += fmt::format(", {} of them on another node", format_percent(record.remote_hitm / record.hitm));
  if (record.latency_cycles > 0)
    text += fmt::format("; each took {} cycles", format_rounded(record.latency_cycles / record.transfers));
  return text;
}

// For counted writes, on pages that each thread had for itself: there is no code, and no cost.
bool is_counted(const ContendedRecord& record) {
  return record.interleaved > 0;
}

std::string format_interleaved(const ContendedRecord& record) {
  return record.interleaved_per_s > 0
             ? fmt::format("{} times a second", format_rounded(record.interleaved_per_s))
             : fmt::format("{} times", format_rounded(record.interleaved));
}

bool is_reported_by_hardware(const ContendedRecord& record) {
  return record.source != EvidenceSource::Breakpoints && !is_counted(record);
}

// Recordings of other profilers have no samples of CPU time.
bool has_cpu_time(const ContendedRecord& record) {
  return record.source == EvidenceSource::Breakpoints || record.weight_s > 0;
}

FindingCost cost_of(const ContendedRecord& record, const RunSummary& run) {
  if (record.followed > 0)
    return {record.saving_s, "sec", share_of_run(record.saving_s, run),
            "estimate: how much faster threads went on while the others were held for a moment"};
  if (has_cpu_time(record))
    return {record.weight_s, "sec", share_of_run(record.weight_s, run),
            "samples at the contended lines; an upper bound of what the change saves"};
  if (is_counted(record))
    return {
        record.interleaved, "writes", 0,
        "counted: commits and periods of 10 ms at the end of which a thread had changed a line after another "
        "one"};
  if (record.latency_cycles > 0)
    return {record.latency_cycles, "cycles", 0,
            "latency of the sampled loads that found the line in another cache, times their periods; they "
            "may overlap"};
  return {record.transfers, "loads", 0, "periods of the sampled loads that found the line in another cache"};
}

std::optional<FindingSaving> saving_of(const ContendedRecord& record) {
  if (record.followed > 0) {
    const bool has_interval = record.saving_high_s > 0;
    return FindingSaving{
        has_interval ? record.saving_low_s : record.saving_s,
        has_interval ? record.saving_high_s : record.saving_s, false,
        "CPU time, by how much faster threads went on while the others were held for a moment"};
  }
  if (has_cpu_time(record)) return at_most(record.weight_s, "CPU time in samples at the contended lines");
  return std::nullopt;
}

Severity contention_severity(const ContendedRecord& record, double share) {
  if (is_counted(record))
    return record.interleaved_per_s >= kHighInterleaved     ? Severity::High
           : record.interleaved_per_s >= kMediumInterleaved ? Severity::Medium
                                                            : Severity::Low;
  const bool by_time = has_cpu_time(record);
  const double cost = by_time ? share : record.transfers_per_s;
  if (cost >= (by_time ? kHighShare : kHighTransfers)) return Severity::High;
  return cost >= (by_time ? kMediumShare : kMediumTransfers) ? Severity::Medium : Severity::Low;
}

// Returns "70 to 82 %" or "up to 82 %"; for databases without an interval the value alone.
std::string format_saving(const ContendedRecord& record, const RunSummary& run) {
  constexpr double kMinPromise = 0.02;  // of the run
  if (record.saving_high_s <= 0) return format_percent(share_of_run(record.saving_s, run));
  const double low = share_of_run(record.saving_low_s, run), high = share_of_run(record.saving_high_s, run);
  if (low < kMinPromise) return fmt::format("up to {}", format_percent(high));
  const std::string to = format_percent(high);
  const std::string from = format_percent(low);
  return from == to ? to : fmt::format("{:.0f} to {}", 100 * low, to);
}

std::string sentence(const CallTree& tree, const ContendedRecord& record, const RunSummary& run) {
  std::set<uint32_t> threads;
  for (const ContendedRecord::Side& side : record.sides) threads.insert(side.profile);
  const char* what = record.sharing == Sharing::False ? "use different bytes on the same cache line of"
                     : record.sharing == Sharing::True
                         ? "use the same bytes of"
                         : "use the same bytes, and different ones on their cache line, of";
  std::string text = record.sharing == Sharing::False  ? "False sharing: "
                     : record.sharing == Sharing::True ? "True sharing: "
                                                       : "False and true sharing: ";
  if (record.processes > 1) text += fmt::format("in {} processes ", record.processes);
  text += fmt::format("{} {} {}", format_count(threads.size(), "thread"), what, format_object(tree, record));
  const char* lead = ": ";
  bool is_written = false;
  for (const ThreadAccess& side : telling_sides(record)) {
    is_written |= side.writes;
    text += fmt::format("{}thread {} {} {}", lead, format_thread(*tree.database, side.most->profile),
                        side.does(), format_part(record, *side.most));
    if (!is_counted(record)) text += fmt::format(" in {}", format_code(frames_of(tree, side.most->context)));
    lead = ", ";
  }
  if (!is_written) text += "; no sample shows the thread that writes";
  if (is_reported_by_hardware(record))
    text += fmt::format("; {} ({})", format_transfers(record), name_of(record.source));
  if (is_counted(record))
    text +=
        fmt::format("; they wrote alternately {} ({})", format_interleaved(record), name_of(record.source));
  if (!has_cpu_time(record)) return text + ".";
  text +=
      fmt::format("; {} of the CPU time was spent there", format_percent(share_of_run(record.weight_s, run)));
  if (record.followed > 0)
    text += fmt::format(", and {} would be saved if they did not contend", format_saving(record, run));
  return text + ".";
}

FindingKind kind_of(Sharing sharing) {
  if (sharing == Sharing::False) return FindingKind::FalseSharing;
  return sharing == Sharing::True ? FindingKind::TrueSharing : FindingKind::MixedSharing;
}

std::string id_of(const CallTree& tree, const ContendedRecord& record) {
  std::string identity = fmt::format("{}\n{}\n{}\n", record.name, record.declared, name_of(record.remedy));
  for (const ContendedRecord::Allocation& allocation : record.allocations)
    identity += identity_of(frames_of(tree, allocation.context));
  if (record.kind == DataKind::Unknown)
    identity += fmt::format("{}\n{}\n{}", record.host, record.process, record.address);
  return finding_id(kind_of(record.sharing), record.name.empty() ? name_of(record.kind) : record.name,
                    identity);
}

Finding finding(const CallTree& tree, const ContendedRecord& record, const RunSummary& run) {
  Finding finding;
  finding.id = id_of(tree, record);
  finding.cost = cost_of(record, run);
  finding.saving = saving_of(record);
  const double share = finding.cost->share_of_run;
  finding.kind = kind_of(record.sharing);
  finding.severity = contention_severity(record, share);
  if (has_cpu_time(record)) finding.metric = "CPUTIME";
  finding.sentence = sentence(tree, record, run);
  size_t shown = 0;
  for (const ContendedRecord::Side& side : record.sides)
    if (shown++ < kShownSides)
      finding.contexts.push_back({fmt::format("{} {}", name_of(side.access), format_part(record, side)),
                                  frames_of(tree, side.context)});
  for (const ContendedRecord::Allocation& allocation : record.allocations)
    if (shown++ < kShownSides) finding.contexts.push_back({"allocated", frames_of(tree, allocation.context)});
  finding.advice = record.advice;
  finding.values = {{"lines", static_cast<double>(record.lines)},
                    {"false_moves", record.false_moves},
                    {"true_moves", record.true_moves},
                    {"adjacent_moves", record.adjacent_moves}};
  if (record.followed > 0) {
    finding.values["saving_s"] = record.saving_s;
    finding.values["saving_low_s"] = record.saving_low_s;
    finding.values["saving_high_s"] = record.saving_high_s;
  }
  if (is_counted(record)) {
    finding.values["interleaved"] = record.interleaved;
    finding.values["interleaved_per_s"] = record.interleaved_per_s;
  }
  if (is_reported_by_hardware(record)) {
    finding.values["transfers"] = record.transfers;
    finding.values["transfers_per_s"] = record.transfers_per_s;
    finding.values["hitm"] = record.hitm;
    finding.values["remote_hitm"] = record.remote_hitm;
  }
  return finding;
}

}  // namespace

std::vector<Finding> contention_findings(const CallTree& tree, const RunSummary& run) {
  std::vector<Finding> findings;
  for (const ContendedRecord& record : run.contention)
    if (!record.sides.empty()) findings.push_back(finding(tree, record, run));
  return findings;
}

}  // namespace prof
