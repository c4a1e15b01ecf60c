#pragma once
// Chooses what to change in the source so that threads stop contending for data: which remedy fits, and where
// to apply it.

#include <string>
#include <vector>

#include "analysis/contention/contended_data.h"
#include "analysis/contention/separation.h"
#include "analysis/run/kinds.h"

namespace prof {

// A named part of an object.
struct NamedPart {
  std::string object;    // "net::stats"; for allocations, their name in reports
  std::string path;      // "[3].hits"; empty for the whole object
  std::string type;      // of the part; empty if unknown
  std::string declared;  // "stats.h:17"; empty if unknown
  uint64_t bytes = 0;
  SourceLanguage language = SourceLanguage::Other;  // of the declaration
};

// A side of a finding, with its location by name.
struct NamedSide {
  ContentionSide side;
  NamedPart part;
};

struct Advice {
  Remedy remedy = Remedy::AlignObjects;
  std::string text;            // one sentence or two
  Separation separation = {};  // what to align, if that helps and the layout is known
};

// `objects`: the variables among the objects of the sides.
Advice advise(hpcrun::Sharing sharing, const std::vector<NamedSide>& sides, ObjectKind kind,
              const TypedObjects& objects = {});

}  // namespace prof
