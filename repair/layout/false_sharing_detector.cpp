#include "repair/layout/false_sharing_detector.h"

#include <algorithm>
#include <memory>

namespace hpcrun {

namespace {

bool is_false_sharing(const LineMoves& moves, double least) noexcept {
  const Sharing sharing = verdict(moves, least);
  return sharing == Sharing::False || sharing == Sharing::Mixed;
}

bool is_same_use(const ObjectUse& use, const SharedAccess& access) noexcept {
  return use.thread == access.thread && use.object == static_cast<uint32_t>(access.object) &&
         use.offset == access.address - access.begin && use.bytes == access.bytes &&
         use.writes == writes(access.kind);
}

}  // namespace

void FalseSharingDetector::note(const SharedAccess& access) noexcept {
  if (!callbacks_.settle || is_busy_.exchange(true, std::memory_order_acquire)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  take(access);
  if (!next_verdict_ns_) next_verdict_ns_ = access.time_ns + kVerdictNs;
  if (access.time_ns >= next_verdict_ns_) {
    judge(access.time_ns);
    next_verdict_ns_ = access.time_ns + kVerdictNs;
  }
  is_busy_.store(false, std::memory_order_release);
}

void FalseSharingDetector::take(const SharedAccess& access) noexcept {
  const bool is_judged = !access.site || callbacks_.is_open(access.site);
  Site* const site = access.site && is_judged ? site_of(access.site, access.time_ns) : nullptr;
  if (site) site->tally.weight_ns += access.weight_ns;
  Line* const line = line_at(line_of(access.address), access.time_ns);
  if (!line || !is_credible(*line, access) || !access.is_usable || access.bytes == 0) return;
  if (line->window != access.time_ns / kWindowNs || is_another_object(*line, access)) {
    close(*line);
    line->window = access.time_ns / kWindowNs;
    is_another_object(*line, access);  // adds it, now that the line is closed
  }
  const auto offset = static_cast<uint8_t>(access.address % kLineBytes);
  const auto bytes = static_cast<uint8_t>(std::min<uint64_t>(access.bytes, kLineBytes - offset));
  if (!line->accesses.note({access.thread, offset, bytes, access.kind, access.time_ns, 1})) return;
  note_object(*line, access);
  line->tally.weight_ns += access.weight_ns;
  line->has_locks |= access.is_locked;
  line->is_allocation = access.site != 0;
  if (line->votes == 0) line->owner = access.site;
  if (line->owner == access.site)
    ++line->votes;
  else
    --line->votes;
  if (site) {
    site->has_locks |= access.is_locked;
    add_use(*site, access);
  }
}

// True if the thread was certainly seen at the line lately. What samples alone show of other threads is a
// guess.
bool FalseSharingDetector::is_credible(Line& line, const SharedAccess& access) noexcept {
  auto* const end = line.seen + line.seen_count;
  auto* known = std::find_if(line.seen, end, [&](const auto& one) { return one.thread == access.thread; });
  if (access.is_seen) {
    if (known == end && line.seen_count < kMaxSeen) ++line.seen_count;
    if (known == line.seen + kMaxSeen)
      known = std::min_element(line.seen, end,
                               [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    *known = {access.thread, access.time_ns};
    return true;
  }
  return known != end && access.time_ns < known->time_ns + kSeenNs;
}

// True if the object was allocated where another one was. Its accesses must not be combined with those of the
// other.
bool FalseSharingDetector::is_another_object(Line& line, const SharedAccess& access) noexcept {
  if (!access.object) return false;
  for (uint32_t i = 0; i < line.object_count; ++i)
    if (line.objects[i].begin == access.begin) return line.objects[i].object != access.object;
  if (line.object_count < kMaxObjects) line.objects[line.object_count++] = {access.begin, access.object};
  return false;
}

void FalseSharingDetector::note_object(Line& line, const SharedAccess& access) noexcept {
  if (!access.object) return;
  line.used_ns = access.time_ns;
  auto* const end = line.lasting + line.lasting_count;
  auto* const known =
      std::find_if(line.lasting, end, [&](const auto& one) { return one.begin == access.begin; });
  if (known != end && known->object == access.object) return;
  line.renewed_ns = access.time_ns;
  if (known != end)
    known->object = access.object;
  else if (line.lasting_count < kMaxObjects)
    line.lasting[line.lasting_count++] = {access.begin, access.object};
}

FalseSharingDetector::Line* FalseSharingDetector::line_at(uint64_t address, uint64_t now_ns) noexcept {
  const uint64_t first = address / kLineBytes * 0x9e3779b97f4a7c15u >> 32;
  Line* oldest = nullptr;
  for (uint32_t step = 0; step < kTries; ++step) {
    Line& line = lines_[(first + step) % kLines];
    if (line.address == address) {
      line.last_ns = now_ns;
      return &line;
    }
    if (!oldest || line.last_ns < oldest->last_ns) oldest = &line;
  }
  if (oldest->address && now_ns < oldest->last_ns + kIdleNs) return nullptr;
  if (oldest->address) close(*oldest);
  std::construct_at(oldest);
  oldest->address = address;
  oldest->last_ns = oldest->renewed_ns = now_ns;
  begin(oldest->tally, now_ns);
  return oldest;
}

FalseSharingDetector::Site* FalseSharingDetector::site_of(uint32_t number, uint64_t now_ns) noexcept {
  Site* free = nullptr;
  for (Site& site : sites_) {
    if (site.site == number) return &site;
    if (!site.site && !free) free = &site;
  }
  if (!free) return nullptr;
  free->site = number;
  free->use_count = 0;
  free->line = 0;
  free->has_locks = free->is_full = false;
  begin(free->tally, now_ns);
  return free;
}

void FalseSharingDetector::begin(Tally& tally, uint64_t now_ns) noexcept {
  tally = Tally{};
  tally.since_ns = now_ns;
  tally.total_before_ns = total_ns_.load(std::memory_order_relaxed);
}

void FalseSharingDetector::add_use(Site& site, const SharedAccess& access) noexcept {
  ObjectUse* const end = site.uses + site.use_count;
  ObjectUse* const known =
      std::find_if(site.uses, end, [&](const ObjectUse& use) { return is_same_use(use, access); });
  if (known != end) {
    ++known->accesses;
    return;
  }
  if (site.use_count == kMaxUses && !site.is_full) make_room(site);
  if (site.use_count == kMaxUses) return;
  site.uses[site.use_count++] = {access.thread,
                                 static_cast<uint32_t>(access.object),
                                 access.address - access.begin,
                                 access.bytes,
                                 writes(access.kind),
                                 1};
}

// Drops, from the older half, objects that only one thread was seen at: any placement suits them equally.
void FalseSharingDetector::make_room(Site& site) noexcept {
  const auto is_shared = [&site](const ObjectUse& use) {
    return std::any_of(site.uses, site.uses + site.use_count, [&use](const ObjectUse& other) {
      return other.object == use.object && other.thread != use.thread;
    });
  };
  uint32_t kept = 0;
  for (uint32_t i = 0; i < site.use_count; ++i)
    if (i >= kMaxUses / 2 || is_shared(site.uses[i])) site.uses[kept++] = site.uses[i];
  site.use_count = kept;
  site.is_full = kept > kMaxUses * 3 / 4;
}

// Counts conflicts in the line as it lies, as one object whose uses are the spots.
uint64_t FalseSharingDetector::conflicts_in(const LineWindow& window) noexcept {
  uint32_t count = 0;
  for (const ThreadUse& use : window)
    for (const Spot* spot = use.spots; spot < use.spots + use.spot_count; ++spot)
      window_uses_[count++] = {use.thread, 0, spot->offset, spot->bytes, writes(spot->kind), spot->accesses};
  return conflicts_at(window_uses_, count, 0);
}

void FalseSharingDetector::close(Line& line) noexcept {
  const LineMoves moves = line.accesses.moves(kResolutionNs);
  const uint64_t conflicts = moves.of_false_sharing() > 0 ? conflicts_in(line.accesses) : 0;
  line.tally.moves += moves;
  line.tally.conflicts += conflicts;
  for (Site& site : sites_) {
    if (!line.owner || site.site != line.owner) continue;
    site.tally.moves += moves;
    site.tally.conflicts += conflicts;
    if (conflicts) site.line = line.address;
  }
  line.accesses.clear();
  line.votes = 0;
  line.object_count = 0;
}

// Returns the tally's share of the CPU time since it began.
double FalseSharingDetector::share_of(const Tally& tally) const noexcept {
  const uint64_t total = total_ns_.load(std::memory_order_relaxed) - tally.total_before_ns;
  return static_cast<double>(tally.weight_ns) / static_cast<double>(std::max<uint64_t>(total, 1));
}

bool FalseSharingDetector::is_significant(const Tally& tally, uint64_t least_conflicts) const noexcept {
  return tally.conflicts >= least_conflicts && is_false_sharing(tally.moves, kMinMoves) &&
         share_of(tally) >= kMinShare;
}

// True if the tally would be significant with somewhat more of the same.
bool FalseSharingDetector::may_be_significant(const Tally& tally) const noexcept {
  return tally.conflicts >= kMinConflicts / 4 && is_false_sharing(tally.moves, kMinMoves / 4) &&
         share_of(tally) >= kMinShare / 2;
}

void FalseSharingDetector::judge(uint64_t now_ns) noexcept {
  for (Line& line : lines_)
    if (line.address) close(line);
  const auto promises = [this](const Line& line) {
    return line.address && !line.is_reported && may_be_significant(line.tally);
  };
  const auto site_promises = [this](const Site& site) {
    return site.site && callbacks_.is_open(site.site) && may_be_significant(site.tally);
  };
  const bool is_promising =
      std::any_of(lines_, lines_ + kLines, promises) || std::any_of(sites_, sites_ + kSites, site_promises);
  if (is_promising) has_placed_.store(false, std::memory_order_relaxed);
  is_promising_.store(is_promising, std::memory_order_relaxed);
  for (Line& line : lines_) {
    if (!line.address || !judge_line(line) || !callbacks_.share_page) continue;
    const bool is_known_long = now_ns >= line.tally.since_ns + kPageNs;
    if (is_known_long && !is_left_to_placing(line, now_ns)) judge_page(line);
  }
  for (Line& line : lines_)
    if (line.address && now_ns > line.tally.since_ns + kTallyTimeoutNs) begin(line.tally, now_ns);
  for (Site& site : sites_)
    if (site.site) judge_site(site, now_ns);
}

// Reports the line if it is worth a change. Lines of one site count together, those of variables separately.
bool FalseSharingDetector::judge_line(Line& line) noexcept {
  const bool is_shared =
      line.tally.conflicts > 0 && is_false_sharing(line.tally.moves, kMinMoves) &&
      (is_significant(line.tally) || std::any_of(sites_, sites_ + kSites, [&](const Site& site) {
         return line.owner && site.site == line.owner && is_significant(site.tally);
       }));
  if (is_shared && !line.is_reported) {
    callbacks_.share(line.address);
    line.is_reported = true;
  }
  return is_shared;
}

bool FalseSharingDetector::is_lasting(const Line& line, uint64_t now_ns) noexcept {
  return line.lasting_count > 0 && line.used_ns >= line.renewed_ns + kLastingNs &&
         now_ns < line.used_ns + kPageNs;
}

// True while placement may still remove the line's false sharing: no decision on the site yet, or its new
// allocations are placed elsewhere and the old ones have not had their time. What was seen by then does not
// count. A site without an entry stays undecided.
bool FalseSharingDetector::is_left_to_placing(Line& line, uint64_t now_ns) noexcept {
  if (!callbacks_.places_first || !line.owner || is_lasting(line, now_ns)) return false;
  const auto is_of_line = [&](const auto& one) { return one.site == line.owner; };
  if (callbacks_.is_open(line.owner)) return std::any_of(sites_, sites_ + kSites, is_of_line);
  const auto* const placed = std::find_if(placed_, placed_ + kSites, is_of_line);
  if (placed == placed_ + kSites || line.tally.since_ns >= placed->time_ns + kPlacedNs) return false;
  if (now_ns >= placed->time_ns + kPlacedNs) begin(line.tally, now_ns);
  return true;
}

// Reports the page of a line that is worth a change, with what else is known of the page.
void FalseSharingDetector::judge_page(const Line& of) noexcept {
  constexpr uint64_t kPage = 4096;
  PageDecision verdict;
  verdict.page = of.address / kPage * kPage;
  uint64_t weight_ns = 0, total_ns = 0;
  for (const Line& line : lines_) {
    if (!line.address || line.address / kPage != of.address / kPage) continue;
    const Sharing sharing = hpcrun::verdict(line.tally.moves, kMinMoves);
    verdict.has_locks |= line.has_locks;
    // Counts however small its share is: threads that synchronise by plain loads and stores wait at such a
    // word.
    verdict.has_true_sharing |= sharing == Sharing::True || sharing == Sharing::Mixed ||
                                line.tally.moves.of_true_sharing() >= kMinMoves;
    if (sharing != Sharing::False) continue;
    weight_ns += line.tally.weight_ns;
    total_ns = std::max(total_ns, total_ns_.load(std::memory_order_relaxed) - line.tally.total_before_ns);
  }
  verdict.is_allocation = of.is_allocation;
  if (total_ns)
    verdict.share_ppm =
        static_cast<uint32_t>(std::min<uint64_t>(weight_ns * 1'000'000 / total_ns, 1'000'000));
  callbacks_.share_page(verdict);
}

void FalseSharingDetector::judge_site(Site& site, uint64_t now_ns) noexcept {
  // The fate of lasting objects does not depend on the time, and does not need later observation.
  const bool has_lasting =
      callbacks_.places_first && std::any_of(lines_, lines_ + kLines, [&](const Line& line) {
        return line.address && line.owner == site.site && is_lasting(line, now_ns);
      });
  const bool is_open = callbacks_.is_open(site.site);
  const bool is_known_long = now_ns >= site.tally.since_ns + kSettleNs || has_lasting;
  if (is_open && !is_known_long && now_ns < site.tally.since_ns + kPlainNs) return;
  if (is_open && is_significant(site.tally, is_known_long ? kMinConflicts : kPlainConflicts)) {
    const ChosenPlacement chosen =
        choose_placement(site.uses, site.use_count, site.tally.conflicts, callbacks_.align_of(site.site));
    const bool helps = chosen.placement != kAsAllocated;
    const bool is_plain = helps && chosen.placement.offset == 0 && share_of(site.tally) >= kPlainShare;
    if (!is_known_long && !is_plain) return;
    if (chosen.is_close && now_ns < site.tally.since_ns + kTallyTimeoutNs) return;
    callbacks_.settle({site.site, chosen, site.tally.conflicts, site.line, site.has_locks});
    if (helps) {
      placed_[placed_count_++ % kSites] = {site.site, now_ns};
      has_placed_.store(true, std::memory_order_relaxed);
    }
    site.site = 0;
  } else if (!is_open || now_ns > site.tally.since_ns + kTallyTimeoutNs) {
    site.site = 0;
  }
}

}  // namespace hpcrun
