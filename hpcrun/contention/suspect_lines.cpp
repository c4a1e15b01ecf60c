#include "hpcrun/contention/suspect_lines.h"

#include <algorithm>

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

namespace {

// A visitor in one word: 35 bits of time in steps of about a millisecond (a year), 20 bits of the thread, one
// bit if it writes, and 8 bits for the words. Never 0, because the time is not.
constexpr unsigned kStepBits = 20;
constexpr unsigned kTimeShift = 29;
constexpr unsigned kThreadShift = 9;
constexpr uint64_t kWrites = 1u << 8;
constexpr uint64_t kWhere = kWrites | 0xff;

uint64_t pack(const LineVisit& visit) noexcept {
  const uint64_t step = visit.now_ns >> kStepBits | 1u;
  return step << kTimeShift | uint64_t{visit.thread} << kThreadShift | (visit.writes ? kWrites : 0) |
         visit.words;
}
uint32_t thread_of(uint64_t visitor) noexcept {
  return static_cast<uint32_t>(visitor >> kThreadShift) & (SuspectLines::kMaxVisitors - 1);
}
uint64_t time_of(uint64_t visitor) noexcept {
  return visitor >> kTimeShift << kStepBits;
}
bool was_lately(uint64_t visitor, uint64_t now_ns) noexcept {
  return visitor && time_of(visitor) + SuspectLines::kTogetherNs > now_ns;
}

constexpr uint64_t kBeingClaimed = 1;  // not the address of a line

}  // namespace

bool SuspectLines::start() noexcept {
  if (lines_) return true;
  lines_ = static_cast<Line*>(map_own_memory(kLines * sizeof(Line), InChild::Copy));
  return lines_;
}

void SuspectLines::populate() noexcept {
  if (lines_) populate_own_memory(lines_, kLines * sizeof(Line));
}

// Returns the thread's own place, or that of the visitor that was there longest ago.
std::atomic<uint64_t>& SuspectLines::Line::place_of(uint32_t thread) noexcept {
  std::atomic<uint64_t>* oldest = &visitors[0];
  for (std::atomic<uint64_t>& place : visitors) {
    const uint64_t visitor = place.load(std::memory_order_relaxed);
    if (visitor && thread_of(visitor) == thread) return place;
    if (visitor < oldest->load(std::memory_order_relaxed)) oldest = &place;
  }
  return *oldest;
}

bool SuspectLines::Line::was_seen(uint64_t now_ns) const noexcept {
  const uint64_t seen = seen_ns.load(std::memory_order_relaxed);
  return seen && now_ns < seen + kSeenNs;
}

SuspectLines::Line* SuspectLines::bucket_of(uint64_t line) const noexcept {
  const uint64_t hash = line / kLineBytes * 0x9e3779b97f4a7c15u;
  return lines_ + (hash >> 32) % (kLines / kWays) * kWays;
}

SuspectLines::Line* SuspectLines::find(uint64_t line) const noexcept {
  Line* const bucket = bucket_of(line);
  for (Line* known = bucket; known < bucket + kWays; ++known)
    if (known->address.load(std::memory_order_relaxed) == line) return known;
  return nullptr;
}

// Returns a place that no thread visited recently.
SuspectLines::Line* SuspectLines::claim(uint64_t line, uint64_t now_ns) noexcept {
  Line* const bucket = bucket_of(line);
  for (Line* place = bucket; place < bucket + kWays; ++place) {
    uint64_t before = place->address.load(std::memory_order_relaxed);
    const bool is_in_use = std::any_of(place->visitors, place->visitors + kVisitors,
                                       [now_ns](const std::atomic<uint64_t>& visitor) noexcept {
                                         return was_lately(visitor.load(std::memory_order_relaxed), now_ns);
                                       });
    if (is_in_use || before == kBeingClaimed ||
        !place->address.compare_exchange_strong(before, kBeingClaimed, std::memory_order_acquire))
      continue;
    for (std::atomic<uint64_t>& visitor : place->visitors) visitor.store(0, std::memory_order_relaxed);
    place->meetings.store(0, std::memory_order_relaxed);
    place->seen_ns.store(0, std::memory_order_relaxed);
    place->address.store(line, std::memory_order_release);
    return place;
  }
  return nullptr;
}

bool SuspectLines::visit(const LineVisit& visit, Meeting& out) noexcept {
  if (!lines_) return false;
  Line* line = find(visit.line);
  if (!line) line = claim(visit.line, visit.now_ns);
  if (!line) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::atomic<uint64_t>& own = line->place_of(visit.thread);
  uint64_t mine = pack(visit);
  if (const uint64_t before = own.load(std::memory_order_relaxed);
      before && thread_of(before) == visit.thread && was_lately(before, visit.now_ns))
    mine |= before & kWhere;
  own.store(mine, std::memory_order_relaxed);
  out.others = 0;
  uint64_t other = 0;  // the last thread that this one disturbs, or that disturbs it
  for (const std::atomic<uint64_t>& place : line->visitors) {
    const uint64_t visitor = place.load(std::memory_order_relaxed);
    const bool is_other = was_lately(visitor, visit.now_ns) && thread_of(visitor) != visit.thread;
    out.others += is_other;
    if (is_other && (mine | visitor) & kWrites) other = std::max(other, visitor);
  }
  if (!other) return false;
  out.thread = thread_of(other);
  out.words = static_cast<uint8_t>(other);
  out.count = line->meetings.fetch_add(1, std::memory_order_relaxed) + 1;
  out.was_seen = line->was_seen(visit.now_ns);
  return true;
}

bool SuspectLines::has_others(uint64_t line, uint32_t thread, uint64_t now_ns) const noexcept {
  const Line* const known = lines_ ? find(line) : nullptr;
  return known && std::any_of(known->visitors, known->visitors + kVisitors,
                              [=](const std::atomic<uint64_t>& place) noexcept {
                                const uint64_t visitor = place.load(std::memory_order_relaxed);
                                return was_lately(visitor, now_ns) && thread_of(visitor) != thread;
                              });
}

void SuspectLines::settle(uint64_t line) noexcept {
  if (!lines_) return;
  if (Line* const known = find(line)) known->meetings.store(0, std::memory_order_relaxed);
}

void SuspectLines::note_seen(uint64_t line, uint64_t now_ns) noexcept {
  if (!lines_) return;
  if (Line* const known = find(line)) known->seen_ns.store(now_ns, std::memory_order_relaxed);
}

bool SuspectLines::was_seen(uint64_t line, uint64_t now_ns) const noexcept {
  const Line* const known = lines_ ? find(line) : nullptr;
  return known && known->was_seen(now_ns);
}

}  // namespace hpcrun
