#include "hpcrun/contention/contention_watch.h"

#include <errno.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "hpcrun/contention/profiler_data.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr uint64_t kLowestAddress = 65536;
constexpr uint64_t kHighestAddress = uint64_t{1} << 47;

// Returns the words of the access's first line that it touches.
uint8_t words_of(const Access& access) noexcept {
  const uint32_t first = access.address % kLineBytes / kWordBytes;
  const uint64_t last_byte = std::min<uint64_t>(access.address % kLineBytes + access.bytes, kLineBytes) - 1;
  const auto last = static_cast<uint32_t>(last_byte / kWordBytes);
  return static_cast<uint8_t>((0xffu << first) & (0xffu >> (7 - last)));
}

bool is_own(const Access& access, const WatchedThread& thread) noexcept {
  return access.address >= thread.stack_low && access.address < thread.stack_high;
}

// Returns false for a thread's own stack, unless another thread was seen there, and for data of the profiler,
// which is not a finding about the program.
bool is_shareable(const Access& access, const WatchedThread& thread, const SuspectLines& suspects,
                  uint64_t now_ns) noexcept {
  if (access.address < kLowestAddress || access.address >= kHighestAddress) return false;
  if (is_profiler_data(access.address)) return false;
  return !is_own(access, thread) || suspects.has_others(line_of(access.address), thread.index, now_ns);
}

}  // namespace

bool ContentionWatch::start(const WatchCallbacks& callbacks, uint64_t signal_data) noexcept {
  if (!suspects_.start()) return false;
  callbacks_ = callbacks;
  signal_data_ = signal_data;
  leave(State::Idle);
  return true;
}

bool ContentionWatch::enter(State from) noexcept {
  return state_.compare_exchange_strong(from, State::Changing, std::memory_order_acquire);
}

// Waits for a thread that changes it, which takes little time. A handler of the program may interrupt that
// thread and end the process, so the wait is limited.
void ContentionWatch::stop() noexcept {
  freeze_.stop();
  constexpr int kMaxTurns = 1'000;
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    const bool was_armed = enter(State::Armed);
    if (was_armed) watch_.disarm();
    if (was_armed || enter(State::Idle)) return leave(State::Stopped);
    if (state_.load(std::memory_order_relaxed) == State::Stopped) return;
    raw_syscall(SYS_sched_yield);
  }
}

void ContentionWatch::expire(uint64_t now_ns) noexcept {
  if (state_.load(std::memory_order_relaxed) != State::Armed) return;
  const bool is_over = now_ns >= deadline_ns_.load(std::memory_order_relaxed) ||
                       hits_left_.load(std::memory_order_relaxed) <= 0;
  if (!is_over || !enter(State::Armed)) return;
  watch_.disarm();
  suspects_.settle(lines_[watches_ % kRememberedLines].load(std::memory_order_relaxed));
  rest(now_ns);
  leave(State::Idle);
}

// Sets the earliest time of the next watch. Watches go on between searches, at a lower rate, to find
// contention that begins then.
void ContentionWatch::rest(uint64_t now_ns) noexcept {
  const uint64_t until =
      callbacks_.sample_often ? std::min(search_.rests_until(now_ns), now_ns + kLongRestNs) : 0;
  next_ns_.store(std::max(until, now_ns + kRestNs), std::memory_order_relaxed);
}

// Chooses as many words that the thread seems to use as there are breakpoints. Other watches choose others of
// them, and the remaining words of the line.
uint8_t ContentionWatch::words_to_watch(uint8_t used) noexcept {
  if (std::popcount(used) > static_cast<int>(kWatchedWords)) {
    const uint8_t half = watches_ % 2 ? 0xf0 : 0x0f;
    return used & half ? used & half : used & ~half & 0xff;
  }
  uint8_t words = used;
  for (uint32_t i = 0; i < 8 && std::popcount(words) < static_cast<int>(kWatchedWords); ++i)
    words = static_cast<uint8_t>(words | 1u << (i + watches_ * 3) % 8);
  return words;
}

void ContentionWatch::try_watch(uint64_t line, const Meeting& meeting, uint64_t now_ns) noexcept {
  if (callbacks_.samples_accesses || now_ns < next_ns_.load(std::memory_order_relaxed) || !enter(State::Idle))
    return;
  const int tid = callbacks_.tid_of(meeting.thread);
  ++watches_;
  const uint64_t number = watches_ % kRememberedLines;
  lines_[number].store(line, std::memory_order_relaxed);
  const uint8_t words = words_to_watch(meeting.words);
  hits_left_.store(std::popcount(meeting.words) * static_cast<int>(kHits), std::memory_order_relaxed);
  deadline_ns_.store(now_ns + kWatchNs, std::memory_order_relaxed);
  const int armed = tid ? watch_.arm(tid, line, words, kHits, signal_data_ | number << 8) : 0;
  const bool has_ended = armed == -ESRCH;
  if (armed < 0 && !has_ended) failure_.store(armed, std::memory_order_relaxed);
  if (armed > 0) return leave(State::Armed);
  rest(now_ns);
  leave(State::Idle);
}

void ContentionWatch::follow(SamplingRateControl::Change change) noexcept {
  if (change != SamplingRateControl::Change::None && callbacks_.sample_often)
    callbacks_.sample_often(change == SamplingRateControl::Change::Often);
}

void ContentionWatch::go_on_searching(uint64_t now_ns) noexcept {
  if (!callbacks_.is_promising || callbacks_.is_promising()) follow(search_.seen(now_ns));
}

void ContentionWatch::pass(uint64_t now_ns) noexcept {
  follow(search_.sampled(now_ns));
  if (callbacks_.is_settled && callbacks_.is_settled()) follow(search_.settled(now_ns));
  expire(now_ns);
}

