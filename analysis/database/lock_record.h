#pragma once
// Where threads waited for locks and for each other, as run.json has it under "locks".

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace prof {

// Code that waited for a lock, or released it while others waited.
struct LockSide {
  uint32_t context = 0;  // index into Database::contexts
  uint64_t threads = 0;  // that were there
  uint64_t count = 0;    // of waits, or of releases
  double seconds = 0;    // waited here; or waited by others for what was released here
  double longest_s = 0;  // wait; or what was waited up to one release
};

struct LockRecord {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  std::string kind;      // "mutex", "read-write lock", "spin lock", "critical section"
  std::string name;      // of the variable with the part that is the lock; empty: it has none
  std::string declared;  // "queue.cpp:12"; empty: not known
  uint64_t address = 0;  // of the first lock, in memory
  uint64_t objects = 0;  // locks without a name that were mostly waited for at one place are one
  uint64_t waits = 0;    // for it, of all threads
  double waited_s = 0;   // likewise
  double blamed_s = 0;   // the part of which it is known who held the lock
  double longest_s = 0;  // wait
  std::vector<LockSide> waiters, holders;  // the longest first
};

// Waiting for other threads without a lock.
struct BlockedRecord {
  std::string kind;  // "condition variable", "semaphore", "barrier", "end of a thread"
  uint32_t context = 0;
  uint64_t threads = 0;
  uint64_t count = 0;
  double seconds = 0;
  double longest_s = 0;
};

struct LocksRecord {
  std::vector<LockRecord> locks;
  std::vector<BlockedRecord> blocked;
};

// visit(name, field) of all but the sides, by their names in run.json.
template <typename Visit>
void for_each_lock_field(auto& record, Visit visit) {
  using Record = std::remove_cvref_t<decltype(record)>;
  if constexpr (std::is_same_v<Record, LockRecord>) {
    visit("host", record.host);
    visit("rank", record.rank);
    visit("process", record.process);
    visit("kind", record.kind);
    visit("name", record.name);
    visit("declared", record.declared);
    visit("address", record.address);
    visit("objects", record.objects);
    visit("waits", record.waits);
    visit("waited_s", record.waited_s);
    visit("blamed_s", record.blamed_s);
    visit("longest_s", record.longest_s);
  } else {
    if constexpr (std::is_same_v<Record, BlockedRecord>) visit("kind", record.kind);
    visit("context", record.context);
    visit("threads", record.threads);
    visit("count", record.count);
    visit("seconds", record.seconds);
    visit("longest_s", record.longest_s);
  }
}

}  // namespace prof
