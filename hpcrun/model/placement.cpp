#include "hpcrun/model/placement.h"

#include <algorithm>

#include "hpcrun/model/memory_access.h"

namespace hpcrun {

namespace {

// A placement helps if the remaining conflicts are at most this part.
constexpr uint64_t kMinGain = 10;

// The part of a use that lies on a line.
struct Part {
  uint32_t thread;
  uint32_t begin, end;  // bytes in the line
  bool writes;
  uint64_t accesses;
};

// Sixteen threads with four kinds of use each; further parts are left out, for every placement alike.
constexpr uint32_t kMaxParts = 64;

struct Line {
  uint32_t object;
  uint64_t begin;  // in offsets of uses plus that of the object
};

bool is_on(const ObjectUse& use, uint32_t offset, const Line& line) noexcept {
  const uint64_t begin = use.offset + offset;
  return use.object == line.object && begin < line.begin + kLineBytes && line.begin < begin + use.bytes;
}

uint32_t parts_on(const ObjectUse* uses, uint32_t count, uint32_t offset, const Line& line,
                  Part* parts) noexcept {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count && found < kMaxParts; ++i) {
    const ObjectUse& use = uses[i];
    if (!is_on(use, offset, line)) continue;
    const uint64_t begin = std::max(use.offset + offset, line.begin);
    const uint64_t end = std::min(use.offset + offset + use.bytes, line.begin + kLineBytes);
    parts[found++] = {use.thread, static_cast<uint32_t>(begin - line.begin),
                      static_cast<uint32_t>(end - line.begin), use.writes, use.accesses};
  }
  return found;
}

bool share_falsely(const Part& left, const Part& right) noexcept {
  const bool have_common_bytes = left.begin < right.end && right.begin < left.end;
  return !have_common_bytes && (left.writes || right.writes);
}

// Returns the thread's accesses in parts that share falsely with a part of the other thread.
uint64_t side_of(uint32_t thread, uint32_t other, const Part* parts, uint32_t count) noexcept {
  uint64_t sum = 0;
  for (const Part* part = parts; part != parts + count; ++part)
    if (part->thread == thread && std::any_of(parts, parts + count, [part, other](const Part& against) {
          return against.thread == other && share_falsely(*part, against);
        }))
      sum += part->accesses;
  return sum;
}

bool is_first_of_thread(const Part* parts, uint32_t index) noexcept {
  return std::none_of(parts, parts + index,
                      [&](const Part& before) { return before.thread == parts[index].thread; });
}

uint64_t conflicts_on(const Part* parts, uint32_t count) noexcept {
  uint64_t sum = 0;
  for (uint32_t left = 0; left < count; ++left) {
    if (!is_first_of_thread(parts, left)) continue;
    for (uint32_t right = left + 1; right < count; ++right) {
      const uint32_t a = parts[left].thread, b = parts[right].thread;
      if (a != b && is_first_of_thread(parts, right))
        sum += std::min(side_of(a, b, parts, count), side_of(b, a, parts, count));
    }
  }
  return sum;
}

// True if the difference exceeds three standard deviations of the sampling noise in both counts.
bool are_clearly_fewer(uint64_t conflicts, uint64_t than) noexcept {
  constexpr uint64_t kDeviations = 3;
  if (conflicts >= than) return false;
  const uint64_t difference = than - conflicts;
  return difference * difference > kDeviations * kDeviations * (conflicts + than);
}

}  // namespace

uint64_t conflicts_at(const ObjectUse* uses, uint32_t count, uint32_t offset) noexcept {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t begin = uses[i].offset + offset;
    for (Line line{uses[i].object, line_of(begin)}; line.begin < begin + uses[i].bytes;
         line.begin += kLineBytes) {
      // Each line is processed once, for the first use on it.
      if (std::any_of(uses, uses + i, [&](const ObjectUse& use) { return is_on(use, offset, line); }))
        continue;
      Part parts[kMaxParts];
      sum += conflicts_on(parts, parts_on(uses, count, offset, line, parts));
    }
  }
  return sum;
}

ChosenPlacement choose_placement(const ObjectUse* uses, uint32_t count, uint64_t conflicts_now,
                                 uint64_t align) noexcept {
  const uint64_t step = std::max<uint64_t>(align, kAsAllocated.align);
  uint64_t conflicts[kLineBytes / kAsAllocated.align];
  uint64_t least = conflicts_now;
  for (uint64_t offset = 0; offset < kLineBytes; offset += step) {
    conflicts[offset / kAsAllocated.align] = conflicts_at(uses, count, static_cast<uint32_t>(offset));
    least = std::min(least, conflicts[offset / kAsAllocated.align]);
  }
  if (least == conflicts_now) return {kAsAllocated, conflicts_now};
  if (least > conflicts_now / kMinGain)
    return {kAsAllocated, conflicts_now, least <= 2 * conflicts_now / kMinGain};
  for (uint64_t offset = 0; offset < kLineBytes; offset += step) {
    const uint64_t left = conflicts[offset / kAsAllocated.align];
    const bool helps = left == least || (left < conflicts_now && left <= 2 * conflicts_now / kMinGain &&
                                         !are_clearly_fewer(least, left));
    if (helps)
      return {{.align = kLineBytes, .offset = static_cast<uint32_t>(offset), .pad = kLineBytes}, left};
  }
  return {kAsAllocated, conflicts_now};
}

}  // namespace hpcrun
