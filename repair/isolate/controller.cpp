#include "repair/isolate/controller.h"

#include <errno.h>

#include <algorithm>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/atomic_sites.h"
#include "repair/isolate/benefit.h"
#include "repair/isolate/common_memory.h"
#include "repair/isolate/common_state.h"
#include "repair/isolate/isolatable_memory.h"
#include "repair/isolate/known_pages.h"
#include "repair/isolate/lock_users.h"
#include "repair/isolate/planned_modules.h"
#include "repair/isolate/random_pages.h"
#include "repair/isolate/session.h"
#include "repair/isolate/shared_pages.h"
#include "repair/isolate/signal_masks.h"
#include "repair/isolate/tasks.h"
#include "repair/isolate/thread_record.h"
#include "repair/isolate/thread_stacks.h"
#include "repair/isolate/twin.h"
#include "repair/isolate/twin_pages.h"
#include "repair/isolate/wait_word.h"

namespace hpcrun {

namespace {

constexpr uint64_t kIdleNs = 1'000'000'000;  // between two looks whether the program's threads are gone
constexpr uint32_t kMostBeginnings = 10;     // tries, one a tick, to reach all threads
constexpr uint64_t kBusyShare = 5;           // a thread that worked for a fifth of a tick is asked to convert
constexpr uint64_t kForkRestNs = 500'000'000;  // with private memory, after the first fork
constexpr uint32_t kMostMoves = 10;            // tries to make memory common again, one after such a rest
constexpr uint32_t kMostForks = 8;             // more are no reason to wait longer

// How far our thread has come.
enum class Stage : uint32_t { Unborn, Waiting, Planning, Asking };

struct Controller {
  std::atomic<int> pid{0};  // in which our thread runs
  std::atomic<bool> is_forbidden{false};
  std::atomic<bool> is_ending{false};   // the process
  std::atomic<bool> is_at_work{false};  // our thread, which may have the loader's lock then
  std::atomic<Stage> stage{Stage::Unborn};
  std::atomic<const char*> refusal{nullptr};
  std::atomic<bool> outlives_fork{false};  // our thread, as the program has others
  std::atomic<int> tid{0};                 // its number
  std::atomic<uint32_t> forks{0};
  std::atomic<uint64_t> common_from_ns{0};  // when memory that was left may be made common again
  void (*common_again)() noexcept = nullptr;
  IsolationHost host;
  RandomPages random;
  SharedPages shared;
  uint64_t ticks_per_us = 0;  // of the time stamp counter
};
constinit Controller controller;

// Pages are isolated that nobody asked for.
bool isolates_untold() noexcept {
  return controller.host.isolates != Isolates::Told;
}
bool isolates_at_random() noexcept {
  return controller.host.isolates == Isolates::Random;
}
bool finds_written() noexcept {
  return controller.host.isolates == Isolates::Written;
}

// Of each thread, by its record.
constinit uint64_t cpu_seen[kMaxThreads];
constinit uint64_t commits_seen[kMaxThreads];
constinit int tid_seen[kMaxThreads];

// Of each thread where pages are isolated at random.
struct Transactions {
  uint64_t average_ns;  // 0: of none yet
  uint64_t rests_until_ns;
};
constinit Transactions transactions[kMaxThreads];

void tell(const KnownPage& known, WhyShared why) noexcept {
  if (controller.host.tell) controller.host.tell({known.request, why, monotonic_ns()});
}

void set_shared(KnownPage& known, WhyShared why) noexcept {
  isolated_pages.remove(known.page.load());
  known.state.store(KnownPage::State::Shared);
  tell(known, why);
}

void before_fork() noexcept {
  leave_common();
}

// Threads of a program that executes atomic instructions may tell each other by these of what they wrote, and
// be told by plain loads, which nobody sees: from the moment before the first of them takes effect on nobody
// has a page for itself (TMI, section 3.4.2, needs a compiler for more). C++'s library has atomic operations
// for its own guards and counters, which are flushed alone.
void before_atomic(uint64_t instruction) noexcept {
  if (is_of_cxx_library(instruction)) return;
  nobody_has_pages.store(true);
  const StaysHome home;
  const AllAtHome all_at_home(true);
  page_news.fetch_add(1);
  wake_all(page_news);
}

// Our thread

uint64_t cpu_of(const ThreadRecord& record) noexcept {
  constexpr unsigned kOfThread = 4 | 2;  // clock_getcpuclockid(3)
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(record.tid.load()) << 3 | kOfThread);
  return sys_clock_ns(clock) + cpu_ns_of_twins_of(record);
}

// Whether the thread worked since this was asked last.
bool has_worked(const ThreadRecord& record) noexcept {
  const size_t place = place_of(record);
  const uint64_t cpu = cpu_of(record);
  const bool is_known = tid_seen[place] == record.tid.load();
  const bool has = is_known && cpu - cpu_seen[place] >= kCommitNs / kBusyShare;
  tid_seen[place] = record.tid.load();
  cpu_seen[place] = cpu;
  return has;
}

uint64_t ns_of(uint64_t ticks) noexcept {
  return controller.ticks_per_us ? ticks * 1'000 / controller.ticks_per_us : 0;
}

void sum_up(IsolationTotals& totals) noexcept {
  const TwinCounts& counts = twin_counts();
  totals.conversions = counts.conversions;
  totals.conversion_ns = counts.conversion_ns;
  totals.longest_conversion_ns = counts.longest_conversion_ns;
  totals.twins_cpu_ns = cpu_ns_of_twins();
  totals.is_over = nobody_has_pages;
  uint64_t ticks = 0;
  for_each_pages([&](const PrivatePages& pages) {
    totals.commits += pages.commits();
    totals.meetings += pages.meetings();
    totals.merged_words += pages.merged();
    ticks += pages.timed_ticks();
  });
  totals.commit_ns = ns_of(ticks * PrivatePages::kTimed);
}

class Loop {
 public:
  void run() noexcept {
    const uint64_t begin_ns = monotonic_ns(), begin_ticks = __builtin_ia32_rdtsc();
    uint64_t next_look_ns = begin_ns + kIdleNs;
    for (;;) {
      const uint64_t now_ns = monotonic_ns();
      if (now_ns >= next_look_ns && is_needless()) return;
      if (now_ns >= next_look_ns) next_look_ns = now_ns + kIdleNs;
      if (const uint64_t us = (now_ns - begin_ns) / 1'000)
        controller.ticks_per_us = (__builtin_ia32_rdtsc() - begin_ticks) / us;
      const uint32_t news = page_news.load();
      controller.is_at_work.store(true);
      const bool is_at_work = tick();
      controller.is_at_work.store(false);
      if (controller.is_forbidden.load() && !is_session_on() && !controller.outlives_fork.load()) return;
      wait_while(page_news, news,
                 is_at_work || (isolates_untold() && !nobody_has_pages.load()) ? kCommitNs : kIdleNs);
    }
  }

 private:
  // Whether all threads of the program are gone; or, of one that forked, all but one, whose memory becomes
  // common again as it makes another, when there is a new one of ours.
  static bool is_needless() noexcept {
    const int self = sys_gettid();
    uint32_t threads = 0;
    for_each_task([&](int tid) { threads += tid != self && !is_dead_task(tid); });
    return threads == 0 || (threads == 1 && common_memory_file() < 0 && !is_session_on());
  }

  // False: nothing is isolated.
  bool tick() noexcept {
    if (controller.is_forbidden.load()) return drop_for_fork();
    if (is_without_session_) return drop_all(WhyShared::NoSession);
    if (nobody_has_pages.load()) {
      drop_all(WhyShared::AtomicCode);
      return !end_session();
    }
    if (isolates_at_random()) controller.random.choose(monotonic_ns());
    if (common_memory_file() < 0) return make_common_again();
    for_each_known(KnownPage::State::Asked, admit);
    needed_common.take([](uint64_t page, uint64_t why) {
      KnownPage* const known = find_known(page, false);
      if (known && known->state.load() == KnownPage::State::Isolated)
        set_shared(*known, static_cast<WhyShared>(why));
      common_state.hold.closed.set(page, page + kPageBytes);
      return true;
    });
    if (isolated_pages.count() == 0 && !is_looking()) {
      controller.shared.count_period(false, 0);
      return !end_session();
    }
    // What came since is private to each process: the next session has it common. What went may be isolated.
    const bool have_modules_changed = modules_have_changed();
    if (is_session_on() && (have_modules_changed || session.has_private_memory.load()) && !end_session())
      return true;
    if (have_modules_changed)
      for_each_known(KnownPage::State::Isolated, [](KnownPage& known) {
        if (const WhyShared why = why_not(known); why != WhyShared::None) set_shared(known, why);
      });
    if (controller.stage.load() == Stage::Waiting) controller.stage.store(Stage::Planning);
    if (!know_atomic_sites()) {
      controller.refusal.store(why_atomic_sites_are_unknown());
      drop_all(WhyShared::AtomicModule);
      return !end_session();
    }
    if (!is_session_on() && !begin_session()) {
      controller.shared.count_period(false, 0);
      return isolated_pages.count() > 0;
    }
    for_each_known(KnownPage::State::Isolated, [this](KnownPage& known) {
      if (known.is_told) return;
      known.is_told = true;
      tell(known, WhyShared::None);
    });
    controller.stage.store(Stage::Asking);
    visit_threads();
    if (finds_written()) controller.shared.look();
    if (!isolates_untold()) weigh();
    return true;
  }

  // Of a program that forked with threads: once a page is asked for, and all that was asked for waits
  // meanwhile. False: not now.
  bool make_common_again() noexcept {
    bool is_asked = false;
    for_each_known(KnownPage::State::Asked, [&](const KnownPage&) { is_asked = true; });
    if (!is_asked || monotonic_ns() < controller.common_from_ns.load()) return false;
    if (!begin_session(true)) return common_memory_file() < 0;
    if (!reserve_private_pages(common_memory_file())) drop_all(WhyShared::NoSession);
    if (controller.common_again) controller.common_again();
    return true;
  }

  static bool is_looking() noexcept { return finds_written() && controller.shared.is_looking(); }

  static WhyShared why_not(const KnownPage& known) noexcept {
    if (known.declined != WhyShared::None) return known.declined;
    return why_not_isolatable(known.page.load(), known.request.is_allocation);
  }

  // Looked at twice: what becomes of the page's memory once it is known as isolated is told
  // (end_isolation_of()).
  static void admit(KnownPage& known) noexcept {
    WhyShared why = why_not(known);
    if (why == WhyShared::None) {
      known.state.store(KnownPage::State::Isolated);
      why = why_not(known);
      if (why == WhyShared::None && !isolated_pages.add(known.page.load())) why = WhyShared::TooMany;
    }
    if (why != WhyShared::None) set_shared(known, why);
  }

  bool drop_all(WhyShared why) noexcept {
    for_each_known(KnownPage::State::Asked, [why](KnownPage& known) { set_shared(known, why); });
    for_each_known(KnownPage::State::Isolated, [why](KnownPage& known) { set_shared(known, why); });
    return false;
  }

  // Those of which it will be said again that threads share them may be isolated again.
  bool drop_for_fork() noexcept {
    if (!controller.outlives_fork.load()) return drop_all(WhyShared::Forked);
    for_each_known(KnownPage::State::Isolated, [](KnownPage& known) {
      set_shared(known, WhyShared::Forked);
      known.is_told = false;
      known.state.store(KnownPage::State::Free);
    });
    return false;
  }

  static const char* why_no_session(SessionStart result) noexcept {
    switch (result) {
      case SessionStart::NoDispatch:
        return "the kernel does not dispatch system calls (prctl, Linux 5.11)";
      case SessionStart::TooMany:
        return "the program has too many threads";
      case SessionStart::NotCommon:
        return "memory that came as the program ran cannot be made common";
      case SessionStart::SignalReader:
        return "the program reads signals from descriptors (signalfd)";
      default:
        return "a thread of the program's takes no signals";
    }
  }

  // No session begins once a fork is under way, which ends the one that is on.
  bool begin_session(bool moves_all = false) noexcept {
    SessionStart result = SessionStart::Unreachable;
    if (controller.is_ending.load()) return false;
    if (!controller.is_forbidden.load()) {
      SessionOptions options;
      options.request_signal = controller.host.request_signal;
      options.moves_all = moves_all;
      options.sample_signals = controller.host.sample_signals;
      options.hooks = twin_page_hooks();
      options.hooks.all_stopped = [] {
        begin_lock_users(are_modules_annotated());
        return make_common(OtherThreads::Stopped);
      };
      options.hooks.memory_changes = end_isolation_of;
      options.hooks.before_fork = before_fork;
      options.sampling = controller.host.sampling;
      result = begin_isolation(options);
    }
    if (result == SessionStart::Done || result == SessionStart::AlreadyOn) {
      tries_ = 0;
      if (finds_written()) controller.refusal.store(nullptr);  // of a time before
      isolated_pages.pause(false);
      IsolationTotals now;
      sum_up(now);
      benefit_.begin(now, monotonic_ns());
      return true;
    }
    if (moves_all) {
      // Threads have stood still in vain, and have waited for one that is asleep in the kernel, or busy.
      controller.common_from_ns.store(monotonic_ns() + kForkRestNs);
      if (++tries_ < kMostMoves) return false;
    } else if (result == SessionStart::Unreachable && ++tries_ < kMostBeginnings) {
      return false;
    }
    is_without_session_ = result == SessionStart::Unreachable || result == SessionStart::NoDispatch;
    controller.refusal.store(why_no_session(result));
    drop_all(WhyShared::NoSession);
    return false;
  }

  // True: there is none.
  bool end_session() noexcept {
    if (!is_session_on()) return true;
    return end_isolation();
  }

  void visit_threads() noexcept {
    const ThreadRecord* const self = this_record();
    const uint64_t now_ns = monotonic_ns();
    if (finds_written() && controller.shared.begins_to_look()) {
      bring_all_home();
      release_twins();
    }
    uint32_t working = 0;
    for_each_record([&](ThreadRecord& record) {
      if (&record == self || !has_worked(record)) return;
      ++working;
      if (isolates_at_random() && rests(record, now_ns)) return;
      if (record.where.load() == Where::Home)
        ask_to_convert(record);
      else
        ask_to_commit(record);
    });
    if (finds_written()) controller.shared.count_period(true, working);
    visited_ns_ = now_ns;
  }

  // Where pages are isolated at random, transactions - what is between two commits - have to be long enough
  // to be worth it, by their exponential average; a thread whose are not stays at home for a while, and is
  // tried again (SHERIFF, section 3.3).
  bool rests(ThreadRecord& record, uint64_t now_ns) noexcept {
    constexpr uint64_t kRestNs = 1'000'000'000;
    constexpr uint64_t kWorth = 20;  // commits that a transaction has to be as long as
    constexpr uint64_t kLeastNs = 10'000;
    Transactions& of = transactions[place_of(record)];
    if (now_ns < of.rests_until_ns) return true;
    if (record.where.load() == Where::Home) return false;
    const PrivatePages& pages = pages_of(record);
    const uint64_t commits = pages.commits() - commits_seen[place_of(record)];
    commits_seen[place_of(record)] = pages.commits();
    const uint64_t length_ns = (now_ns - visited_ns_) / (commits + 1);
    constexpr uint64_t kOld = 9, kAll = 10;
    of.average_ns = of.average_ns ? (kOld * of.average_ns + length_ns) / kAll : length_ns;
    const uint64_t commit_ns =
        pages.commits() ? ns_of(pages.timed_ticks() * PrivatePages::kTimed / pages.commits()) : 0;
    if (of.average_ns >= std::max(kLeastNs, kWorth * commit_ns)) return false;
    of = {0, now_ns + kRestNs};
    ask_back(record);
    return true;
  }

  void weigh() noexcept {
    const uint64_t now_ns = monotonic_ns();
    if (!benefit_.is_due(now_ns)) return;
    IsolationTotals now;
    sum_up(now);
    uint64_t share_ppm = 0;
    for_each_known(KnownPage::State::Isolated,
                   [&share_ppm](const KnownPage& known) { share_ppm += known.request.share_ppm; });
    switch (benefit_.look(now, share_ppm, now_ns)) {
      case Benefit::Verdict::GoOn:
        break;
      case Benefit::Verdict::MakeCommon:
        isolated_pages.pause(true);
        break;
      case Benefit::Verdict::Lost:
        for_each_known(KnownPage::State::Isolated,
                       [](KnownPage& known) { set_shared(known, WhyShared::Expensive); });
        [[fallthrough]];
      case Benefit::Verdict::IsolateAgain:
        isolated_pages.pause(false);
        break;
    }
  }

  uint64_t visited_ns_ = 0;
  uint32_t tries_ = 0;
  bool is_without_session_ = false;  // for good
  Benefit benefit_;
};

void* run_controller(void*) {
  Stage unborn = Stage::Unborn;
  controller.stage.compare_exchange_strong(unborn, Stage::Waiting);
  controller.tid.store(sys_gettid());
  if (controller.host.begin_own_thread) controller.host.begin_own_thread();
  Loop loop;
  loop.run();
  controller.pid.store(0, std::memory_order_release);
  return nullptr;
}

// Of the interface

// In a forked child memory is common again as it makes a thread.
bool start(const IsolationHost& host) noexcept {
  if (common_memory_file() < 0 && !has_left_common()) return false;
  controller.host = host;
  set_before_atomic(isolates_at_random() ? nullptr : before_atomic);
  watch_changes(finds_written() ? host.changed : nullptr);
  return true;
}

const char* refusal() noexcept {
  if (controller.refusal.load()) return controller.refusal.load();
  if (common_memory_file() < 0) return why_not_common();
  switch (controller.stage.load()) {
    case Stage::Planning:
      return "the program ended while its atomic instructions were being found";
    case Stage::Asking:
      return "no thread of the program worked for long enough at a time";
    default:
      return nullptr;
  }
}

void close(const void* at, uint64_t bytes) noexcept {
  close_to_isolation(at, bytes);
}

void offer(const void* at, uint64_t bytes) noexcept {
  const auto low = reinterpret_cast<uint64_t>(at);
  if (common_memory_file() < 0) return;
  if (finds_written()) controller.shared.offer(low, low + bytes);
  if (isolates_at_random() && bytes < kMostSmallBytes) controller.random.offer(page_down(low));
}

void totals(IsolationTotals& out) noexcept {
  sum_up(out);
}

void end() noexcept {
  controller.is_ending.store(true);
}

void refuse(const char* why) noexcept {
  controller.refusal.store(why);
}

// A thread of ours that the program does not see the signals of.
bool create_thread(CreateThread create) noexcept {
  constexpr size_t kStackBytes = 256 * 1024;
  ThreadStack* const stack = take_thread_stack(kStackBytes, kPageBytes, true);
  if (!stack) return false;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack->begin(), stack->bytes());
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const uint64_t mask = set_kernel_mask(kHandlerMask);
  pthread_t thread;
  const int error = create(
      &thread, &attributes,
      [](void* own_stack) -> void* {
        thread_stack_is_used(static_cast<ThreadStack*>(own_stack));
        return run_controller(nullptr);
      },
      stack);
  set_kernel_mask(mask);
  pthread_attr_destroy(&attributes);
  if (error) return_thread_stack(stack);
  return !error;
}

}  // namespace

