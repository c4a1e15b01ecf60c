#include "analysis/contention/contended_data.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <tuple>

namespace prof {
namespace {

using hpcrun::kLineBytes;
using hpcrun::line_of;
using hpcrun::LineMoves;
using hpcrun::LineWindow;
using hpcrun::Sharing;

constexpr uint64_t kPairBytes = 2 * kLineBytes;

// Detects threads that take turns at a line, each for longer than the time between its samples. Then the
// thread changes less often from sample to sample than by chance. With simultaneous use, it changes as often
// as by chance.
class Turns {
 public:
  void note(const ContentionAccess& access) {
    if (access.weight_ns == 0) return;  // watchpoints record several accesses of one thread in a row
    if (samples_ > 0 && access.thread != last_) ++changes_;
    last_ = access.thread;
    ++samples_;
    ++by_thread_[access.thread];
  }

  bool are_taken() const {
    double by_chance = 0;
    for (const auto& [thread, count] : by_thread_) {
      const double share = static_cast<double>(count) / static_cast<double>(samples_);
      by_chance += static_cast<double>(samples_) * share * (1 - share);
    }
    return by_chance >= kEnough && static_cast<double>(changes_) < kFewOfThem * by_chance;
  }

 private:
  static constexpr double kEnough = 20;
  static constexpr double kFewOfThem = 0.4;

  uint64_t samples_ = 0, changes_ = 0;
  uint32_t last_ = 0;
  std::map<uint32_t, uint64_t> by_thread_;
};

// One line, or pair of lines, in all windows. A new window begins when an object in it is freed: what follows
// in its place is unrelated.
class LineHistory {
 public:
  explicit LineHistory(const ContentionOptions& options) : options_(options) {}

  // `lives_until`: the end of the object's life, if there is an object.
  void note(const ContentionAccess& access, uint64_t from, uint64_t lives_until) {
    const uint64_t window = access.time_ns / options_.window_ns;
    if (window != window_ || access.time_ns >= first_death_ns_) close();
    window_ = window;
    turns_.note(access);
    first_death_ns_ = std::min(first_death_ns_, lives_until);
    current_->note({access.thread, static_cast<uint8_t>(access.address - from),
                    static_cast<uint8_t>(access.bytes), access.kind, access.time_ns, access.stands_for});
  }

  void close() {
    moves_ += current_->moves(options_.resolution_ns);
    current_->clear();
    first_death_ns_ = UINT64_MAX;
  }

  // Returns no moves if threads take turns: one move per turn is not contention.
  LineMoves moves() const { return turns_.are_taken() ? LineMoves{} : moves_; }

