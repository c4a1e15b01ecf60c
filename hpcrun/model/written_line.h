#pragma once
// Tracks which threads change which bytes of a cache line, and how often changes by different threads
// alternate: the status of a line that SHERIFF-DETECT keeps (SHERIFF, sections 4.2 and 4.3). A line that
// threads change alternately had to move between processors. This is true sharing if another thread was the
// last to change one of the bytes, and false sharing if each thread changed bytes of its own.
//
// Lock-free: any number of threads, also of several processes that share the memory, may record changes at
// any time. The order of two changes recorded at the same instant is not known. Zeroed memory is a line that
// no thread has changed. All calls are async-signal-safe.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class WrittenLine {
 public:
  // Further threads are not distinguished, and counted in lost().
  static constexpr uint32_t kMaxWriters = 8;

  struct Writer {
    uint32_t thread = 0;
    uint64_t bytes = 0;          // changed by it, one bit each; without words that it changed very rarely
    uint32_t updates = 0;        // periods in which it changed bytes
    uint32_t interleaved = 0;    // of these, the ones after another thread's change
    uint32_t true_sharing = 0;   // of these, by the bytes changed, true sharing and
    uint32_t false_sharing = 0;  // false sharing; both, if the line holds both kinds of data
  };

  // Records that the thread (any number) changed these bytes since its previous update. At least one bit must
  // be set.
  void note(uint32_t thread, uint64_t bytes) noexcept;

  // Resets the line after its contents were freed. Changes recorded at the same time may remain.
  void clear() noexcept;

  [[nodiscard]] uint32_t interleaved() const noexcept;
  uint32_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  // Returns the writer at this index, from 0, in `out`. Returns false if there are no more.
  [[nodiscard]] bool writer(uint32_t place, Writer& out) const noexcept;

 private:
  static constexpr uint32_t kBytes = 64, kWordBytes = 8, kWords = kBytes / kWordBytes;
  // Factor between updates: a word that a thread changed this much more rarely than its most changed word is
  // not counted as its own. It may have been written when an object was initialized, for example.
  static constexpr uint32_t kRare = 50;

  struct Slot {
    std::atomic<uint32_t> thread;  // number + 1; 0: free
    std::atomic<uint32_t> updates;
    std::atomic<uint32_t> interleaved;
    std::atomic<uint32_t> true_sharing;
    std::atomic<uint32_t> false_sharing;
    std::atomic<uint32_t> of_word[kWords];  // updates of each
    std::atomic<uint64_t> bytes;
  };

  Slot* slot_of(uint32_t thread) noexcept;
  uint64_t take_bytes(uint64_t bytes, uint8_t place) noexcept;
  [[nodiscard]] bool owns_bytes(uint8_t place) const noexcept;

  std::atomic<uint8_t> last_;            // index of the last thread that changed the line, + 1
  std::atomic<uint8_t> owners_[kBytes];  // the same for each byte
  std::atomic<uint32_t> lost_;
  Slot slots_[kMaxWriters];
};

}  // namespace hpcrun
