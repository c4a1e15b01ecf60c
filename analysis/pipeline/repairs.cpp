#include "analysis/pipeline/repairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/repair/site_layouts.h"
#include "analysis/views/contention_findings.h"
#include "analysis/views/run_summary.h"
#include "analysis/views/stall_findings.h"
#include "analysis/views/wording.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

using hpcrun::Counter;
using hpcrun::RepairKind;
using Placeable = ContendedRecord::Placeable;
using Site = RepairsRecord::Site;

constexpr size_t kMostSites = 256;  // in run.json
constexpr size_t kMostWords = 32;   // of a call path

constexpr std::pair<Counter, LockObstacle> kLocksDeclined[] = {
    {Counter::LocksDeclinedRobust, LockObstacle::Robust},
    {Counter::LocksDeclinedPriority, LockObstacle::Priority},
    {Counter::LocksDeclinedShared, LockObstacle::Shared},
    {Counter::LocksDeclinedSpin, LockObstacle::Spin},
    {Counter::LocksDeclinedElided, LockObstacle::Elided},
    {Counter::LocksDeclinedNoMemory, LockObstacle::Memory},
};

constexpr uint64_t kPageBytes = 4096;

std::string fate_of_page(const RepairsRecord::Page& page) {
  const std::string since = words_for_duration(page.since_s);
  if (page.kind == PageFate::Isolated)
    return fmt::format("Since {} of the run each thread had its page for itself.", since);
  return fmt::format("From {} on its page was common to all threads: {}.", since, name_of(page.why));
}

RepairsRecord::Page page_of(const MeasuredRepair& repair, double since_s) {
  RepairsRecord::Page page;
  page.kind = repair.kind == RepairKind::PageIsolated ? PageFate::Isolated : PageFate::Shared;
  page.why = static_cast<hpcrun::WhyShared>(repair.remaining);
  page.address = repair.address;
  page.since_s = since_s;
  constexpr double kWhole = 1e6;
  page.share = static_cast<double>(repair.conflicts) / kWhole;
  return page;
}

// Of several processes, what holds for all of them, and the comparison of the one that met most often.
void add_balance(const ProcessMeasurement& measurement, RepairsRecord& record) {
  if (const uint64_t code = measurement.counter(Counter::IsolationGuarantee);
      code != 0 && measurement.counter(Counter::Conversions) != 0)
    record.guarantee = code == hpcrun::kIsolatedAnnotated && record.guarantee != Guarantee::Calls
                           ? Guarantee::Annotated
                           : Guarantee::Calls;
  const auto isolated = static_cast<double>(measurement.counter(Counter::MeetingsIsolated));
  if (isolated <= record.isolated_meetings) return;
  record.isolated_meetings = isolated;
  record.common_meetings = static_cast<double>(measurement.counter(Counter::MeetingsCommon));
}

// Of a context that is in no inlined or called function: empty.
std::string function_of(const Database& database, uint32_t context) {
  for (; context != kNone; context = database.contexts[context].parent) {
    const Context& at = database.contexts[context];
    if (at.kind == ContextKind::Function && at.function != kNone) return database.functions[at.function].name;
    if (at.relation != Relation::Enclosing) break;
  }
  return {};
}

// In the C library's, whose parts have names of their own where its symbols are known.
bool is_lock_function(const std::string& name) {
  return name.find("pthread_mutex_") != std::string::npos ||
         name.find("pthread_rwlock_") != std::string::npos || name.find("lll_") != std::string::npos;
}

// Empty where such allocations can be placed.
std::string why_not_placed(const ContendedRecord& record, const Placeable& one) {
  if (record.sharing == hpcrun::Sharing::True) return "threads use the same bytes, which no layout parts";
  if (one.is_mapping) return "the program maps this memory itself, without an allocator";
  if (one.site.frames.empty())
    return "they are allocated by generated code, which the next run has elsewhere";
  if (one.is_bound)
    return "the program asks for an alignment, which stays, and that alone does not part what threads use";
  if (one.placement == hpcrun::kAsAllocated)
    return "threads meet on lines within an allocation, wherever it begins";
  return {};
}

// The same of data that no allocator has.
std::string why_not_moved(const ContendedRecord& record) {
  if (record.kind == DataKind::Unknown && record.module.empty())
    return "it is not known who allocated the memory";
  const bool has_patch = !record.changes.empty();
  return std::string("variables lie where the program was built to have them; ") +
         (has_patch ? "prof report --view=contention --format=patch changes the source"
                    : "change the source");
}

