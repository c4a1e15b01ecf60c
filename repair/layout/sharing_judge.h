#pragma once
// Judges while the program runs what its threads share: the accesses that are reported of contended lines are
// put together by line and by allocation site, and sixteen times a second what is falsely shared, and takes
// a share of the CPU time that is worth it, is told to the host: lines, and sites with the placement that
// keeps the threads apart. Goes by the same models as the analysis (hpcrun/model/cache_line.h, placement.h),
// by less: a fixed number of lines and sites, the rest is left out.
//
// One for a process. Called in handlers, from any thread; who comes while another is at work is left out,
// too. Async-signal-safe. Zeroed memory is a valid one that has no host.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/cache_line.h"
#include "hpcrun/model/placement.h"

namespace hpcrun {

struct SharedAccess {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t address;
  uint64_t weight_ns;  // CPU time that a sample stands for; 0: it was no sample
  uint64_t object;     // of the allocation, a number that no other one has; 0: none that is known
  uint64_t begin;      // where that begins
  uint32_t site;       // where it was made; 0: not known
  uint32_t thread;
  uint16_t bytes;
  AccessKind kind;
  bool is_seen;    // by a breakpoint or hardware: the thread really is there
  bool is_usable;  // bytes and kind are known
  bool is_locked;
};

struct SiteVerdict {
  uint32_t site = 0;
  ChosenPlacement chosen;  // kAsAllocated: none helps
  uint64_t conflicts = 0;  // accesses, as the objects lay
  uint64_t line = 0;       // one of those where it was found
  bool has_locks = false;  // LOCK-prefixed accesses were among them
};

// A page on which lines are shared falsely enough for a change.
struct PageVerdict {
  uint64_t page = 0;
  uint32_t share_ppm = 0;         // of the CPU time, at these lines
  bool is_allocation = false;     // what is shared there was allocated; otherwise that is not known
  bool has_locks = false;         // LOCK-prefixed accesses were seen on the page,
  bool has_true_sharing = false;  // or threads at the same bytes
};

struct JudgeHost {
  bool (*is_open)(uint32_t site) noexcept;  // nothing was decided of it
  void (*settle)(const SiteVerdict& verdict) noexcept;
  void (*share)(uint64_t line) noexcept;         // it is falsely shared
  uint64_t (*align_of)(uint32_t site) noexcept;  // that the program asks for, as choose_placement() has it
  // At every verdict, of lines that are known for kPageNs; null: nobody wants to know.
  void (*share_page)(const PageVerdict& verdict) noexcept;
  // Allocations are placed where that helps: their pages are told of where it does not.
  bool places_first = false;
};

class SharingJudge {
 public:
  static constexpr uint64_t kVerdictNs = 62'500'000;      // between two
  static constexpr uint64_t kSettleNs = 500'000'000;      // a site's placement is for good: not earlier,
  static constexpr uint64_t kPlainNs = 120'000'000;       // but where much is lost, and alignment alone helps
  static constexpr double kPlainShare = 0.1;              // of the CPU time
  static constexpr uint64_t kPageNs = 250'000'000;        // what speaks against a page has so long to be seen
  static constexpr double kLeastShare = 0.02;             // of the CPU time; less is not worth a change
  static constexpr uint64_t kLeastConflicts = 20;         // accesses: fewer tell too little of who uses what,
  static constexpr uint64_t kPlainConflicts = 10;         // but for alignment alone
  static constexpr uint64_t kPatienceNs = 4'000'000'000;  // what has told nothing by then is forgotten
  // After that long, objects that lie as they did before their site was placed are gone, or stay: then their
  // pages are told of.
  static constexpr uint64_t kPlacedNs = 1'000'000'000;
  // Objects that were used for so long are there to stay: no placement of later ones helps them.
  static constexpr uint64_t kLastingNs = 200'000'000;

  void start(const JudgeHost& host) noexcept { host_ = host; }

  // A sample of the program, wherever it is, stands for so much CPU time.
  void note_time(uint64_t weight_ns) noexcept { total_ns_.fetch_add(weight_ns, std::memory_order_relaxed); }

  void note(const SharedAccess& access) noexcept;

  // Whether, at the last verdict, lines or sites were shared falsely of which nothing was told yet, and that
  // may be worth it.
  bool is_promising() const noexcept { return is_promising_.load(std::memory_order_relaxed); }

