#include "hpcrun/model/cache_line.h"

#include <algorithm>

namespace hpcrun {

namespace {

constexpr double kMixedShare = 0.1;

// In ns; signed, because a thread's span may start before the clock does.
struct Span {
  double begin;
  double end;
  double length() const noexcept { return end - begin; }
};

Span span_of(const ThreadUse& use, uint64_t resolution_ns) noexcept {
  const double half = static_cast<double>(std::max<uint64_t>(resolution_ns, 1)) / 2;
  return {static_cast<double>(use.first_ns) - half, static_cast<double>(use.last_ns) + half};
}

double overlap(const Span& left, const Span& right) noexcept {
  return std::max(0.0, std::min(left.end, right.end) - std::max(left.begin, right.begin));
}

// Returns accesses per ns of the thread's time at the line.
double rate_of(const ThreadUse& use, uint64_t resolution_ns) noexcept {
  return static_cast<double>(use.accesses) / span_of(use, resolution_ns).length();
}

bool have_common_bytes(const Spot& left, const Spot& right) noexcept {
  return left.offset < right.offset + right.bytes && right.offset < left.offset + left.bytes;
}

void add_pair(const Spot& left, const Spot& right, double moves, LineMoves& out) noexcept {
  if (!writes(left.kind) && !writes(right.kind)) return;  // both caches may keep a copy
  const bool both_write = writes(left.kind) && writes(right.kind);
  if (have_common_bytes(left, right))
    (both_write ? out.true_write_write : out.true_read_write) += moves;
  else
    (both_write ? out.false_write_write : out.false_read_write) += moves;
}

double share_of(const Spot& spot, const ThreadUse& use) noexcept {
  return static_cast<double>(spot.accesses) / static_cast<double>(use.accesses);
}

}  // namespace

LineMoves& LineMoves::operator+=(const LineMoves& more) noexcept {
  false_write_write += more.false_write_write;
  false_read_write += more.false_read_write;
  true_write_write += more.true_write_write;
  true_read_write += more.true_read_write;
  return *this;
}

Sharing verdict(const LineMoves& moves, double least) noexcept {
  const double total = moves.total();
  if (total <= 0 || total < least) return Sharing::None;
  if (moves.of_true_sharing() < kMixedShare * total) return Sharing::False;
  if (moves.of_false_sharing() < kMixedShare * total) return Sharing::True;
  return Sharing::Mixed;
}

ThreadUse* LineWindow::use_of(uint32_t thread) noexcept {
  for (uint32_t i = 0; i < count_; ++i)
    if (uses_[i].thread == thread) return &uses_[i];
  if (count_ == kMaxLineThreads) return nullptr;
  uses_[count_].thread = thread;
  return &uses_[count_++];
}

bool LineWindow::note(const LineAccess& access) noexcept {
  const bool is_inside = access.bytes && access.offset + access.bytes <= 2 * kLineBytes;
  ThreadUse* use = is_inside && access.stands_for ? use_of(access.thread) : nullptr;
  Spot* spot = nullptr;
  if (use) {
    Spot* const end = use->spots + use->spot_count;
    spot = std::find_if(use->spots, end, [&access](const Spot& known) {
      return known.offset == access.offset && known.bytes == access.bytes && known.kind == access.kind;
    });
    if (spot == end) {
      spot = use->spot_count < kMaxSpots ? &use->spots[use->spot_count++] : nullptr;
      if (spot) *spot = {access.offset, access.bytes, access.kind, 0};
    }
  }
  if (!spot) {
    lost_ += access.stands_for;
    return false;
  }
  spot->accesses += access.stands_for;
  if (!use->accesses || access.time_ns < use->first_ns) use->first_ns = access.time_ns;
  if (!use->accesses || access.time_ns > use->last_ns) use->last_ns = access.time_ns;
  use->accesses += access.stands_for;
  return true;
}

// While threads a, b, ... use the line at rates that sum up to R, accesses of a and b follow each other at
// R_a R_b / R in each direction.
LineMoves LineWindow::moves(uint64_t resolution_ns) const noexcept {
  LineMoves out;
  double all = 0;
  for (const ThreadUse& use : *this)
    if (use.accesses) all += rate_of(use, resolution_ns);
  for (uint32_t left = 0; left < count_; ++left) {
    for (uint32_t right = left + 1; right < count_; ++right) {
      const ThreadUse& a = uses_[left];
      const ThreadUse& b = uses_[right];
      const double together = overlap(span_of(a, resolution_ns), span_of(b, resolution_ns));
      if (together <= 0 || !a.accesses || !b.accesses) continue;
      const double moves = 2 * rate_of(a, resolution_ns) * rate_of(b, resolution_ns) / all * together;
      for (uint32_t i = 0; i < a.spot_count; ++i)
        for (uint32_t j = 0; j < b.spot_count; ++j)
          add_pair(a.spots[i], b.spots[j], moves * share_of(a.spots[i], a) * share_of(b.spots[j], b), out);
    }
  }
  return out;
}

}  // namespace hpcrun