// Of several processes that allocate in the same context the first one's.
const Site* site_of(const RepairsRecord& repairs, uint32_t context) {
  const auto found = std::ranges::find_if(
      repairs.sites, [context](const Site& site) { return context != 0 && site.context == context; });
  return found == repairs.sites.end() ? nullptr : &*found;
}

// The first of the locks on the record's lines; nullptr: none was moved.
const MovedLock* first_moved(std::span<const MovedLock> locks, const ContendedRecord& record) {
  const auto is_there = [&record](const MovedLock& lock) {
    return std::ranges::any_of(record.sides, [&lock](const ContendedRecord::Side& side) {
      return side.line != 0 && side.line == hpcrun::line_of(lock.address);
    });
  };
  const auto first = std::ranges::find_if(locks, is_there);
  return first == locks.end() ? nullptr : &*first;
}

std::string fate(const RepairsRecord& repairs, const ContendedRecord& record, const Placeable& one) {
  const Site* const site = site_of(repairs, one.context);
  if (site && site->align > 0 && site->kind != SiteFate::Declined)
    return fmt::format("Since {} of the run these allocations are placed {}.",
                       words_for_duration(site->since_s),
                       words_for_placement(site->align, site->offset, site->pad));
  if (const std::string why = why_not_placed(record, one); !why.empty())
    return repairs.was_asked_for() ? fmt::format("Declined: {}.", why) : "";
  return fmt::format("`prof run --repair` places such allocations {}: of {} accesses in conflict {} remain.",
                     words_for_placement(one.placement.align, one.placement.offset, one.placement.pad),
                     one.conflicts_before, one.conflicts_after);
}

void add_words(const CallTree& tree, uint32_t context, AllocationSite& site) {
  for (const FindingFrame& frame : frames_of(tree, context))
    if (site.path.size() < kMostWords) site.path.push_back(words_for_frame(frame));
}

// The same site in another process, or another finding: it is placed as where it costs most.
void add_site(SiteRepair repair, std::vector<SiteRepair>& sites) {
  const auto known =
      std::ranges::find_if(sites, [&](const SiteRepair& other) { return is_same_data(repair, other); });
  if (known == sites.end()) {
    sites.push_back(std::move(repair));
    return;
  }
  const uint64_t least = std::min(known->site.least_bytes, repair.site.least_bytes);
  const uint64_t most = std::max(known->site.most_bytes, repair.site.most_bytes);
  if (repair.conflicts_before > known->conflicts_before) *known = std::move(repair);
  known->site.least_bytes = least;
  known->site.most_bytes = most;
}

void add_lock(LockRepair repair, std::vector<LockRepair>& locks) {
  if (std::ranges::none_of(locks, [&](const LockRepair& other) { return is_same_data(repair, other); }))
    locks.push_back(std::move(repair));
}

// Locks among the data, where threads take and release them.
void add_locks(const CallTree& tree, const ContendedRecord& record, const std::string& sentence,
               std::vector<LockRepair>& locks) {
  for (const ContendedRecord::Side& side : record.sides) {
    if (!is_lock_function(function_of(*tree.database, side.context))) continue;
    if (!record.variable.module.empty() && side.allocation == 0) {
      // What has no name is known by its line, which may have several variables.
      const bool is_named = !side.variable.module.empty();
      add_lock({is_named ? side.name : object_in_words(tree, record),
                is_named ? side.variable : record.variable,
                is_named ? std::max<uint64_t>(side.variable_bytes, 1) : hpcrun::kLineBytes,
                {},
                {sentence, {}, {}, {}}},
               locks);
    } else if (side.allocation > 0) {
      const uint32_t context = record.allocations[side.allocation - 1].context;
      for (const Placeable& one : record.placeable) {
        if (one.context != context || one.site.frames.empty()) continue;
        LockRepair repair{{}, {}, 0, one.site, {sentence, {}, {}, {}}};
        add_words(tree, context, repair.site);
        add_lock(std::move(repair), locks);
      }
    }
  }
}

void add_proposals(const CallTree& tree, const ContendedRecord& record, const std::string& sentence,
                   RepairFile& file) {
  const size_t locks = file.locks.size();
  if (record.sharing != hpcrun::Sharing::True) add_locks(tree, record, sentence, file.locks);
  if (record.placeable.empty() && file.locks.size() == locks) {
    file.declined.push_back({sentence, why_not_moved(record)});
    return;
  }
  for (const Placeable& one : record.placeable) {
    if (const std::string why = why_not_placed(record, one); !why.empty()) {
      if (file.locks.size() == locks) file.declined.push_back({sentence, why});
      continue;
    }
    SiteRepair repair{one.site, one.placement, one.conflicts_before, one.conflicts_after, {}};
    add_words(tree, one.context, repair.site);
    repair.terms.why = sentence;
    add_site(std::move(repair), file.sites);
  }
}

}  // namespace

