#include "analysis/analyze/repair_proposals.h"

#include <algorithm>
#include <string>

#include "analysis/findings/contention.h"
#include "analysis/repair/reasons.h"
#include "analysis/views/run/format_contention.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_path.h"

namespace prof {
namespace {

using Placeable = ContendedRecord::Placeable;

constexpr size_t kMaxWords = 32;  // of a call path

// Returns an empty name for a context outside of inlined and called functions.
std::string function_of(const Database& database, uint32_t context) {
  for (; context != kNone; context = database.contexts[context].parent) {
    const Context& at = database.contexts[context];
    if (at.kind == ContextKind::Function && at.function != kNone) return database.functions[at.function].name;
    if (at.relation != Relation::Enclosing) break;
  }
  return {};
}

// True for lock functions of the C library, whose parts have names of their own if its symbols are known.
bool is_lock_function(const std::string& name) {
  return name.find("pthread_mutex_") != std::string::npos ||
         name.find("pthread_rwlock_") != std::string::npos || name.find("lll_") != std::string::npos;
}

void add_words(const CallTree& tree, uint32_t context, AllocationSite& site) {
  for (const CodeFrame& frame : frames_of(tree, context))
    if (site.path.size() < kMaxWords) site.path.push_back(format_frame(frame));
}

// Adds a site. If another process or finding has the same site, keeps the placement of the one with the
// highest cost.
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

// Adds locks among the data, by the code in which threads take and release them.
void add_locks(const CallTree& tree, const ContendedRecord& record, const std::string& sentence,
               std::vector<LockRepair>& locks) {
  for (const ContendedRecord::Side& side : record.sides) {
    if (!is_lock_function(function_of(*tree.database, side.context))) continue;
    if (!record.variable.module.empty() && side.allocation == 0) {
      // Unnamed locks are identified by their line, which may contain several variables.
      const bool is_named = !side.variable.module.empty();
      add_lock({is_named ? side.name : format_object(tree, record),
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
    file.declined.push_back({sentence, reason_not_moved(record)});
    return;
  }
  for (const Placeable& one : record.placeable) {
    if (const std::string why = reason_not_placed(record, one); !why.empty()) {
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

RepairFile proposed_repairs(const Database& database, const std::vector<ContendedRecord>& contention,
                            const std::vector<PlacedSite>& placed) {
  RepairFile file;
  file.program = database.title;
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  RunSummary run = run_summary(database);
  run.contention = contention;  // separate for each process
  const std::vector<Finding> findings = contention_findings(tree, run);
  size_t finding = 0;
  for (const ContendedRecord& record : contention)
    if (!record.sides.empty()) add_proposals(tree, record, findings[finding++].sentence, file);
  // Data that were placed early may have left too little contention for a finding.
  for (PlacedSite one : placed) {
    add_words(tree, one.context, one.repair.site);
    one.repair.terms.why = "Threads contended for them until they were re-laid out during the run.";
    if (std::ranges::none_of(file.sites,
                             [&](const SiteRepair& other) { return is_same_data(one.repair, other); }))
      file.sites.push_back(std::move(one.repair));
  }
  return file;
}

}  // namespace prof
