#pragma once
// Waits for locks and for other threads: "locks" in run.json.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/kinds.h"
#include "analysis/run/record_fields.h"

namespace prof {

// Code that waited for a lock, or released it while others waited.
struct LockSide {
  uint32_t context = 0;  // index into Database::contexts
  uint64_t threads = 0;  // number of threads
  uint64_t count = 0;    // of waits, or of releases
  double seconds = 0;    // waited here; for releases, waited by others
  double longest_s = 0;  // longest wait; for releases, the longest that was waited for one
  uint64_t open = 0;     // waits that had not ended when the process did; included in all of the above
};

struct LockRecord {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  WaitedFor kind = WaitedFor::UnknownLock;
  std::string name;      // of the variable, with the member that is the lock; empty if it has none
  std::string declared;  // "queue.cpp:12"; empty if unknown
  uint64_t address = 0;  // of the first lock, in memory
  // For a lock on the heap, if allocations were followed: the context of its allocation; 0 if unknown.
  uint32_t allocation = 0;
  uint64_t offset = 0;  // of the lock in the allocation
  // Unnamed locks are combined by allocation site; without one, by the place at which threads mostly waited.
  uint64_t objects = 0;
  uint64_t waits = 0;                      // of all threads
  double waited_s = 0;                     // likewise
  double blamed_s = 0;                     // the part for which the holder is known
  double longest_s = 0;                    // longest wait
  double open_s = 0;                       // the part of waited_s that had not ended when the process did
  std::vector<LockSide> waiters, holders;  // the longest first
};

// Waiting for other threads without a lock.
struct BlockedRecord {
  WaitedFor kind = WaitedFor::UnknownLock;
  uint32_t context = 0;
  uint64_t threads = 0;
  uint64_t count = 0;
  double seconds = 0;
  double longest_s = 0;
  uint64_t open = 0;  // as in a LockSide
};

// Code that worked while other threads waited without a lock.
struct IdleRecord {
  uint32_t context = 0;
  uint64_t threads = 0;        // that worked there
  double seconds = 0;          // IDLE_BLAME
  double cpu_s = 0;            // CPU time there
  double idle_cpu_s = 0;       // the part of it in which some thread was idle
  double idle_threads = 0;     // average number of idle threads in that part
  double working_threads = 0;  // average number of working threads
};

// A wait for a lock that had not ended when the process did.
struct OpenWaitRecord {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  int32_t thread = -1;   // ID of the thread that waited
  std::string thread_name;
  WaitedFor kind = WaitedFor::UnknownLock;
  std::string name;  // of the lock, as in a LockRecord
  uint64_t address = 0;
  uint32_t context = 0;
  double seconds = 0;
  int32_t holder = 0;  // ID of the thread that held the lock; 0 if unknown
  std::string holder_name;
  // True if the holder was observed when all threads of a cycle waited, or as the process ended; false if
  // only when this wait began.
  bool is_confirmed = false;
  uint64_t deadlock = 0;  // waits with the same number wait for each other; 0 if in no deadlock
};

struct LocksRecord {
  std::vector<LockRecord> locks;
  std::vector<BlockedRecord> blocked;
  std::vector<IdleRecord> idle;
  std::vector<OpenWaitRecord> open;
};

// Visits all fields except the sides.
template <typename Visit>
void for_each_field(RecordOf<LockRecord> auto& record, Visit visit) {
  visit("host", record.host);
  visit("rank", record.rank);
  visit("process", record.process);
  visit("kind", record.kind);
  visit("name", record.name);
  visit("declared", record.declared);
  visit("address", record.address);
  visit("allocation", record.allocation);
  visit("offset", record.offset);
  visit("objects", record.objects);
  visit("waits", record.waits);
  visit("waited_s", record.waited_s);
  visit("blamed_s", record.blamed_s);
  visit("longest_s", record.longest_s);
  visit("open_s", record.open_s);
}

template <typename Visit>
void for_each_field(RecordOf<IdleRecord> auto& record, Visit visit) {
  visit("context", record.context);
  visit("threads", record.threads);
  visit("seconds", record.seconds);
  visit("cpu_s", record.cpu_s);
  visit("idle_cpu_s", record.idle_cpu_s);
  visit("idle_threads", record.idle_threads);
  visit("working_threads", record.working_threads);
}

template <typename Visit>
void for_each_field(RecordOf<OpenWaitRecord> auto& record, Visit visit) {
  visit("host", record.host);
  visit("rank", record.rank);
  visit("process", record.process);
  visit("thread", record.thread);
  visit("thread_name", record.thread_name);
  visit("kind", record.kind);
  visit("name", record.name);
  visit("address", record.address);
  visit("context", record.context);
  visit("seconds", record.seconds);
  visit("holder", record.holder);
  visit("holder_name", record.holder_name);
  visit("is_confirmed", record.is_confirmed);
  visit("deadlock", record.deadlock);
}

template <typename Visit>
void for_each_field(RecordOf<LockSide> auto& record, Visit visit) {
  visit("context", record.context);
  visit("threads", record.threads);
  visit("count", record.count);
  visit("seconds", record.seconds);
  visit("longest_s", record.longest_s);
  visit("open", record.open);
}

template <typename Visit>
void for_each_field(RecordOf<BlockedRecord> auto& record, Visit visit) {
  visit("kind", record.kind);
  visit("context", record.context);
  visit("threads", record.threads);
  visit("count", record.count);
  visit("seconds", record.seconds);
  visit("longest_s", record.longest_s);
  visit("open", record.open);
}

}  // namespace prof