 private:
  const ContentionOptions& options_;
  uint64_t window_ = 0;
  uint64_t first_death_ns_ = UINT64_MAX;
  std::unique_ptr<LineWindow> current_ = std::make_unique<LineWindow>();
  LineMoves moves_;
  Turns turns_;
};

// Splits an access at line boundaries.
template <typename Visit>
void for_each_line(const ContentionAccess& access, Visit visit) {
  uint64_t at = access.address;
  const uint64_t end = access.address + access.bytes;
  while (at < end) {
    ContentionAccess part = access;
    part.address = at;
    part.bytes = static_cast<uint16_t>(std::min(end, line_of(at) + kLineBytes) - at);
    visit(part);
    at += part.bytes;
  }
}

struct Histories {
  std::map<uint64_t, LineHistory> lines;
  std::map<uint64_t, LineHistory> pairs;
};

Histories follow(std::span<const ContentionAccess> in_order, std::span<const DataObject> objects,
                 const ContentionOptions& options) {
  Histories histories;
  for (const ContentionAccess& access : in_order) {
    const uint64_t until = access.object < objects.size() ? objects[access.object].died_ns : UINT64_MAX;
    for_each_line(access, [&](const ContentionAccess& part) {
      const uint64_t line = line_of(part.address);
      const uint64_t pair = part.address / kPairBytes * kPairBytes;
      histories.lines.try_emplace(line, options).first->second.note(part, line, until);
      histories.pairs.try_emplace(pair, options).first->second.note(part, pair, until);
    });
  }
  for (auto* const of : {&histories.lines, &histories.pairs})
    for (auto& [address, history] : *of) history.close();
  return histories;
}

// Identifies a finding: a site, or a line outside of all known objects.
using FindingKey = std::tuple<bool, uint64_t>;

FindingKey key_of(const ContentionAccess& access, std::span<const DataObject> objects) {
  if (access.object < objects.size()) return {true, objects[access.object].site};
  return {false, line_of(access.address)};
}

// Assigns each line to the site with the most accesses to it.
std::map<uint64_t, FindingKey> owners_of_lines(std::span<const ContentionAccess> accesses,
                                               std::span<const DataObject> objects) {
  std::map<uint64_t, std::map<FindingKey, uint64_t>> counts;
  for (const ContentionAccess& access : accesses)
    for_each_line(access, [&](const ContentionAccess& part) {
      counts[line_of(part.address)][key_of(part, objects)] += part.stands_for;
    });
  std::map<uint64_t, FindingKey> owners;
  for (const auto& [line, sites] : counts)
    owners.emplace(line, std::max_element(sites.begin(), sites.end(), [](const auto& a, const auto& b) {
                           return a.second < b.second;
                         })->first);
  return owners;
}

// True if two of the sides satisfy the condition.
template <typename Condition>
bool any_two(const std::vector<ContentionSide>& sides, Condition condition) {
  for (size_t i = 0; i < sides.size(); ++i)
    for (size_t j = i + 1; j < sides.size(); ++j)
      if (condition(sides[i], sides[j])) return true;
  return false;
}

bool has_writer(const std::vector<ContentionSide>& sides) {
  return any_two(sides, is_conflict);
}

// The moves of lines determine which kind of sharing costs most. But a byte that one thread writes and
// another one uses is truly shared in any case, and the verdict must agree with the finding's sides.
Sharing agreeing_verdict(Sharing by_moves, const std::vector<ContentionSide>& sides) {
  // Sides without samples cost nothing: the thread that allocates and frees an object touches its bytes as
  // well. In memory whose allocation was not recorded, several objects may have used the same bytes in
  // succession.
  const bool has_objects =
      std::ranges::any_of(sides, [](const ContentionSide& side) { return side.object != kNoObject; });
  const auto counts = [has_objects](const ContentionSide& side) {
    return side.weight_ns > 0 && (!has_objects || side.object != kNoObject);
  };
  const bool shares_bytes = any_two(sides, [&](const ContentionSide& a, const ContentionSide& b) {
    return counts(a) && counts(b) && is_conflict(a, b) && have_common_bytes(a, b);
  });
  return by_moves == Sharing::False && shares_bytes ? Sharing::Mixed : by_moves;
}

class SideTable {
 public:
  explicit SideTable(std::span<const DataObject> objects) : objects_(objects) {}

  void note(const ContentionAccess& access) {
    const bool has_object = access.object < objects_.size();
    const uint64_t offset = access.address - (has_object ? objects_[access.object].begin : 0);
    Entry& entry = entries_[{access.thread, access.object, offset, access.bytes, access.kind}];
    ContentionSide& side = entry.side;
    side.thread = access.thread;
    side.object = has_object ? access.object : kNoObject;
    side.offset = offset;
    side.bytes = access.bytes;
    side.kind = access.kind;
    side.accesses += access.stands_for;
    side.weight_ns += access.weight_ns;
    ++entry.records;
    entry.contexts[access.context] += access.stands_for;
  }

