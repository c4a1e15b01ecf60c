#pragma once
// How data would lie in memory if parts of their type were aligned to cache lines: the rules by which C and
// C++ lay out structs and arrays (x86-64 psABI, 3.1.2), computed for other alignments. Pure functions.

#include <compare>
#include <cstdint>
#include <vector>

#include "analysis/attribution/type_tree.h"

namespace prof {

// What gets an alignas(64).
struct AlignmentChange {
  enum class What : uint8_t {
    Member,    // of the record `type` the member with the index `member`
    Type,      // the record `type`, wherever it occurs
    Elements,  // each element of the array `type`, in a struct around it
  };
  What what = What::Type;
  size_t type = 0;  // in TypeTree::types
  size_t member = 0;

  auto operator<=>(const AlignmentChange&) const = default;
};

class Layout {
 public:
  // `tree` must outlive the object and have no cycles.
  explicit Layout(const TypeTree& tree, std::vector<AlignmentChange> changes = {});

  // False where it cannot be told: a change would be in or before what follows no rules that are known.
  bool is_known() const { return is_known_; }

  // Whether the type is laid out by the rules: not packed, for example.
  bool follows_rules(size_t type) const { return types_[type].follows_rules; }

  uint64_t bytes(size_t type = 0) const { return types_[type].bytes; }
  uint64_t alignment(size_t type = 0) const { return types_[type].alignment; }

  // Where the byte of the data that was at `offset` is now, in bytes from the begin of the data.
  uint64_t moved(uint64_t offset) const { return moved(0, offset); }
  uint64_t moved(size_t type, uint64_t offset) const;

 private:
  struct Laid {
    bool is_done = false;
    bool follows_rules = true;
    uint64_t bytes = 0;
    uint64_t alignment = 1;
    uint64_t stride = 0;            // of an array's elements, bytes
    std::vector<uint64_t> offsets;  // of a record's members
  };

  void lay(size_t type);
  void lay_array(size_t type);
  void lay_record(size_t type);
  void place_members(size_t type, Laid& laid) const;
  bool is_changed(AlignmentChange::What what, size_t type, size_t member = 0) const;

  const TypeTree& tree_;
  std::vector<AlignmentChange> changes_;
  std::vector<Laid> types_;
  bool is_known_ = true;
};

// The member of the record that has the byte at `offset`, as an index; that of the largest offset where
// several have, and SIZE_MAX for padding.
size_t member_at(const TypeTree& tree, size_t record, uint64_t offset);

}  // namespace prof
