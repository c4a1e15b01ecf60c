#pragma once
// What to change in the source so that threads stop contending for data: which of the few remedies fits, and
// to what it is to be applied.

#include <string>
#include <vector>

#include "analysis/contention/contended_data.h"
#include "analysis/contention/separation.h"
#include "analysis/run/kinds.h"

namespace prof {

// A place in an object, by name.
struct NamedPlace {
  std::string object;    // "net::stats"; for allocations what they are called in reports
  std::string path;      // "[3].hits"; empty: all of it
  std::string type;      // of the place; empty: not known
  std::string declared;  // "stats.h:17"; empty: not known
  uint64_t bytes = 0;
  SourceLanguage language = SourceLanguage::Other;  // that it is declared in
};

// A side of a finding, with its place.
struct PlacedSide {
  ContentionSide side;
  NamedPlace place;
};

struct Advice {
  Remedy remedy = Remedy::AlignObjects;
  std::string text;            // one sentence or two
  Separation separation = {};  // what is to be aligned, if that helps and the layout is known
};

// `objects`: those of the sides that are variables.
Advice advise(hpcrun::Sharing sharing, const std::vector<PlacedSide>& sides, ObjectKind kind,
              const TypedObjects& objects = {});

}  // namespace prof