  // Whether nothing is promising any more since a placement was chosen. Of what none helps more is to be
  // seen: its report is all that there is.
  bool has_placed_all() const noexcept {
    return has_placed_.load(std::memory_order_relaxed) && !is_promising();
  }

  // Accesses that came while another thread was at work.
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kLines = 64;
  static constexpr uint32_t kTries = 8;  // places that a line can be at
  static constexpr uint32_t kSites = 16;
  static constexpr uint32_t kMostUses = 256;  // of a site
  static constexpr uint32_t kMostSeen = 8;    // threads at a line
  static constexpr uint32_t kMostObjects = 4;
  static constexpr uint64_t kWindowNs = 100'000'000;
  static constexpr uint64_t kResolutionNs = 4'000'000;  // as in the analysis
  static constexpr uint64_t kSeenNs = 3'000'000'000;    // a thread that was seen stays credible
  static constexpr uint64_t kIdleNs = 1'000'000'000;    // after that a line's place is another's
  static constexpr double kLeastMoves = 4;

  // Of a line or a site, since a time.
  struct Tally {
    uint64_t since_ns;
    uint64_t total_before_ns;
    uint64_t weight_ns;
    uint64_t conflicts;
    LineMoves moves;
  };

  struct Line {
    uint64_t address;  // 0: free
    uint64_t last_ns;
    uint64_t window;     // number of the open one
    uint64_t weight_ns;  // in it
    uint32_t owner;      // the site with most accesses in it, by majority vote
    uint32_t votes;
    uint32_t seen_count;
    uint32_t object_count;
    bool is_told;
    bool is_allocation;
    bool has_locks;
    struct {
      uint32_t thread;
      uint64_t time_ns;
    } seen[kMostSeen];
    struct Object {
      uint64_t begin, object;
    };
    Object objects[kMostObjects];  // that the open window knows
    uint32_t lasting_count;
    Object lasting[kMostObjects];  // over windows
    uint64_t renewed_ns;           // when one that was not known was seen there last,
    uint64_t used_ns;              // and any
    Tally tally;
    LineWindow accesses;
  };

  struct Site {
    uint32_t site;  // 0: free
    uint32_t use_count;
    uint64_t line;
    bool has_locks;
    bool is_full;
    Tally tally;
    ObjectUse uses[kMostUses];
  };

  void take(const SharedAccess& access) noexcept;
  void judge(uint64_t now_ns) noexcept;
  void judge_site(Site& site, uint64_t now_ns) noexcept;
  bool judge_line(Line& line) noexcept;
  void judge_page(const Line& line) noexcept;
  bool is_left_to_placing(Line& line, uint64_t now_ns) noexcept;
  static bool is_lasting(const Line& line, uint64_t now_ns) noexcept;
  void close(Line& line) noexcept;
  Line* line_at(uint64_t address, uint64_t now_ns) noexcept;
  Site* site_of(uint32_t number, uint64_t now_ns) noexcept;
  void add_use(Site& site, const SharedAccess& access) noexcept;
  void make_room(Site& site) noexcept;
  bool is_credible(Line& line, const SharedAccess& access) noexcept;
  static bool is_another_object(Line& line, const SharedAccess& access) noexcept;
  static void note_object(Line& line, const SharedAccess& access) noexcept;
  uint64_t conflicts_in(const LineWindow& window) noexcept;
  void begin(Tally& tally, uint64_t now_ns) noexcept;
  double share_of(const Tally& tally) const noexcept;
  bool is_significant(const Tally& tally, uint64_t least_conflicts = kLeastConflicts) const noexcept;
  bool may_be_significant(const Tally& tally) const noexcept;

  JudgeHost host_;
  std::atomic<bool> is_busy_;
  std::atomic<bool> is_promising_;
  std::atomic<bool> has_placed_;  // a site, since the last verdict at which something was promising
  std::atomic<uint64_t> total_ns_;
  std::atomic<uint64_t> dropped_;
  uint64_t next_verdict_ns_;
  Line lines_[kLines];
  Site sites_[kSites];
  struct {
    uint32_t site;  // 0: free
    uint64_t time_ns;
  } placed_[kSites];  // the last ones
  uint32_t placed_count_;
  ObjectUse window_uses_[kMostLineThreads * kMostSpots];
};

}  // namespace hpcrun