void ContentionWatch::sample(const WatchedThread& thread, const StoppedAt& at, uint64_t weight_ns,
                             bool may_search) noexcept {
  Access accesses[kMaxPlannedAccesses];
  const AccessPlan& plan = thread.plans->plan(at.begin, at.pc, callbacks_.memory);
  const uint32_t count = apply_plan(plan, at.state, callbacks_.memory, accesses);
  Access own[kMaxPlannedAccesses];  // to the thread's stack
  uint32_t own_count = 0;
  const Access* nearest = nullptr;
  uint32_t others = 0;
  for (const Access* access = accesses; access < accesses + count; ++access) {
    if (is_own(*access, thread)) own[own_count++] = *access;
    if (!is_shareable(*access, thread, suspects_, at.now_ns)) continue;
    const uint64_t line = line_of(access->address);
    Meeting meeting;
    if (!suspects_.visit({line, thread.index, words_of(*access), writes(access->kind), at.now_ns}, meeting))
      continue;
    if (may_search) follow(search_.met(at.now_ns));
    if (meeting.was_seen && (!nearest || std::abs(access->distance) < std::abs(nearest->distance))) {
      nearest = access;
      others = meeting.others;
    }
    if (meeting.count >= kMeetings) try_watch(line, meeting, at.now_ns);
  }
  if (!nearest) return thread.loop->clear();
  callbacks_.report(thread.index, {*nearest, at.now_ns, weight_ns, false, true});
  measure_progress(thread, at, weight_ns, line_of(nearest->address), others, own, own_count);
}

void ContentionWatch::measure_progress(const WatchedThread& thread, const StoppedAt& at, uint64_t weight_ns,
                                       uint64_t line, uint32_t others, const Access* own,
                                       uint32_t own_count) noexcept {
  LoopProgress& loop = *thread.loop;
  const uint64_t before = loop.before(line, at.pc, at.state);
  const bool asked = freeze_.is_for(thread.index);
  const bool is_alone = before && asked && freeze_.lasted(before, at.now_ns);
  if (is_alone || (before && freeze_.was_free(before))) {
    Progress changes[LoopProgress::kMaxChanges];
    const uint32_t count = loop.changes(at.state, own, own_count, callbacks_.memory, weight_ns, changes);
    const bool is_wanted = loop.takes(is_alone);
    for (uint32_t i = 0; i < count && is_wanted; ++i) {
      changes[i].is_alone = is_alone;
      callbacks_.report_progress(thread.index, line, at.now_ns, changes[i]);
    }
  }
  if (is_alone || (asked && freeze_.is_over(at.now_ns)))
    freeze_.release(at.now_ns);
  else if (!asked && others && loop.wants_more())
    freeze_.ask(line, thread.index, others, at.now_ns);
  loop.note(line, at.pc, at.state, own, own_count, callbacks_.memory, at.now_ns);
  if (freeze_.stay(line, thread.index, at.now_ns)) loop.clear();
}

void ContentionWatch::hit(const WatchedThread& thread, const StoppedAt& at, uint64_t signal_data) noexcept {
  const uint64_t line = lines_[signal_data >> 8 & (kRememberedLines - 1)].load(std::memory_order_relaxed);
  const uint64_t word = line + (signal_data & 7) * kWordBytes;
  hits_left_.fetch_sub(1, std::memory_order_relaxed);
  thread.loop->clear();  // a hit takes time, which is not progress
  // No sample has ended the watch in time, so this hit may be much later than the meeting.
  if (at.now_ns > deadline_ns_.load(std::memory_order_relaxed)) return;
  suspects_.note_seen(line, at.now_ns);
  go_on_searching(at.now_ns);
  Evidence evidence{{word, at.pc, kWordBytes, AccessKind::ReadWrite, false, -1}, at.now_ns, 0, true, false};
  Access accesses[kMaxPlannedAccesses];
  const AccessPlan& plan = thread.plans->plan(at.begin, at.pc, callbacks_.memory);
  const uint32_t count = apply_plan(plan, at.state, callbacks_.memory, accesses);
  for (const Access* access = accesses; access < accesses + count; ++access) {
    const bool made_it = access->distance == -1 && access->address < word + kWordBytes &&
                         word < access->address + access->bytes;
    if (!made_it) continue;
    evidence.access = *access;
    evidence.is_exact = true;
  }
  // Most accesses to whole words are aligned.
  if (!evidence.is_exact && plan.unplaced.bytes == kWordBytes) {
    evidence.access.kind = plan.unplaced.kind;
    evidence.access.is_locked = plan.unplaced.is_locked;
    evidence.is_exact = true;
  }
  callbacks_.report(thread.index, evidence);
}

// Other accesses of threads count at a line that one of them had to fetch from another core recently. If the
// hardware does not report other cores' caches, a line from a shared cache may have been fetched from one
// (analysis/pipeline/contention.cpp decides in the end).
void ContentionWatch::sampled_access(const WatchedThread& thread, const SampledAccess& sampled) noexcept {
  const Access& access = sampled.access;
  if (!is_shareable(access, thread, suspects_, sampled.time_ns)) return;
  const uint64_t line = line_of(access.address);
  Meeting meeting;
  suspects_.visit({line, thread.index, words_of(access), writes(access.kind), sampled.time_ns}, meeting);
  if (sampled.hardware.load_bits & (kLoadFromPeer | kLoadFromSharedCache)) {
    suspects_.note_seen(line, sampled.time_ns);
    go_on_searching(sampled.time_ns);
  } else if (!suspects_.was_seen(line, sampled.time_ns)) {
    return;
  }
  callbacks_.report(thread.index, {access, sampled.time_ns, 0, true, sampled.is_exact, sampled.hardware});
}

}  // namespace hpcrun
