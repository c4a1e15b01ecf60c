#include "analysis/contention/separation.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace prof {
namespace {

using hpcrun::kLineBytes;
using Obstacle = Separation::Obstacle;

constexpr size_t kMaxChanges = 64;
constexpr size_t kMaxUses = 1024;

// The use of one place by one thread, however often and in whatever code.
struct Use {
  uint32_t thread;
  uint32_t object;
  uint64_t first, last;  // bytes of the object
  bool writes = false;
  uint64_t accesses = 0;
};

std::vector<Use> uses_of(const std::vector<ContentionSide>& sides) {
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>, Use> known;
  for (const ContentionSide& side : sides) {
    if (side.bytes == 0) continue;
    const uint64_t last = side.offset + side.bytes - 1;
    Use& use = known
                   .try_emplace({side.object, side.thread, side.offset, last},
                                Use{side.thread, side.object, side.offset, last})
                   .first->second;
    use.writes |= hpcrun::writes(side.kind);
    use.accesses += side.accesses;
  }
  std::vector<Use> uses;
  for (const auto& [key, use] : known) uses.push_back(use);
  return uses;
}

bool conflict(const Use& a, const Use& b) {
  const bool same_bytes = a.object == b.object && a.first <= b.last && b.first <= a.last;
  return a.thread != b.thread && (a.writes || b.writes) && !same_bytes;
}

bool is_foreign(const std::string& file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         file.starts_with("/usr/local/include/");
}

// A range of lines, counted from the start of some line.
struct Lines {
  uint64_t first, last;

  bool meet(const Lines& other) const { return first <= other.last && other.first <= last; }
};

class Separator {
 public:
  Separator(const std::vector<ContentionSide>& sides, const TypedObjects& objects)
      : objects_(objects), uses_(uses_of(sides)) {}

  Separation run() {
    const bool are_known =
        std::ranges::all_of(uses_, [&](const Use& use) { return objects_.contains(use.object); });
    if (uses_.size() > kMaxUses || !are_known) return fail(Obstacle::Unknown, "");
    for (;;) {
      if (!lay_out()) return fail(Obstacle::Unknown, "");
      const auto worst = worst_conflict();
      if (!worst && !part_from_unused()) break;
      if (worst && !part(uses_[worst->first], uses_[worst->second])) return fail(obstacle_, at_);
      if (out_.changes.size() > kMaxChanges) return fail(Obstacle::Unknown, "");
    }
    for (const ChosenChange& change : out_.changes) {
      const TypedObject& known = objects_.at(change.object);
      if (!known.tree.types.empty()) out_.bytes_after[change.object] = layouts_.at(change.object).bytes();
    }
    return std::move(out_);
  }

 private:
  Separation fail(Obstacle obstacle, std::string at) const {
    return {obstacle, std::move(at), out_.block_elements, {}, {}};
  }

  bool lay_out() {
    layouts_.clear();
    for (const auto& [object, known] : objects_) {
      if (known.tree.types.empty()) continue;
      const Layout layout = out_.layout_of(object, known);
      if (!layout.is_known()) return false;
      layouts_.emplace(object, layout);
    }
    return true;
  }

  bool is_aligned(uint32_t object) const {
    const auto layout = layouts_.find(object);
    return (layout != layouts_.end() && layout->second.alignment() >= kLineBytes) ||
           std::ranges::any_of(out_.changes, [object](const ChosenChange& change) {
             return change.object == object && change.is_of_variable;
           });
  }

  Lines lines_before(uint32_t object, uint64_t first, uint64_t last) const {
    const uint64_t begin = objects_.at(object).begin;
    return {(begin + first) / kLineBytes, (begin + last) / kLineBytes};
  }

  Lines lines_after(uint32_t object, uint64_t first, uint64_t last) const {
    const auto layout = layouts_.find(object);
    if (layout == layouts_.end()) return lines_before(object, first, last);
    const uint64_t begin = is_aligned(object) ? 0 : objects_.at(object).begin;
    return {(begin + layout->second.moved(first)) / kLineBytes,
            (begin + layout->second.moved(last)) / kLineBytes};
  }

  bool share_a_line(const Use& a, const Use& b) const {
    if (a.object == b.object)
      return lines_after(a.object, a.first, a.last).meet(lines_after(b.object, b.first, b.last));
    if (is_aligned(a.object) && is_aligned(b.object)) return false;
    return lines_before(a.object, a.first, a.last).meet(lines_before(b.object, b.first, b.last));
  }

