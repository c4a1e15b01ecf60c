#pragma once
// Computes the layout that data would have if parts of their type were aligned to cache lines, by the rules
// with which C and C++ lay out structs and arrays (x86-64 psABI, 3.1.2). Pure functions.

#include <compare>
#include <cstdint>
#include <vector>

#include "analysis/attribution/type_tree.h"

namespace prof {

// The part that gets an alignas(64).
struct AlignmentChange {
  enum class What : uint8_t {
    Member,    // the member with the index `member` of the record `type`
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
  // `tree` must outlive the object and must have no cycles.
  explicit Layout(const TypeTree& tree, std::vector<AlignmentChange> changes = {});

  // False if the layout cannot be computed: a change is in, or before, a part that does not follow known
  // rules.
  bool is_known() const { return is_known_; }

  // True if the type is laid out by the rules; false if it is packed, for example.
  bool follows_rules(size_t type) const { return types_[type].follows_rules; }

  uint64_t bytes(size_t type = 0) const { return types_[type].bytes; }
  uint64_t alignment(size_t type = 0) const { return types_[type].alignment; }

  // Returns the new position of the byte that was at `offset`, in bytes from the start of the data.
  uint64_t moved(uint64_t offset) const { return moved(0, offset); }
  uint64_t moved(size_t type, uint64_t offset) const;

 private:
  struct Laid {
    bool is_done = false;
    bool follows_rules = true;
    uint64_t bytes = 0;
    uint64_t alignment = 1;
    uint64_t stride = 0;            // of an array's elements, in bytes
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

// Returns the index of the record's member that contains the byte at `offset`; if several do, the one with
// the largest offset; SIZE_MAX for padding.
size_t member_at(const TypeTree& tree, size_t record, uint64_t offset);

}  // namespace prof
