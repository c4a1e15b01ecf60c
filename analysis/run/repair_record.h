#pragma once
// Repairs that were made while a program ran: "repairs" in run.json.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/run/kinds.h"
#include "analysis/run/record_fields.h"
#include "hpcrun/measurement/why_shared.h"

namespace prof {

struct RepairsRecord {
  bool layout = false;  // requested: repairs of what the run finds, ...
  bool locks = false;
  bool isolate = false;
  bool plan = false;  // ... and a plan that the run had from the start
  uint64_t placed_allocations = 0;
  uint64_t padding_bytes = 0;        // added to what was requested, summed
  uint64_t refused_allocations = 0;  // the allocator could not place them
  uint64_t planned_sites = 0;        // of the plan, reached by the program
  uint64_t moved_locks = 0;
  std::map<LockObstacle, uint64_t> declined_locks;  // by why they were not moved to a line of their own

  struct Site {
    SiteFate kind = SiteFate::Declined;
    uint32_t context = 0;  // of the allocation, an index into Database::contexts; 0 if unknown
    double since_s = 0;    // since the start of the run: the decision, or the first such allocation
    uint64_t bytes = 0;    // requested; 0 if they vary
    uint64_t align = 0;    // a hpcrun::Placement; 0 for none
    uint64_t offset = 0;
    uint64_t pad = 0;
    uint64_t conflicts = 0;  // accesses, with the original layout; 0 for a plan
    uint64_t remaining = 0;  // with the placement; if declined, with the best one
  };
  std::vector<Site> sites;  // in the order of time

  // A falsely shared page, and what was done about it.
  struct Page {
    PageFate kind = PageFate::Shared;
    hpcrun::WhyShared why = hpcrun::WhyShared::None;  // why it is not, or no longer, isolated
    std::string name;                                 // of what threads contended for there; empty if unknown
    uint64_t address = 0;
    double since_s = 0;  // since the start of the run
    double share = 0;    // of CPU time, at falsely shared lines, before isolation
  };
  std::vector<Page> pages;  // in the order of time
  // Conversions of threads to processes, for isolation:
  uint64_t conversions = 0;
  double conversion_s = 0;  // all together
  double longest_conversion_s = 0;
  uint64_t commits = 0;
  double commit_s = 0;
  uint64_t merged_words = 0;
  double converted_s = 0;  // their CPU time
  Guarantee guarantee = Guarantee::None;  // what was guaranteed for the program's data meanwhile
  // Meetings per second of CPU time with private pages and with common ones, in the last comparison; 0 if
  // there was none.
  double isolated_meetings = 0;
  double common_meetings = 0;

  bool was_asked_for() const { return layout || locks || plan || isolate; }
};

// Visits all fields except declined locks, sites and pages.
template <typename Visit>
void for_each_field(RecordOf<RepairsRecord> auto& record, Visit visit) {
  visit("layout", record.layout);
  visit("locks", record.locks);
  visit("isolate", record.isolate);
  visit("plan", record.plan);
  visit("placed_allocations", record.placed_allocations);
  visit("padding_bytes", record.padding_bytes);
  visit("refused_allocations", record.refused_allocations);
  visit("planned_sites", record.planned_sites);
  visit("moved_locks", record.moved_locks);
  visit("conversions", record.conversions);
  visit("conversion_s", record.conversion_s);
  visit("longest_conversion_s", record.longest_conversion_s);
  visit("commits", record.commits);
  visit("commit_s", record.commit_s);
  visit("merged_words", record.merged_words);
  visit("converted_s", record.converted_s);
  visit("guarantee", record.guarantee);
  visit("isolated_meetings", record.isolated_meetings);
  visit("common_meetings", record.common_meetings);
}

template <typename Visit>
void for_each_field(RecordOf<RepairsRecord::Site> auto& site, Visit visit) {
  visit("kind", site.kind);
  visit("context", site.context);
  visit("since_s", site.since_s);
  visit("bytes", site.bytes);
  visit("align", site.align);
  visit("offset", site.offset);
  visit("pad", site.pad);
  visit("conflicts", site.conflicts);
  visit("remaining", site.remaining);
}

template <typename Visit>
void for_each_field(RecordOf<RepairsRecord::Page> auto& page, Visit visit) {
  visit("kind", page.kind);
  visit("why", page.why);
  visit("name", page.name);
  visit("address", page.address);
  visit("since_s", page.since_s);
  visit("share", page.share);
}

}  // namespace prof