  std::optional<std::pair<size_t, size_t>> worst_conflict() const {
    std::optional<std::pair<size_t, size_t>> worst;
    uint64_t most = 0;
    for (size_t i = 0; i < uses_.size(); ++i) {
      for (size_t j = i + 1; j < uses_.size(); ++j) {
        const uint64_t weight = std::min(uses_[i].accesses, uses_[j].accesses) + 1;
        if (weight <= most || !conflict(uses_[i], uses_[j]) || !share_a_line(uses_[i], uses_[j])) continue;
        most = weight;
        worst = {i, j};
      }
    }
    return worst;
  }

  bool stop(Obstacle obstacle, std::string at) {
    obstacle_ = obstacle;
    at_ = std::move(at);
    return false;
  }

  bool add(ChosenChange change) {
    const bool is_known = std::ranges::any_of(out_.changes, [&](const ChosenChange& one) {
      return one.object == change.object && one.is_of_variable == change.is_of_variable &&
             one.change == change.change;
    });
    if (is_known) return stop(Obstacle::Unknown, "");
    out_.changes.push_back(std::move(change));
    return true;
  }

  // Chooses the change that separates them. Returns false, with the obstacle, if there is none.
  bool part(const Use& a, const Use& b) {
    if (a.object != b.object) return align_variable(a.object) && align_variable(b.object);
    const TypedObject& known = objects_.at(a.object);
    if (known.tree.types.empty()) return stop(Obstacle::Unknown, "");
    return part_within(a.object, known, a.first, b.first);
  }

  bool align_variable(uint32_t object) {
    if (is_aligned(object)) return true;
    const TypedObject& known = objects_.at(object);
    return add({object, true, {}, "", known.file, known.line});
  }

  // Descends from the whole to its parts until the two uses are in different ones.
  bool part_within(uint32_t object, const TypedObject& known, uint64_t a, uint64_t b) {
    const uint64_t use = a;
    const std::vector<DataType>& types = known.tree.types;
    ChosenChange change{object, false, {}, "", known.file, known.line};
    for (size_t type = 0;;) {
      const DataType& of = types[type];
      if (of.kind == DataType::Kind::Plain || of.bytes == 0)
        return stop(Obstacle::OnePart, known.name + change.path);
      if (of.kind == DataType::Kind::Array) {
        const uint64_t bytes = types[of.element].bytes;
        if (bytes == 0) return stop(Obstacle::Unknown, "");
        if (a / bytes != b / bytes && are_blocks(object, known.tree, type, use)) {
          out_.block_elements = std::lcm(bytes, uint64_t{kLineBytes}) / bytes;
          return stop(Obstacle::Blocks, known.name + change.path);
        }
        if (a / bytes != b / bytes) return part_elements(known.tree, type, std::move(change));
        change.path += "[" + std::to_string(a / bytes) + "]";
        a %= bytes;
        b %= bytes;
        type = of.element;
        continue;
      }
      if (!layouts_.at(object).follows_rules(type)) return stop(Obstacle::Unknown, "");
      const size_t in_a = member_at(known.tree, type, a), in_b = member_at(known.tree, type, b);
      if (in_a == SIZE_MAX || in_b == SIZE_MAX) return stop(Obstacle::Unknown, "");
      if (in_a != in_b) return part_members(known.tree, type, std::max(in_a, in_b), std::move(change));
      const TypeMember& member = of.members[in_a];
      if (member.is_bit_field) return stop(Obstacle::BitFields, member.name);
      if (!member.name.empty()) {
        change.path += "." + member.name;
        change.file = member.file;
        change.line = member.line;
      }
      a -= member.offset;
      b -= member.offset;
      type = member.type;
    }
  }

  // True if each thread uses a contiguous block of elements of the array that contains `within`, blocks do
  // not overlap, and at least one has several elements.
  bool are_blocks(uint32_t object, const TypeTree& tree, size_t array, uint64_t within) const {
    struct Range {
      uint64_t first = UINT64_MAX, last = 0;  // elements
    };
    const std::optional<uint64_t> begin = begin_of(tree, array, within);
    if (!begin) return false;
    std::map<uint32_t, Range> by_thread;
    for (const Use& use : uses_) {
      if (use.object != object || begin_of(tree, array, use.first) != begin) continue;
      const uint64_t bytes = tree.types[tree.types[array].element].bytes;
      Range& range = by_thread[use.thread];
      range.first = std::min(range.first, (use.first - *begin) / bytes);
      range.last = std::max(range.last, (use.last - *begin) / bytes);
    }
    std::vector<Range> ranges;
    for (const auto& [thread, range] : by_thread) ranges.push_back(range);
    std::ranges::sort(ranges, {}, &Range::first);
    bool any_block = false;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (i > 0 && ranges[i].first <= ranges[i - 1].last) return false;
      any_block |= ranges[i].first != ranges[i].last;
    }
    return any_block;
  }

