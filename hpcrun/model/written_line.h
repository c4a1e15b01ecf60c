#pragma once
// Who changes which bytes of a cache line, and how often one thread does so after another: the status of a
// line that SHERIFF-DETECT keeps (SHERIFF, sections 4.2 and 4.3). A line that threads change by turns had to
// move between processors: for data that they share (true sharing) where somebody else had changed one of the
// bytes last that were changed, and only because their data lie side by side (false sharing) where each
// changed bytes of its own.
//
// Any number of threads note what they changed, of several processes that have the memory in common, at any
// time: no locks. Of two that note at the same instant the order is not known, as it was not known before.
// Zeroed memory is a line that nobody changed. All calls are async-signal-safe.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class WrittenLine {
 public:
  // Others are not told apart, and counted in lost().
  static constexpr uint32_t kMostWriters = 8;

  struct Writer {
    uint32_t thread = 0;
    uint64_t bytes = 0;          // that it changed, a bit for each; none of words that it hardly ever did
    uint32_t updates = 0;        // periods at the end of which it had changed some
    uint32_t interleaved = 0;    // of these, those after another thread's,
    uint32_t true_sharing = 0;   // and of these, by what was changed, those of either kind: both, where both
    uint32_t false_sharing = 0;  // kinds of data lie there
  };

  // The thread, by any number, changed these bytes since it was last asked; there is one at least.
  void note(uint32_t thread, uint64_t bytes) noexcept;

  // What lay there is gone. What is noted at the same time may stay.
  void clear() noexcept;

  uint32_t interleaved() const noexcept;
  uint32_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  // From 0 on; false: there are no more.
  bool writer(uint32_t place, Writer& out) const noexcept;

 private:
  static constexpr uint32_t kBytes = 64, kWordBytes = 8, kWords = kBytes / kWordBytes;
  // A word that the thread changed less than once in so many updates of the one that it changed most is none
  // of its own: it was written as an object was made, say.
  static constexpr uint32_t kRare = 50;

  struct Slot {
    std::atomic<uint32_t> thread;  // + 1; 0: free
    std::atomic<uint32_t> updates;
    std::atomic<uint32_t> interleaved;
    std::atomic<uint32_t> true_sharing;
    std::atomic<uint32_t> false_sharing;
    std::atomic<uint32_t> of_word[kWords];  // updates of each
    std::atomic<uint64_t> bytes;
  };

  Slot* slot_of(uint32_t thread) noexcept;
  uint64_t take_bytes(uint64_t bytes, uint8_t place) noexcept;
  bool owns_bytes(uint8_t place) const noexcept;

  std::atomic<uint8_t> last_;            // place of who changed the line last, + 1
  std::atomic<uint8_t> owners_[kBytes];  // the same of each byte
  std::atomic<uint32_t> lost_;
  Slot slots_[kMostWriters];
};

}  // namespace hpcrun
