#pragma once
// What was laid out anew while a program ran, as run.json has it under "repairs".

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/run/kinds.h"
#include "analysis/run/record_fields.h"
#include "hpcrun/measurement/why_shared.h"

namespace prof {

struct RepairsRecord {
  bool layout = false;  // what was asked for: of what the run finds, ...
  bool locks = false;
  bool isolate = false;
  bool plan = false;  // ... and of a plan that the run had from the start
  uint64_t placed_allocations = 0;
  uint64_t padding_bytes = 0;        // that these take more than was asked for, summed
  uint64_t refused_allocations = 0;  // that the allocator could not place
  uint64_t planned_sites = 0;        // of the plan, that the program came to
  uint64_t moved_locks = 0;
  std::map<LockObstacle, uint64_t> declined_locks;  // by why they got no line of their own

  struct Site {
    SiteFate kind = SiteFate::Declined;
    uint32_t context = 0;  // of the allocation, an index into Database::contexts; 0: not known
    double since_s = 0;    // of the run, when that was decided, or the first such allocation came
    uint64_t bytes = 0;    // that are asked for; 0: they vary
    uint64_t align = 0;    // a hpcrun::Placement; 0: none
    uint64_t offset = 0;
    uint64_t pad = 0;
    uint64_t conflicts = 0;  // accesses, as the data lay; 0: of a plan
    uint64_t remaining = 0;  // with the placement; with the best one where it was declined
  };
  std::vector<Site> sites;  // by time

  // What became of a page that threads shared falsely.
  struct Page {
    PageFate kind = PageFate::Shared;
    hpcrun::WhyShared why = hpcrun::WhyShared::None;  // it is not isolated, or not any more
    std::string name;  // of what threads contended for there; empty: not known
    uint64_t address = 0;
    double since_s = 0;  // of the run
    double share = 0;    // of CPU time, at lines that threads shared falsely, before
  };
  std::vector<Page> pages;  // by time
  // Of threads that became processes for that:
  uint64_t conversions = 0;
  double conversion_s = 0;  // all together
  double longest_conversion_s = 0;
  uint64_t commits = 0;
  double commit_s = 0;
  uint64_t merged_words = 0;
  double converted_s = 0;  // their CPU time
  Guarantee guarantee = Guarantee::None;  // what held for the program's data meanwhile
  // How often threads met in a second of CPU time with pages of their own, and with common ones, as that was
  // tried last; 0: it was not.
  double isolated_meetings = 0;
  double common_meetings = 0;

  bool was_asked_for() const { return layout || locks || plan || isolate; }
};

// All but declined locks, sites and pages.
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