  // Returns sides, those with most accesses first. `least`: fraction of the largest side's accesses. Smaller
  // sides are kept only if otherwise no thread would write what another one uses.
  std::vector<ContentionSide> take(double least) {
    std::vector<ContentionSide> sides, small;
    uint64_t largest = 0, most = 0;
    for (const auto& [key, entry] : entries_) {
      largest = std::max(largest, entry.side.accesses);
      most = std::max(most, entry.records);
    }
    for (auto& [key, entry] : entries_) {
      std::vector<std::pair<uint64_t, uint32_t>> ranked;
      for (const auto& [context, count] : entry.contexts) ranked.emplace_back(count, context);
      std::stable_sort(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      for (const auto& [count, context] : ranked) entry.side.contexts.push_back(context);
      const bool is_small = (entry.records == 1 && most >= kEnoughRecords) ||
                            static_cast<double>(entry.side.accesses) < least * static_cast<double>(largest);
      (is_small ? small : sides).push_back(std::move(entry.side));
    }
    for (auto* const some : {&sides, &small})
      std::stable_sort(some->begin(), some->end(), [](const ContentionSide& a, const ContentionSide& b) {
        return a.accesses > b.accesses;
      });
    for (ContentionSide& more : small) {
      if (has_writer(sides)) break;
      const bool helps = sides.empty() || std::any_of(sides.begin(), sides.end(), [&](const auto& side) {
                           return is_conflict(side, more);
                         });
      if (helps) sides.push_back(std::move(more));
    }
    return sides;
  }

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint64_t, uint16_t, hpcrun::AccessKind>;
  // With this many records at one place, a place with a single record is chance, like a sample on the way
  // elsewhere.
  static constexpr uint64_t kEnoughRecords = 20;

  struct Entry {
    ContentionSide side;
    uint64_t records = 0;
    std::map<uint32_t, uint64_t> contexts;
  };

  std::span<const DataObject> objects_;
  std::map<Key, Entry> entries_;
};

// Measures how long threads were busy with the data.
class Stretches {
 public:
  // Must be called in the order of time.
  void note(const ContentionAccess& access) {
    if (access.weight_ns == 0) return;
    uint64_t& last = last_.try_emplace(access.thread, 0).first->second;
    const uint64_t gap = access.time_ns - last;
    const bool goes_on = last != 0 && gap <= kMissed * access.weight_ns;
    if (gap > 0) {
      busy_ns_[access.thread] += goes_on ? gap : access.weight_ns;
      weight_ns_[access.thread] += access.weight_ns;
    }
    last = access.time_ns;
  }

  const std::map<uint32_t, uint64_t>& busy_ns() const { return busy_ns_; }

  // Returns the part of a thread's busy time that its samples do not cover: it was near the data, or near
  // others.
  uint64_t around_ns(uint32_t thread) const {
    const uint64_t busy = of(busy_ns_, thread), weight = of(weight_ns_, thread);
    return busy > weight ? busy - weight : 0;
  }

 private:
  static constexpr uint64_t kMissed = 8;  // consecutive samples that may find the thread elsewhere

  static uint64_t of(const std::map<uint32_t, uint64_t>& times, uint32_t thread) {
    const auto known = times.find(thread);
    return known == times.end() ? 0 : known->second;
  }