void ensure_controller(CreateThread create) noexcept {
  const int self = sys_getpid();
  int other = controller.pid.load(std::memory_order_acquire);
  if (other == self || !controller.host.request_signal || controller.is_forbidden.load()) return;
  if (common_memory_file() < 0 || !controller.pid.compare_exchange_strong(other, self)) return;
  const int error = errno;
  if (!reserve_private_pages(common_memory_file()))
    refuse("the address space has no room for private pages");
  else if (!create_thread(create))
    refuse("the thread that isolates pages cannot be made");
  errno = error;
}

namespace {

bool end_session_here() noexcept {
  if (!is_session_on()) return true;
  give_back();
  constexpr int kTries = 25;  // as often as the session itself tries where it meets a fork
  for (int tries = 0; tries < kTries; ++tries)
    if (end_isolation()) return true;
  return false;
}

}  // namespace

void close_to_isolation(const void* at, uint64_t bytes) noexcept {
  const auto low = reinterpret_cast<uint64_t>(at);
  if (common_memory_file() < 0 || low + bytes >= kAddressSpaceBytes) return;
  common_state.hold.closed.set(page_down(low), page_up(low + bytes));
  if (controller.pid.load(std::memory_order_relaxed)) end_isolation_of(low, low + bytes);
}

namespace {

// Besides the calling one and ours.
bool has_other_threads() noexcept {
  const int self = sys_gettid(), ours = controller.tid.load();
  bool has = false;
  for_each_task([&](int tid) { has |= tid != self && tid != ours && !is_dead_task(tid); });
  return has;
}

void execute(bool is_about_to) noexcept {
  is_about_to ? static_cast<void>(end_isolation_for_fork()) : allow_isolation();
}

}  // namespace

