#pragma once
// The alignments that would put what threads use of the same cache lines on lines of their own. Each is tried
// on the layout of the data (layout.h), so that what is told is known to help: with all of them no two
// threads of the finding have bytes on one line, if one of them writes and the bytes are not the same.

#include <map>
#include <string>
#include <vector>

#include "analysis/attribution/type_tree.h"
#include "analysis/contention/contended_data.h"
#include "analysis/contention/layout.h"

namespace prof {

// A variable, with what is known of it.
struct TypedObject {
  std::string name;  // "net::stats"
  std::string file;  // where it is declared; empty: not known
  uint32_t line = 0;
  uint64_t begin = 0;  // address in memory
  TypeTree tree;       // empty: not known
};

using TypedObjects = std::map<uint32_t, TypedObject>;  // by ContentionSide::object

// One alignas(64).
struct ChosenChange {
  uint32_t object = 0;
  bool is_of_variable = false;  // of the whole object; else
  AlignmentChange change;
  std::string path;  // of the record or array that holds it: ".rows[2]"; empty: the object is that
  std::string file;  // of what gets it; empty: not known
  uint32_t line = 0;
};

struct Separation {
  enum class Obstacle : uint8_t {
    None,         // the changes are all that is needed
    Unknown,      // the layout is not known
    BitFields,    // `at` are bit fields, which cannot be aligned
    OnePart,      // threads use different bytes of `at`, which has no parts that could be aligned
    ForeignType,  // `at` is a type of the system's headers
    Blocks,       // each thread uses elements in a row of `at`, which need no lines of their own
  };
  Obstacle obstacle = Obstacle::None;
  std::string at;
  uint64_t block_elements = 0;               // of Blocks: elements that fill whole lines
  std::vector<ChosenChange> changes;         // empty unless there is no obstacle
  std::map<uint32_t, uint64_t> bytes_after;  // of the objects that change

  // The layout of an object with its changes.
  Layout layout_of(uint32_t object, const TypedObject& known) const;
};

// Nothing to change where no sides conflict. Obstacle::Unknown where a side has an object that is not among
// `objects`.
Separation separate(const std::vector<ContentionSide>& sides, const TypedObjects& objects);

}  // namespace prof
