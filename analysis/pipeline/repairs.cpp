#include "analysis/pipeline/repairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/repair/reasons.h"
#include "analysis/repair/site_layouts.h"
#include "analysis/words/numbers.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

using hpcrun::Counter;
using hpcrun::RepairKind;
using Placeable = ContendedRecord::Placeable;
using Site = RepairsRecord::Site;

constexpr size_t kMaxSites = 256;  // in run.json

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
  const std::string since = format_duration(page.since_s);
  if (page.kind == PageFate::Isolated)
    return fmt::format("After {} of the run, the page was isolated: each thread had a private copy.", since);
  return fmt::format("After {} of the run, all threads shared the page: {}.", since, name_of(page.why));
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

// Combines several processes: keeps what holds for all of them, and the comparison of the one with most
// meetings.
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

// Returns the site of a context. If several processes allocate there, returns the first one's.
const Site* site_of(const RepairsRecord& repairs, uint32_t context) {
  const auto found = std::ranges::find_if(
      repairs.sites, [context](const Site& site) { return context != 0 && site.context == context; });
  return found == repairs.sites.end() ? nullptr : &*found;
}

// Returns the first lock that was moved from one of the record's lines; nullptr if none was.
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
    return fmt::format("After {} of the run, these allocations were placed {}.",
                       format_duration(site->since_s),
                       format_placement(site->align, site->offset, site->pad));
  if (const std::string why = reason_not_placed(record, one); !why.empty())
    return repairs.was_asked_for() ? fmt::format("Not repaired: {}.", why) : "";
  return fmt::format("`prof run --repair` places such allocations {}: {} of {} accesses in conflict remain.",
                     format_placement(one.placement.align, one.placement.offset, one.placement.pad),
                     one.conflicts_after, one.conflicts_before);
}

}  // namespace

std::vector<ModuleAddress> MeasuredContexts::frames(uint32_t thread, uint32_t node) const {
  const auto at = std::ranges::find(measurement_.threads, thread, &MeasuredThread::index);
  std::vector<ModuleAddress> frames;
  if (at == measurement_.threads.end() || at->kind != TrackKind::Thread) return frames;
  while (node > 0 && node < at->nodes.size() && frames.size() < hpcrun::kMaxPlanFrames) {
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
  constexpr double kNsPerSecond = 1e9;
  record_.conversions += measurement.counter(Counter::Conversions);
  record_.conversion_s +=
      static_cast<double>(measurement.counter(Counter::ConversionNanoseconds)) / kNsPerSecond;
  record_.longest_conversion_s =
      std::max(record_.longest_conversion_s,
               static_cast<double>(measurement.counter(Counter::LongestConversion)) / kNsPerSecond);
  record_.commits += measurement.counter(Counter::PageCommits);
  record_.commit_s += static_cast<double>(measurement.counter(Counter::CommitNanoseconds)) / kNsPerSecond;
  record_.merged_words += measurement.counter(Counter::MergedWords);
  record_.converted_s +=
      static_cast<double>(measurement.counter(Counter::ConvertedNanoseconds)) / kNsPerSecond;
  add_balance(measurement, record_);
  const uint64_t start_ns = measurement.process.start_monotonic_ns;
  const auto since = [start_ns](const MeasuredRepair& repair) {
    return static_cast<double>(repair.time_ns - std::min(repair.time_ns, start_ns)) / kNsPerSecond;
  };
  const MeasuredContexts contexts(measurement);
  for (const MeasuredRepair& repair : measurement.repairs) {
    if (repair.kind == RepairKind::PageIsolated || repair.kind == RepairKind::PageShared) {
      if (record_.pages.size() < kMaxSites) record_.pages.push_back(page_of(repair, since(repair)));
      continue;
    }
    if (repair.kind == RepairKind::LocksMoved) {
      moved_locks_.push_back({repair.address, since(repair)});
      continue;
    }
    if (record_.sites.size() == kMaxSites) continue;
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

void describe_repairs(RepairsRecord& repairs, std::span<const MovedLock> locks,
                      std::vector<ContendedRecord>& contention) {
  const bool places = repairs.layout || repairs.locks || repairs.plan;
  for (ContendedRecord& record : contention) {
    const auto add = [&record](const std::string& text) {
      if (!text.empty() && record.repair.find(text) == std::string::npos)
        record.repair += (record.repair.empty() ? "" : " ") + text;
    };
    for (const ContendedRecord::Side& side : record.sides)
      for (RepairsRecord::Page& page : repairs.pages) {
        if (!side.line || side.line / kPageBytes != page.address / kPageBytes) continue;
        if (page.name.empty()) page.name = record.name;
        add(fate_of_page(page));
      }
    if (const MovedLock* const lock = first_moved(locks, record))
      add(fmt::format("After {} of the run, these locks had their own cache lines.",
                      format_duration(lock->since_s)));
    const bool is_explained = !record.repair.empty();  // about its page or locks
    if (repairs.isolate && !is_explained && (record.placeable.empty() || !places))
      add("Not isolated: too few accesses were sampled during the run.");
    if (places && record.placeable.empty() && !is_explained)
      add(fmt::format("Not repaired: {}.", reason_not_moved(record)));
    if (places)
      for (const Placeable& one : record.placeable) add(fate(repairs, record, one));
  }
}

}  // namespace prof