std::vector<ModuleAddress> MeasuredContexts::frames(uint32_t thread, uint32_t node) const {
  const auto at = std::ranges::find(measurement_.threads, thread, &MeasuredThread::index);
  std::vector<ModuleAddress> frames;
  if (at == measurement_.threads.end() || at->kind != LineKind::Thread) return frames;
  while (node > 0 && node < at->nodes.size() && frames.size() < hpcrun::kMostPlanFrames) {
    const MeasuredNode& measured = at->nodes[node];
    const auto module =
        std::ranges::find(measurement_.modules, hpcrun::frame_module(measured.frame), &MeasuredModule::id);
    const bool is_in_file =
        measured.frame != kLostFrame && module != measurement_.modules.end() && module->path.starts_with('/');
    if (!is_in_file) break;
    frames.push_back({module->path, module->build_id, hpcrun::frame_offset(measured.frame)});
    node = measured.parent;
  }
  return frames;
}

void add_placeable(const ContendedData& found, const KnownData& data, const MeasuredContexts& contexts,
                   ContendedRecord& record) {
  for (const SiteLayout& layout : lay_out_sites(found, data.objects())) {
    Placeable& one = record.placeable.emplace_back();
    one.context = data.allocated_in(layout.objects.front()).value_or(0);
    one.is_mapping = layout.is_mapping;
    one.is_bound = layout.is_bound;
    if (const MeasuredObject* const measured = data.allocation(layout.objects.front()))
      one.site.frames = contexts.frames(measured->thread, measured->node);
    one.site.least_bytes = layout.least_bytes;
    one.site.most_bytes = layout.most_bytes;
    one.placement = layout.placement;
    one.conflicts_before = layout.conflicts_before;
    one.conflicts_after = layout.conflicts_after;
  }
  record.variable =
      found.objects.empty() ? data.in_module(found.lines.front()) : data.place_of(data.main_object(found));
  record.module = record.variable.module;
  if (found.objects.empty() && !record.module.empty()) record.address = record.variable.offset;
}

void RunRepairs::add(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads) {
  const uint64_t asked = measurement.counter(Counter::Repairs);
  record_.layout |= (asked & hpcrun::kRepairsLayout) != 0;
  record_.locks |= (asked & hpcrun::kRepairsLocks) != 0;
  record_.isolate |= (asked & hpcrun::kRepairsIsolate) != 0;
  record_.plan |= (asked & hpcrun::kRepairsByPlan) != 0;
  record_.placed_allocations += measurement.counter(Counter::PlacedAllocations);
  record_.padding_bytes += measurement.counter(Counter::PaddingBytes);
  record_.refused_allocations += measurement.counter(Counter::PlacementsRefused);
  record_.planned_sites = std::max(record_.planned_sites, measurement.counter(Counter::PlannedSites));
  record_.moved_locks += measurement.counter(Counter::LocksMoved);
  for (const auto& [counter, why] : kLocksDeclined)
    if (const uint64_t count = measurement.counter(counter)) record_.declined_locks[why] += count;
  constexpr double kSecond = 1e9;
  record_.conversions += measurement.counter(Counter::Conversions);
  record_.conversion_s += static_cast<double>(measurement.counter(Counter::ConversionNanoseconds)) / kSecond;
  record_.longest_conversion_s =
      std::max(record_.longest_conversion_s,
               static_cast<double>(measurement.counter(Counter::LongestConversion)) / kSecond);
  record_.commits += measurement.counter(Counter::PageCommits);
  record_.commit_s += static_cast<double>(measurement.counter(Counter::CommitNanoseconds)) / kSecond;
  record_.merged_words += measurement.counter(Counter::MergedWords);
  record_.converted_s += static_cast<double>(measurement.counter(Counter::ConvertedNanoseconds)) / kSecond;
  add_balance(measurement, record_);
  const uint64_t start_ns = measurement.process.start_monotonic_ns;
  const auto since = [start_ns](const MeasuredRepair& repair) {
    return static_cast<double>(repair.time_ns - std::min(repair.time_ns, start_ns)) / kSecond;
  };
  const MeasuredContexts contexts(measurement);
  for (const MeasuredRepair& repair : measurement.repairs) {
    if (repair.kind == RepairKind::PageIsolated || repair.kind == RepairKind::PageShared) {
      if (record_.pages.size() < kMostSites) record_.pages.push_back(page_of(repair, since(repair)));
      continue;
    }
    if (repair.kind == RepairKind::LocksMoved) {
      moved_locks_.push_back({repair.address, since(repair)});
      continue;
    }
    if (record_.sites.size() == kMostSites) continue;
    Site& site = record_.sites.emplace_back();
    site.kind = repair.kind == RepairKind::Placed        ? SiteFate::Placed
                : repair.kind == RepairKind::PlannedSite ? SiteFate::Planned
                                                         : SiteFate::Declined;
    const auto thread = std::ranges::find_if(
        threads, [&](const ThreadInDatabase& one) { return one.thread->index == repair.thread; });
    if (thread != threads.end() && repair.node < thread->context_of.size() && repair.node > 0)
      site.context = thread->context_of[repair.node];
    site.since_s = since(repair);
    site.bytes = repair.bytes;
    site.align = repair.align;
    site.offset = repair.offset;
    site.pad = repair.pad;
    site.conflicts = repair.conflicts;
    site.remaining = repair.remaining;
    if (repair.kind != RepairKind::Placed) continue;
    SiteRepair made;
    made.site.frames = contexts.frames(repair.thread, repair.node);
    made.site.least_bytes = repair.bytes;
    made.site.most_bytes = repair.bytes == 0 ? INT64_MAX : repair.bytes;
    made.placement = {repair.align, repair.offset, repair.pad};
    made.conflicts_before = repair.conflicts;
    made.conflicts_after = repair.remaining;
    if (!made.site.frames.empty()) placed_.push_back({site.context, std::move(made)});
  }
}

