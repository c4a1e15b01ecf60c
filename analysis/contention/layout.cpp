#include "analysis/contention/layout.h"

#include <algorithm>

#include "hpcrun/model/memory_access.h"

namespace prof {
namespace {

using hpcrun::kLineBytes;

uint64_t round_up(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

size_t member_at(const TypeTree& tree, size_t record, uint64_t offset) {
  const std::vector<TypeMember>& members = tree.types[record].members;
  for (size_t i = members.size(); i-- > 0;)
    if (offset >= members[i].offset && offset - members[i].offset < tree.types[members[i].type].bytes)
      return i;
  return SIZE_MAX;
}

Layout::Layout(const TypeTree& tree, std::vector<AlignmentChange> changes)
    : tree_(tree), changes_(std::move(changes)), types_(tree.types.size()) {
  if (!changes_.empty()) {
    const Layout unchanged(tree);
    for (size_t i = 0; i < types_.size(); ++i) types_[i].follows_rules = unchanged.types_[i].follows_rules;
  }
  lay(0);
}

bool Layout::is_changed(AlignmentChange::What what, size_t type, size_t member) const {
  return std::ranges::find(changes_, AlignmentChange{what, type, member}) != changes_.end();
}

void Layout::lay(size_t type) {
  if (types_[type].is_done) return;
  switch (tree_.types[type].kind) {
    case DataType::Kind::Record:
      for (const TypeMember& member : tree_.types[type].members) lay(member.type);
      lay_record(type);
      break;
    case DataType::Kind::Array:
      lay(tree_.types[type].element);
      lay_array(type);
      break;
    case DataType::Kind::Plain:
      types_[type].bytes = tree_.types[type].bytes;
      types_[type].alignment = tree_.types[type].alignment;
      break;
  }
  types_[type].is_done = true;
}

void Layout::lay_array(size_t type) {
  const DataType& array = tree_.types[type];
  const Laid& element = types_[array.element];
  Laid& laid = types_[type];
  laid.alignment = std::max(array.alignment, element.alignment);
  laid.stride = element.bytes;
  if (is_changed(AlignmentChange::What::Elements, type)) {
    laid.alignment = std::max<uint64_t>(laid.alignment, kLineBytes);
    laid.stride = round_up(element.bytes, laid.alignment);
  }
  laid.bytes = laid.stride * array.count;
}

// Applies the changes, if the same rules without them give the compiler's layout.
void Layout::lay_record(size_t type) {
  const DataType& record = tree_.types[type];
  Laid& laid = types_[type];
  const auto is_resized = [&](const TypeMember& member) {
    return types_[member.type].bytes != tree_.types[member.type].bytes;
  };
  if (laid.follows_rules) {
    place_members(type, laid);
    // A member after a base may lie in the padding at the base's end, which only the compiler knows.
    for (size_t i = 0; i + 1 < record.members.size(); ++i)
      is_known_ = is_known_ && !(record.members[i].is_base && is_resized(record.members[i]));
    if (!changes_.empty()) return;
    laid.follows_rules = laid.bytes == record.bytes &&
                         std::ranges::equal(laid.offsets, record.members, {}, {}, &TypeMember::offset);
    if (laid.follows_rules) return;
  }
  is_known_ = is_known_ && std::ranges::none_of(record.members, is_resized) &&
              std::ranges::none_of(changes_, [&](const AlignmentChange& change) {
                return change.type == type && change.what != AlignmentChange::What::Elements;
              });
  laid.offsets.clear();
  laid.bytes = record.bytes;
  laid.alignment = record.alignment;
}

void Layout::place_members(size_t type, Laid& laid) const {
  const DataType& record = tree_.types[type];
  laid.alignment = record.alignment;
  if (is_changed(AlignmentChange::What::Type, type))
    laid.alignment = std::max<uint64_t>(laid.alignment, kLineBytes);
  uint64_t end = 0, last = 0;
  for (size_t i = 0; i < record.members.size(); ++i) {
    const TypeMember& member = record.members[i];
    const Laid& of = types_[member.type];
    uint64_t alignment = std::max(of.alignment, member.asked_alignment);
    if (is_changed(AlignmentChange::What::Member, type, i))
      alignment = std::max<uint64_t>(alignment, kLineBytes);
    const uint64_t at = round_up(end, alignment);
    laid.offsets.push_back(at);
    laid.alignment = std::max(laid.alignment, alignment);
    last = std::max(last, at + of.bytes);
    // The member has fewer bytes for itself if it is empty, or if the next member lies in its padding.
    uint64_t own = of.bytes;
    if (i + 1 < record.members.size() && of.bytes == tree_.types[member.type].bytes)
      own = std::min(own, record.members[i + 1].offset - member.offset);
    end = at + own;
  }
  laid.bytes = round_up(std::max(end, last), laid.alignment);
}

uint64_t Layout::moved(size_t type, uint64_t offset) const {
  const DataType& of = tree_.types[type];
  const Laid& laid = types_[type];
  if (of.kind == DataType::Kind::Array) {
    const uint64_t bytes = tree_.types[of.element].bytes;
    return bytes == 0 ? offset : offset / bytes * laid.stride + moved(of.element, offset % bytes);
  }
  if (of.kind == DataType::Kind::Plain || laid.offsets.empty()) return offset;
  const size_t member = member_at(tree_, type, offset);
  if (member != SIZE_MAX)
    return laid.offsets[member] + moved(of.members[member].type, offset - of.members[member].offset);
  // Padding stays after the member before it.
  for (size_t i = of.members.size(); i-- > 0;)
    if (of.members[i].offset <= offset) return laid.offsets[i] + (offset - of.members[i].offset);
  return offset;
}

}  // namespace prof