bool end_isolation_for_fork() noexcept {
  const bool has_thread = controller.pid.load() == sys_getpid();
  controller.outlives_fork.store(has_thread && has_other_threads());
  controller.is_forbidden.store(true);
  while (controller.is_at_work.load()) raw_syscall(SYS_sched_yield);
  if (!end_session_here()) return false;
  page_news.fetch_add(1);  // our thread ends, or waits
  wake_all(page_news);
  return true;
}

void isolation_after_fork_in_parent(void (*common_again)() noexcept) noexcept {
  if (!controller.outlives_fork.load() || controller.pid.load() != sys_getpid()) return;
  const uint32_t forks = std::min(controller.forks.fetch_add(1), kMostForks);
  controller.common_again = common_again;
  controller.common_from_ns.store(monotonic_ns() + (kForkRestNs << forks));
  controller.is_forbidden.store(false);
  page_news.fetch_add(1);
  wake_all(page_news);
}

void allow_isolation() noexcept {
  controller.is_forbidden.store(false);
}

void controller_after_fork() noexcept {
  controller.pid.store(0);
  controller.is_forbidden.store(false);
  controller.outlives_fork.store(false);
  controller.forks.store(0);
  controller.is_ending.store(false);
  controller.refusal.store(nullptr);
  controller.stage.store(Stage::Unborn);
  nobody_has_pages.store(false);
  controller.is_at_work.store(false);
  isolated_pages.clear();
  needed_common.clear();
  forget_known_pages();
  own_pages = nullptr;
}

void end_isolation_of(uint64_t low, uint64_t high) noexcept {
  bool is_hit = false;
  for_each_known(KnownPage::State::Isolated, [&](KnownPage& known) {
    const uint64_t page = known.page.load();
    if (page < page_down(low) || page >= page_up(high)) return;
    needed_common.add(page, static_cast<uint64_t>(WhyShared::Remapped));
    isolated_pages.remove(page);
    is_hit = true;
  });
  if (!is_hit) return;
  const StaysHome home;
  bring_all_home();
  release_twins();
}

}  // namespace hpcrun

const hpcrun::Isolation hpcrun_isolation = {hpcrun::start,
                                            hpcrun::refusal,
                                            hpcrun::ask_for_page,
                                            hpcrun::ask_against_page,
                                            hpcrun::close,
                                            hpcrun::offer,
                                            hpcrun::totals,
                                            hpcrun::let_calls_pass,
                                            hpcrun::stay_home,
                                            hpcrun::leave_trampoline,
                                            hpcrun::return_from_sample,
                                            hpcrun::end,
                                            hpcrun::execute};