  std::map<uint32_t, uint64_t> last_, busy_ns_, weight_ns_;
};

struct Gathered {
  ContendedData data;
  SideTable sides;
  Stretches stretches;
};

// Distributes the time of loops that use several data. Each gets less than the time from sample to sample
// there. Together they get at most the time that the thread was busy with any of them.
void share_busy_time(std::span<const ContentionAccess> in_order, const std::map<uint64_t, FindingKey>& owners,
                     std::map<FindingKey, Gathered>& findings) {
  Stretches any;
  for (const ContentionAccess& access : in_order) {
    const auto finding = findings.find(owners.at(line_of(access.address)));
    if (finding != findings.end()) any.note(access);
  }
  for (const auto& [thread, busy_ns] : any.busy_ns()) {
    double sum = 0, around = 0;
    for (const auto& [key, finding] : findings) {
      const auto own = finding.data.busy_ns.find(thread);
      if (own == finding.data.busy_ns.end()) continue;
      sum += static_cast<double>(own->second);
      around += static_cast<double>(finding.stretches.around_ns(thread));
    }
    const double excess = sum - static_cast<double>(busy_ns);
    if (excess <= 0 || around <= 0) continue;
    for (auto& [key, finding] : findings) {
      const auto own = finding.data.busy_ns.find(thread);
      if (own == finding.data.busy_ns.end()) continue;
      const double less =
          std::min(1.0, excess / around) * static_cast<double>(finding.stretches.around_ns(thread));
      own->second -= std::min(own->second, static_cast<uint64_t>(less));
    }
  }
}

// Returns the moves of a pair beyond those of its two lines.
double adjacent_moves(uint64_t line, const Histories& histories) {
  const uint64_t pair = line / kPairBytes * kPairBytes;
  double in_lines = 0;
  for (const uint64_t half : {pair, pair + kLineBytes})
    if (const auto known = histories.lines.find(half); known != histories.lines.end())
      in_lines += known->second.moves().total();
  return std::max(0.0, histories.pairs.at(pair).moves().total() - in_lines);
}

}  // namespace

bool is_conflict(const ContentionSide& a, const ContentionSide& b) {
  return a.thread != b.thread && (hpcrun::writes(a.kind) || hpcrun::writes(b.kind));
}

bool have_common_bytes(const ContentionSide& a, const ContentionSide& b) {
  return a.object == b.object && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

std::vector<ContendedData> find_contended_data(std::span<const ContentionAccess> accesses,
                                               std::span<const DataObject> objects,
                                               const ContentionOptions& options) {
  std::vector<ContentionAccess> in_order(accesses.begin(), accesses.end());
  std::stable_sort(
      in_order.begin(), in_order.end(),
      [](const ContentionAccess& a, const ContentionAccess& b) { return a.time_ns < b.time_ns; });
  const Histories histories = follow(in_order, objects, options);
  const std::map<uint64_t, FindingKey> owners = owners_of_lines(in_order, objects);

  std::map<FindingKey, Gathered> findings;
  for (const auto& [line, owner] : owners) {
    ContendedData& data =
        findings.try_emplace(owner, Gathered{{}, SideTable(objects), {}}).first->second.data;
    const LineMoves moves = histories.lines.at(line).moves();
    data.adjacent_moves += adjacent_moves(line, histories) / 2;  // once for each of the two lines
    if (moves.total() <= 0) continue;
    data.has_object = std::get<0>(owner);
    if (data.has_object) data.site = static_cast<uint32_t>(std::get<1>(owner));
    data.moves += moves;
    assert(data.lines.empty() || data.lines.back() < line);
    data.lines.push_back(line);
  }
  for (const ContentionAccess& access : in_order) {
    for_each_line(access, [&](const ContentionAccess& part) {
      Gathered& finding = findings.at(owners.at(line_of(part.address)));
      if (!std::binary_search(finding.data.lines.begin(), finding.data.lines.end(), line_of(part.address)))
        return;
      finding.sides.note(part);
      finding.stretches.note(part);
      finding.data.weight_ns += part.weight_ns;
      if (part.address == access.address) finding.data.transfers += part.transfers;
      if (part.object < objects.size()) finding.data.objects.push_back(part.object);
    });
  }

  for (auto& [key, finding] : findings) {
    ContendedData& data = finding.data;
    data.sharing = hpcrun::verdict(data.moves, options.least_moves);
    data.busy_ns = finding.stretches.busy_ns();
  }
  std::erase_if(findings, [&](const auto& finding) {
    const ContendedData& data = finding.second.data;
    return data.sharing == Sharing::None || data.transfers.samples < options.least_transfers;
  });
  share_busy_time(in_order, owners, findings);

  std::vector<ContendedData> out;
  for (auto& [key, finding] : findings) {
    ContendedData& data = finding.data;
    data.sides = finding.sides.take(options.least_side);
    data.sharing = agreeing_verdict(data.sharing, data.sides);
    std::sort(data.objects.begin(), data.objects.end());
    data.objects.erase(std::unique(data.objects.begin(), data.objects.end()), data.objects.end());
    out.push_back(std::move(data));
  }
  std::stable_sort(out.begin(), out.end(), [](const ContendedData& a, const ContendedData& b) {
    return std::tuple(a.weight_ns, a.transfers.loads, a.moves.total()) >
           std::tuple(b.weight_ns, b.transfers.loads, b.moves.total());
  });
  return out;
}

}  // namespace prof
