#pragma once
// Finds the alignments that put data of different threads on different cache lines. Each is tried on the
// layout of the data (layout.h), so that it is known to help. With all of them, no two threads of the finding
// have bytes on one line, if one of them writes and the bytes differ.

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
  std::string file;  // its declaration; empty if unknown
  uint32_t line = 0;
  uint64_t begin = 0;  // address in memory
  TypeTree tree;       // empty if unknown
};

using TypedObjects = std::map<uint32_t, TypedObject>;  // by ContentionSide::object

// One alignas(64).
struct ChosenChange {
  uint32_t object = 0;
  bool is_of_variable = false;  // of the whole object; otherwise:
  AlignmentChange change;
  std::string path;  // of the record or array that contains it: ".rows[2]"; empty if that is the object
  std::string file;  // of the aligned part; empty if unknown
  uint32_t line = 0;
};

struct Separation {
  enum class Obstacle : uint8_t {
    None,         // the changes are sufficient
    Unknown,      // the layout is unknown
    BitFields,    // `at` names bit fields, which cannot be aligned
    OnePart,      // threads use different bytes of `at`, which has no parts that could be aligned
    ForeignType,  // `at` is a type of the system's headers
    Blocks,       // each thread uses consecutive elements of `at`, which need no lines of their own
  };
  Obstacle obstacle = Obstacle::None;
  std::string at;
  uint64_t block_elements = 0;               // for Blocks: the number of elements that fill whole lines
  std::vector<ChosenChange> changes;         // empty if there is an obstacle
  std::map<uint32_t, uint64_t> bytes_after;  // of the objects that change

  // Returns the layout of an object with its changes.
  Layout layout_of(uint32_t object, const TypedObject& known) const;
};

// Returns no changes if no sides conflict. Returns Obstacle::Unknown if the object of a side is not in
// `objects`.
Separation separate(const std::vector<ContentionSide>& sides, const TypedObjects& objects);

}  // namespace prof
