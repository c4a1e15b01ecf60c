#include "analysis/contention/written_data.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace prof {
namespace {

// Sides with fewer updates than this part of the largest one's are omitted: they are writes of the object's
// initialization.
constexpr double kMinSide = 0.02;

// Identifies a finding: a site, or a line outside of all known objects.
using FindingKey = std::tuple<bool, uint64_t>;

FindingKey key_of(const WrittenBytes& written, std::span<const DataObject> objects) {
  if (written.object < objects.size()) return {true, objects[written.object].site};
  return {false, written.line};
}

// Assigns each line to the site that was written most.
std::map<uint64_t, FindingKey> owners_of_lines(std::span<const WrittenBytes> written,
                                               std::span<const DataObject> objects) {
  std::map<uint64_t, std::map<FindingKey, uint64_t>> counts;
  for (const WrittenBytes& one : written) counts[one.line][key_of(one, objects)] += one.updates;
  std::map<uint64_t, FindingKey> owners;
  for (const auto& [line, sites] : counts)
    owners.emplace(line,
                   std::ranges::max_element(sites, {}, [](const auto& site) { return site.second; })->first);
  return owners;
}

using SideKey = std::tuple<uint32_t, uint32_t, uint64_t, uint16_t>;

// Each run of bytes becomes a place of its own, because words are unknown here.
void add_sides(const WrittenBytes& written, std::span<const DataObject> objects,
               std::map<SideKey, ContentionSide>& sides) {
  const uint64_t begin = written.object < objects.size() ? objects[written.object].begin : 0;
  for (uint64_t rest = written.bytes; rest != 0;) {
    const int first = std::countr_zero(rest);
    const int count = std::countr_one(rest >> first);
    const uint64_t run = count == 64 ? ~uint64_t{0} : ((uint64_t{1} << count) - 1) << first;
    rest &= ~run;
    const uint64_t offset = written.line + static_cast<uint64_t>(first) - begin;
    const auto bytes = static_cast<uint16_t>(count);
    ContentionSide& side = sides[{written.thread, written.object, offset, bytes}];
    side.thread = written.thread;
    side.object = written.object < objects.size() ? written.object : kNoObject;
    side.offset = offset;
    side.bytes = bytes;
    side.kind = hpcrun::AccessKind::Write;
    side.accesses += written.updates;
    side.contexts = {0};
  }
}

// A line, during the life of what lies there.
using LineLife = std::pair<uint64_t, uint64_t>;

LineLife life_of(const WrittenBytes& written) {
  return {written.line, written.until_ns};
}

// The number of lines of a finding whose sides are reported: those with the most interleaved writes.
constexpr size_t kMaxLines = 4;

std::set<LineLife> lines_to_tell(std::span<const WrittenBytes* const> written) {
  std::map<LineLife, uint64_t> interleaved;
  for (const WrittenBytes* const one : written) interleaved[life_of(*one)] += one->interleaved;
  std::vector<std::pair<uint64_t, LineLife>> ranked;
  for (const auto& [line, count] : interleaved) ranked.emplace_back(count, line);
  std::ranges::sort(ranked, std::greater());
  std::set<LineLife> lines;
  for (size_t i = 0; i < std::min(ranked.size(), kMaxLines); ++i) lines.insert(ranked[i].second);
  return lines;
}

struct GatheredLines {
  ContendedData data;
  std::vector<const WrittenBytes*> written;
};

std::vector<ContentionSide> sides_of(std::span<const WrittenBytes* const> written,
                                     std::span<const DataObject> objects) {
  std::map<SideKey, ContentionSide> all;
  const std::set<LineLife> lines = lines_to_tell(written);
  for (const WrittenBytes* const one : written)
    if (lines.contains(life_of(*one))) add_sides(*one, objects, all);
  std::vector<ContentionSide> sides;
  for (const auto& [key, side] : all) sides.push_back(side);
  std::ranges::stable_sort(sides, std::greater(), &ContentionSide::accesses);
  const auto least = kMinSide * static_cast<double>(sides.front().accesses);
  bool has_others = false;
  std::erase_if(sides, [&, first = sides.front().thread](const ContentionSide& side) {
    const bool is_left_out =
        static_cast<double>(side.accesses) < least && (side.thread == first || has_others);
    has_others |= side.thread != first && !is_left_out;
    return is_left_out;
  });
  return sides;
}

template <typename T>
void sort_distinct(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::vector<ContendedData> find_written_data(std::span<const WrittenBytes> written,
                                             std::span<const DataObject> objects) {
  const std::map<uint64_t, FindingKey> owners = owners_of_lines(written, objects);
  std::map<FindingKey, GatheredLines> findings;
  for (const WrittenBytes& one : written) {
    const FindingKey& owner = owners.at(one.line);
    GatheredLines& finding = findings[owner];
    ContendedData& data = finding.data;
    data.has_object = std::get<0>(owner);
    if (data.has_object) data.site = static_cast<uint32_t>(std::get<1>(owner));
    data.lines.push_back(one.line);
    if (one.object < objects.size()) data.objects.push_back(one.object);
    data.interleaved += one.interleaved;
    data.moves.false_write_write += static_cast<double>(one.false_sharing);
    data.moves.true_write_write += static_cast<double>(one.true_sharing);
    finding.written.push_back(&one);
  }
  std::vector<ContendedData> out;
  for (auto& [key, finding] : findings) {
    ContendedData& data = finding.data;
    data.sharing = hpcrun::verdict(data.moves, 1);
    if (data.sharing == hpcrun::Sharing::None) continue;
    sort_distinct(data.lines);
    sort_distinct(data.objects);
    data.sides = sides_of(finding.written, objects);
    out.push_back(std::move(data));
  }
  std::ranges::stable_sort(out, std::greater(), &ContendedData::interleaved);
  return out;
}

}  // namespace prof