  bool part_elements(const TypeTree& tree, size_t array, ChosenChange change) {
    const size_t element = tree.types[array].element;
    const DataType& of = tree.types[element];
    const bool is_own = of.kind == DataType::Kind::Record && !of.file.empty() && !is_foreign(of.file);
    change.change = is_own ? AlignmentChange{AlignmentChange::What::Type, element, 0}
                           : AlignmentChange{AlignmentChange::What::Elements, array, 0};
    if (is_own) {
      change.file = of.file;
      change.line = of.line;
    }
    return add(std::move(change));
  }

  bool part_members(const TypeTree& tree, size_t record, size_t later, ChosenChange change) {
    const DataType& of = tree.types[record];
    const TypeMember& member = of.members[later];
    if (is_foreign(of.file)) return stop(Obstacle::ForeignType, of.name);
    if (member.is_bit_field) return stop(Obstacle::BitFields, member.name);
    if (member.is_base || member.name.empty()) return stop(Obstacle::Unknown, "");
    change.change = {AlignmentChange::What::Member, record, later};
    change.file = member.file;
    change.line = member.line;
    return add(std::move(change));
  }

  // Members that no thread was observed to use must not move to a line that threads use because another
  // member moved. Separates them again. Returns true if a change was made.
  bool part_from_unused() {
    for (const ChosenChange& moved : std::vector<ChosenChange>(out_.changes)) {
      if (moved.is_of_variable || moved.change.what != AlignmentChange::What::Member) continue;
      const TypedObject& known = objects_.at(moved.object);
      const DataType& record = known.tree.types[moved.change.type];
      const uint64_t end = record.members[moved.change.member].offset + kLineBytes;
      for (size_t next = moved.change.member + 1;
           next < record.members.size() && record.members[next].offset < end; ++next)
        if (comes_to_used_line(moved, next) &&
            part_members(known.tree, moved.change.type, next, {moved.object, false, {}, moved.path, "", 0}))
          return true;
    }
    return false;
  }

  // True if the member would move to the line of a member that threads use.
  bool comes_to_used_line(const ChosenChange& moved, size_t member) const {
    const TypeTree& tree = objects_.at(moved.object).tree;
    const std::vector<TypeMember>& members = tree.types[moved.change.type].members;
    for (const Use& use : uses_) {
      const std::optional<uint64_t> record = begin_of(tree, moved.change.type, use.first);
      if (use.object != moved.object || !record) continue;
      const uint64_t first = *record + members[member].offset;
      const uint64_t bytes = tree.types[members[member].type].bytes;
      if (bytes == 0 || (use.first < first + bytes && first <= use.last)) continue;
      const uint64_t last = first + bytes - 1;
      if (lines_before(use.object, first, last).meet(lines_before(use.object, use.first, use.last)) ||
          !lines_after(use.object, first, last).meet(lines_after(use.object, use.first, use.last)))
        continue;
      return std::ranges::none_of(uses_, [&](const Use& other) {
        return other.object == use.object && other.first <= last && first <= other.last;
      });
    }
    return false;
  }

  // Returns the start of the part that contains the byte; nullopt if none does.
  static std::optional<uint64_t> begin_of(const TypeTree& tree, size_t part, uint64_t offset) {
    uint64_t begin = 0;
    for (size_t type = 0; type != part;) {
      const DataType& of = tree.types[type];
      if (of.kind == DataType::Kind::Plain) return {};
      if (of.kind == DataType::Kind::Array) {
        const uint64_t bytes = tree.types[of.element].bytes;
        if (bytes == 0) return {};
        begin += (offset - begin) / bytes * bytes;
        type = of.element;
        continue;
      }
      const size_t member = member_at(tree, type, offset - begin);
      if (member == SIZE_MAX) return {};
      begin += of.members[member].offset;
      type = of.members[member].type;
    }
    return begin;
  }

  const TypedObjects& objects_;
  std::vector<Use> uses_;
  std::map<uint32_t, Layout> layouts_;
  Separation out_;
  Obstacle obstacle_ = Obstacle::None;
  std::string at_;
};

}  // namespace

Layout Separation::layout_of(uint32_t object, const TypedObject& known) const {
  std::vector<AlignmentChange> of_types;
  for (const ChosenChange& change : changes)
    if (change.object == object && !change.is_of_variable) of_types.push_back(change.change);
  return Layout(known.tree, std::move(of_types));
}

Separation separate(const std::vector<ContentionSide>& sides, const TypedObjects& objects) {
  return Separator(sides, objects).run();
}

}  // namespace prof