RepairsRecord RunRepairs::take() {
  std::ranges::stable_sort(record_.sites, {}, &Site::since_s);
  std::ranges::stable_sort(record_.pages, {}, &RepairsRecord::Page::since_s);
  return std::move(record_);
}

RepairFile proposed_repairs(const Database& database, const std::vector<ContendedRecord>& contention,
                            const std::vector<PlacedSite>& placed) {
  RepairFile file;
  file.program = database.title;
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  RunSummary run = run_summary(database);
  run.contention = contention;  // of each process its own
  const std::vector<Finding> findings = contention_findings(tree, run);
  size_t finding = 0;
  for (const ContendedRecord& record : contention)
    if (!record.sides.empty()) add_proposals(tree, record, findings[finding++].sentence, file);
  // What was placed after a moment may have left too little for a finding.
  for (PlacedSite one : placed) {
    add_words(tree, one.context, one.repair.site);
    one.repair.terms.why = "Threads contended for them until they were placed anew, while the program ran.";
    if (std::ranges::none_of(file.sites,
                             [&](const SiteRepair& other) { return is_same_data(one.repair, other); }))
      file.sites.push_back(std::move(one.repair));
  }
  return file;
}

void tell_repairs(RepairsRecord& repairs, std::span<const MovedLock> locks,
                  std::vector<ContendedRecord>& contention) {
  const bool places = repairs.layout || repairs.locks || repairs.plan;
  for (ContendedRecord& record : contention) {
    const auto add = [&record](const std::string& told) {
      if (!told.empty() && record.repair.find(told) == std::string::npos)
        record.repair += (record.repair.empty() ? "" : " ") + told;
    };
    for (const ContendedRecord::Side& side : record.sides)
      for (RepairsRecord::Page& page : repairs.pages) {
        if (!side.line || side.line / kPageBytes != page.address / kPageBytes) continue;
        if (page.name.empty()) page.name = record.name;
        add(fate_of_page(page));
      }
    if (const MovedLock* const lock = first_moved(locks, record))
      add(fmt::format("Since {} of the run locks there have lines of their own.",
                      words_for_duration(lock->since_s)));
    const bool is_told = !record.repair.empty();  // of its page, or locks
    if (repairs.isolate && !is_told && (record.placeable.empty() || !places))
      add("Not isolated: while it ran, too little was seen of it for that.");
    if (places && record.placeable.empty() && !is_told)
      add(fmt::format("Declined: {}.", why_not_moved(record)));
    if (places)
      for (const Placeable& one : record.placeable) add(fate(repairs, record, one));
  }
}

}  // namespace prof
