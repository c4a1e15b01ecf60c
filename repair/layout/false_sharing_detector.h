#pragma once
// Detects false sharing while the program runs. Collects reported accesses to contended lines by line and by
// allocation site. Sixteen times a second it reports to the host the false sharing that costs a significant
// share of CPU time: lines, and sites with the placement that separates the threads. Uses the analysis's
// models (hpcrun/model/cache_line.h, placement.h) with a fixed number of lines and sites; the rest is
// dropped.
//
// One per process. Called in handlers, from any thread; an access that arrives while another thread is at
// work is dropped, too. Async-signal-safe. Zeroed memory is a valid object without a host.

#include <atomic>
#include <cstdint>

#include "hpcrun/contention/shared_access.h"
#include "hpcrun/model/cache_line.h"
#include "hpcrun/model/placement.h"

namespace hpcrun {

struct SiteFinding {
  uint32_t site = 0;
  ChosenPlacement chosen;  // kAsAllocated: no placement helps
  uint64_t conflicts = 0;  // accesses, with the objects in their original places
  uint64_t line = 0;       // one of the lines with false sharing
  bool has_locks = false;  // LOCK-prefixed accesses were among them
};

// A page on which false sharing is significant enough for a change.
struct PageDecision {
  uint64_t page = 0;
  uint32_t share_ppm = 0;         // of the CPU time, at the page's falsely shared lines
  bool is_allocation = false;     // the shared data is an allocation; false if that is not known
  bool has_locks = false;         // LOCK-prefixed accesses to the page were seen
  bool has_true_sharing = false;  // threads used the same bytes
};

struct DetectorCallbacks {
  bool (*is_open)(uint32_t site) noexcept;  // no decision on it yet
  void (*settle)(const SiteFinding& verdict) noexcept;
  void (*share)(uint64_t line) noexcept;         // the line is falsely shared
  uint64_t (*align_of)(uint32_t site) noexcept;  // requested by the program, as in choose_placement()
  // Called at every verdict for lines that have been known for kPageNs. May be null.
  void (*share_page)(const PageDecision& verdict) noexcept;
  // Allocations are placed first, if that helps. share_page() is then called for the rest only.
  bool places_first = false;
};

class FalseSharingDetector {
 public:
  static constexpr uint64_t kVerdictNs = 62'500'000;      // between verdicts
  static constexpr uint64_t kSettleNs = 500'000'000;      // before a site's permanent placement is chosen,
  static constexpr uint64_t kPlainNs = 120'000'000;       // or for alignment alone, if much is lost
  static constexpr double kPlainShare = 0.1;              // of the CPU time
  static constexpr uint64_t kPageNs = 250'000'000;        // in which evidence against a page may turn up
  static constexpr double kMinShare = 0.02;               // of the CPU time; less is not worth a change
  static constexpr uint64_t kMinConflicts = 20;           // accesses; fewer do not show the users
  static constexpr uint64_t kPlainConflicts = 10;         // for alignment alone
  static constexpr uint64_t kTallyTimeoutNs = 4'000'000'000;  // after that, a tally starts over
  // By then, objects from before their site's placement are freed or will stay, and share_page() is called
  // for their pages.
  static constexpr uint64_t kPlacedNs = 1'000'000'000;
  // Objects that were used this long stay. No placement of later objects helps them.
  static constexpr uint64_t kLastingNs = 200'000'000;

  void start(const DetectorCallbacks& callbacks) noexcept { callbacks_ = callbacks; }

  // Counts the CPU time that a sample of the program stands for, wherever it is.
  void note_time(uint64_t weight_ns) noexcept { total_ns_.fetch_add(weight_ns, std::memory_order_relaxed); }

  void note(const SharedAccess& access) noexcept;

  // True if the latest verdict left lines or sites with false sharing that are undecided and may become
  // significant.
  bool is_promising() const noexcept { return is_promising_.load(std::memory_order_relaxed); }

  // True if nothing is promising any more since a placement was chosen. If no placement helps, watching goes
  // on, because the report is the only result.
  bool has_placed_all() const noexcept {
    return has_placed_.load(std::memory_order_relaxed) && !is_promising();
  }

  // Counts accesses that arrived while another thread was at work.
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kLines = 64;
  static constexpr uint32_t kTries = 8;  // entries that a line can have
  static constexpr uint32_t kSites = 16;
  static constexpr uint32_t kMaxUses = 256;  // per site
  static constexpr uint32_t kMaxSeen = 8;    // threads per line
  static constexpr uint32_t kMaxObjects = 4;
  static constexpr uint64_t kWindowNs = 100'000'000;
  static constexpr uint64_t kResolutionNs = 4'000'000;  // as in the analysis
  static constexpr uint64_t kSeenNs = 3'000'000'000;    // how long a thread stays credible after it was seen
  static constexpr uint64_t kIdleNs = 1'000'000'000;    // a line's entry is reused after that
  static constexpr double kMinMoves = 4;

  // The counts for a line or a site since a point in time.
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
    uint64_t window;     // number of the open window
    uint64_t weight_ns;  // in the open window
    uint32_t owner;      // the site with most accesses in the window, by majority vote
    uint32_t votes;
    uint32_t seen_count;
    uint32_t object_count;
    bool is_reported;
    bool is_allocation;
    bool has_locks;
    struct {
      uint32_t thread;
      uint64_t time_ns;
    } seen[kMaxSeen];
    struct Object {
      uint64_t begin, object;
    };
    Object objects[kMaxObjects];  // that are known in the open window
    uint32_t lasting_count;
    Object lasting[kMaxObjects];  // across windows
    uint64_t renewed_ns;          // when an unknown object was last seen there
    uint64_t used_ns;             // when any object was last seen there
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
    ObjectUse uses[kMaxUses];
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
  bool is_significant(const Tally& tally, uint64_t least_conflicts = kMinConflicts) const noexcept;
  bool may_be_significant(const Tally& tally) const noexcept;

  DetectorCallbacks callbacks_;
  std::atomic<bool> is_busy_;
  std::atomic<bool> is_promising_;
  std::atomic<bool> has_placed_;  // a site, since a verdict was last promising
  std::atomic<uint64_t> total_ns_;
  std::atomic<uint64_t> dropped_;
  uint64_t next_verdict_ns_;
  Line lines_[kLines];
  Site sites_[kSites];
  struct {
    uint32_t site;  // 0: free
    uint64_t time_ns;
  } placed_[kSites];  // the latest ones
  uint32_t placed_count_;
  ObjectUse window_uses_[kMaxLineThreads * kMaxSpots];
};

}  // namespace hpcrun
