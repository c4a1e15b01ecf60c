#include "repair/isolate/controller/controller.h"

#include "hpcrun/guest/clock.h"
#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/controller/atomic_watch.h"
#include "repair/isolate/controller/controller_state.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/controller/known_pages.h"
#include "repair/isolate/controller/lock_users.h"
#include "repair/isolate/controller/page_balance.h"
#include "repair/isolate/controller/page_decisions.h"
#include "repair/isolate/controller/planned_modules.h"
#include "repair/isolate/controller/thread_visits.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/thread_record.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

namespace {

constexpr uint64_t kIdleNs = 1'000'000'000;  // between checks whether the program's threads have ended
constexpr uint32_t kMaxBeginnings = 10;      // tries, one per tick, to reach all threads
constexpr uint32_t kMaxMoves = 10;           // tries to make all memory common, one per kForkRestNs

constexpr char kTooMuchCode[] =
    "scanning the code of the program and its libraries would take more than a third of the time; measure a "
    "longer run";

uint64_t cpu_ns_of_program() noexcept {
  return sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) +
         cpu_ns_of_converted_threads();
}

void before_fork() noexcept {
  leave_common();
}

class Loop {
 public:
  void run() noexcept {
    const uint64_t begin_ns = monotonic_ns(), begin_ticks = __builtin_ia32_rdtsc();
    uint64_t next_look_ns = begin_ns + kIdleNs;
    bool was_at_work = false;
    for (;;) {
      const uint64_t now_ns = monotonic_ns();
      if (now_ns >= next_look_ns && is_needless()) return;
      if (now_ns >= next_look_ns) next_look_ns = now_ns + kIdleNs;
      if (const uint64_t us = (now_ns - begin_ns) / 1'000)
        controller.ticks_per_us = (__builtin_ia32_rdtsc() - begin_ticks) / us;
      session.heartbeat.fetch_add(1);
      const uint32_t news = page_news.load();
      prepare_for_common();
      controller.is_at_work.store(true);
      const bool is_at_work = tick();
      controller.is_at_work.store(false);
      reap_converted_threads();
      if (is_at_work || was_at_work) note();
      was_at_work = is_at_work;
      if (controller.is_forbidden.load() && !is_session_on() && !controller.outlives_fork.load()) return;
      wait_while(page_news, news,
                 is_at_work || (controller.isolates_unrequested() && !nobody_has_pages.load()) ? kCommitNs
                                                                                               : kIdleNs);
    }
  }

 private:
  static void note() noexcept {
    if (!controller.host.note) return;
    IsolationTotals totals;
    sum_up(totals);
    controller.host.note(totals);
  }

  // True if all threads of the program have ended. After a fork: if all but one have; the memory becomes
  // common again when that one creates a thread, and there is a new controller thread then.
  static bool is_needless() noexcept {
    const int self = sys_gettid();
    uint32_t threads = 0;
    for_each_task([&](int tid) { threads += tid != self && !is_dead_task(tid); });
    return threads == 0 || (threads == 1 && common_memory_file() < 0 && !is_session_on());
  }

  // Returns false if nothing is isolated any more.
  bool tick() noexcept {
    if (controller.is_forbidden.load()) return decline_for_fork();
    // A session may have come and gone between two rounds.
    if (const uint32_t forks = controller.forks.load(); forks != forks_) {
      forks_ = forks;
      decline_for_fork();
    }
    if (is_without_session_) return decline_all(WhyShared::NoSession);
    if (session.uses_cpu_timers.load()) {
      controller.refusal.store(reason_no_session(SessionStart::UsesCpuTimers));
      decline_all(WhyShared::CpuTime);
      return !end_session();
    }
    if (nobody_has_pages.load()) {
      decline_all(WhyShared::AtomicCode);
      return !end_session();
    }
    if (controller.isolates_at_random()) controller.random.choose(monotonic_ns());
    if (common_memory_file() < 0) return make_all_common();
    decline_all_if_needed();
    for_each_known(KnownPage::State::Asked, admit);
    decline_needed();
    if (isolated_pages.count() == 0 && !is_looking()) {
      controller.shared.count_period(false, 0);
      return !end_session();
    }
    // Newly mapped memory is private to each process: the next session makes it common. Removed memory may be
    // isolated.
    const bool have_modules_changed = modules_have_changed();
    if (is_session_on() && (have_modules_changed || session.has_private_memory.load()) && !end_session())
      return true;
    if (have_modules_changed) decline_changed();
    if (!is_planning_due(cpu_ns_of_program())) {
      controller.refusal.store(kTooMuchCode);
      controller.shared.count_period(false, 0);
      return !end_session();
    }
    if (controller.refusal.load() == kTooMuchCode) controller.refusal.store(nullptr);
    if (controller.stage.load() == Stage::Waiting) controller.stage.store(Stage::Planning);
    if (!know_atomic_sites()) {
      controller.refusal.store(reason_atomic_sites_are_unknown());
      decline_all(WhyShared::AtomicModule);
      return !end_session();
    }
    if (!is_session_on() && !begin_session()) {
      controller.shared.count_period(false, 0);
      return isolated_pages.count() > 0;
    }
    (are_modules_annotated() ? controller.was_annotated : controller.was_plain).store(true);
    controller.stage.store(Stage::Asking);
    // Pages without evidence are private at once: they test the mechanism.
    const bool is_watched = !controller.isolates_unrequested() && !are_modules_annotated();
    isolated_pages.watch_converted_threads_for(is_watched ? AtomicWatch::kWatchNs : 0);
    if (!is_watched) isolated_pages.hold(false);
    const AtomicWatch::Round round = visit_threads(is_watched && !watch_.is_over());
    if (is_watched && !watch_.is_over_after(round, monotonic_ns())) return true;
    isolated_pages.hold(false);
    report_isolated();
    if (controller.finds_written()) controller.shared.look();
    if (!controller.isolates_unrequested()) weigh();
    return true;
  }

  static bool is_page_asked_for() noexcept {
    bool is_asked = false;
    for_each_known(KnownPage::State::Asked, [&](const KnownPage&) { is_asked = true; });
    return is_asked;
  }

  // Separate from tick(), because forks wait for the end of that.
  void prepare_for_common() noexcept {
    if (is_prepared_ || !controller.common.prepare || common_memory_file() >= 0 || !is_page_asked_for())
      return;
    controller.is_preparing.store(true);
    if (!controller.is_forbidden.load() && !controller.forks_under_way.load()) {
      reason_unprepared_ = controller.common.prepare();
      is_prepared_ = true;
    }
    controller.is_preparing.store(false);
  }

  // Makes memory common in a program that has not needed that until now, or that has forked with threads,
  // once a page is requested. All requests wait meanwhile. Returns false if it is not possible now.
  bool make_all_common() noexcept {
    if (!is_page_asked_for() || monotonic_ns() < controller.common_from_ns.load()) return false;
    if (controller.common.prepare && !is_prepared_) return true;  // in the next round
    if (reason_unprepared_) {
      controller.refusal.store(reason_unprepared_);
      return decline_all(WhyShared::NoSession);
    }
    if (!begin_session(true)) return common_memory_file() < 0;
    if (!reserve_private_pages(common_memory_file())) decline_all(WhyShared::NoSession);
    if (controller.common.is_common_now) controller.common.is_common_now();
    return true;
  }

  static bool is_looking() noexcept { return controller.finds_written() && controller.shared.is_looking(); }

  static const char* reason_no_session(SessionStart result) noexcept {
    switch (result) {
      case SessionStart::NoDispatch:
        return "the kernel does not support system call dispatch (prctl, Linux 5.11)";
      case SessionStart::TooMany:
        return "the program has too many threads";
      case SessionStart::NotCommon:
        return reason_not_common() ? reason_not_common()
                                   : "memory mapped during the run cannot be made common";
      case SessionStart::SignalReader:
        return "the program reads signals from descriptors (signalfd)";
      case SessionStart::UsesCpuTimers:
        return "the program has a timer or a limit of its CPU time (setitimer, timer_create, ulimit -t)";
      default:
        return "a thread of the program blocks all signals";
    }
  }

  // No session begins during a fork, which ends the current one.
  bool begin_session(bool moves_all = false) noexcept {
    SessionStart result = SessionStart::Unreachable;
    if (controller.is_ending.load()) return false;
    isolated_pages.hold(true);  // until they are watched, or need not be
    watch_.begin_anew();
    if (!controller.is_forbidden.load()) {
      SessionOptions options;
      options.request_signal = controller.host.request_signal;
      options.moves_all = moves_all;
      options.sample_signals = controller.host.sample_signals;
      options.hooks = converted_page_hooks();
      options.hooks.all_stopped = [] {
        begin_lock_users(are_modules_annotated());
        return make_common(OtherThreads::Stopped) &&
               (!controller.common.all_stopped || controller.common.all_stopped());
      };
      options.hooks.ends_call_first = controller.common.ends_call_first;
      options.hooks.memory_changes = end_isolation_of;
      options.hooks.before_fork = before_fork;
      options.hooks.session = controller.host.direct_locks.forbid;
      options.sampling = controller.host.sampling;
      result = begin_isolation(options);
    }
    if (result == SessionStart::Done || result == SessionStart::AlreadyOn) {
      tries_ = 0;
      if (controller.finds_written()) controller.refusal.store(nullptr);  // from an earlier time
      isolated_pages.pause(0);
      IsolationTotals now;
      sum_up(now);
      balance_.begin(now);
      return true;
    }
    if (result == SessionStart::UsesCpuTimers) {
      controller.refusal.store(reason_no_session(result));
      return decline_all(WhyShared::CpuTime);
    }
    if (moves_all) {
      // The threads were stopped without effect, and waited for one that sleeps in the kernel or is busy.
      controller.common_from_ns.store(monotonic_ns() + kForkRestNs);
      if (++tries_ < kMaxMoves) return false;
    } else if (result == SessionStart::Unreachable && ++tries_ < kMaxBeginnings) {
      return false;
    }
    is_without_session_ = result == SessionStart::Unreachable || result == SessionStart::NoDispatch;
    controller.refusal.store(reason_no_session(result));
    decline_all(WhyShared::NoSession);
    return false;
  }

  // Returns true if there is no session.
  bool end_session() noexcept {
    if (!is_session_on()) return true;
    if (!end_isolation()) return false;
    known_mutexes.store(0);  // from here on no thread's locks are followed
    return true;
  }

  // `watches`: the result contains what the threads did.
  AtomicWatch::Round visit_threads(bool watches) noexcept {
    const ThreadRecord* const self = this_record();
    AtomicWatch::Round round;
    if (controller.finds_written() && controller.shared.begins_to_look()) {
      bring_all_home();
      release_converted_threads();
    }
    uint32_t working = 0;
    const uint64_t now_ns = monotonic_ns();
    for_each_record([&](ThreadRecord& record) {
      if (&record == self) return;
      const ThreadVisits::Did did = visits_.look(record);
      const bool is_home = record.where.load() == Where::Home;
      if (watches) round.all_are_seen &= is_seen(record, did, is_home);
      if (did == ThreadVisits::Did::Nothing) return;
      if (did == ThreadVisits::Did::Work) {
        ++working;
        if (controller.isolates_at_random() && visits_.rests(record, now_ns)) return;
        if (is_home) ask_to_convert(record);
      }
      // On a busy machine a thread gets little of a round. A thread that waits in a call has committed before
      // it.
      if (!is_home && !__atomic_load_n(&record.in_trap, __ATOMIC_RELAXED)) ask_to_commit(record);
    });
    if (controller.finds_written()) controller.shared.count_period(true, working);
    round.has_worked = working > 0;
    return round;
  }

  // False for a thread that executes the program's code at home, and for one without a processor: it may be
  // within an operation.
  static bool is_seen(const ThreadRecord& record, ThreadVisits::Did did, bool is_home) noexcept {
    if (is_home) return did != ThreadVisits::Did::Work && !is_runnable_task(record.tid.load());
    return did != ThreadVisits::Did::Nothing || __atomic_load_n(&record.in_trap, __ATOMIC_RELAXED);
  }

  void weigh() noexcept {
    const uint64_t now_ns = monotonic_ns();
    PageBalance::Page pages[kMaxPrivatePages];
    uint32_t count = 0;
    for_each_known(KnownPage::State::Isolated, [&](const KnownPage& known) {
      if (count < kMaxPrivatePages) pages[count++] = {known.page.load(), known.request.share_ppm};
    });
    if (!balance_.is_due(pages, count, now_ns)) return;
    IsolationTotals now;
    sum_up(now);
    const PageBalance::Verdict verdict = balance_.look(pages, count, now, timed_ticks_of, now_ns);
    controller.isolated_pace.store(balance_.tried().isolated);
    controller.common_pace.store(balance_.tried().common);
    switch (verdict.is) {
      case Benefit::Verdict::GoOn:
        break;
      case Benefit::Verdict::MakeCommon:
        isolated_pages.pause(verdict.page);
        break;
      case Benefit::Verdict::Lost:
        for_each_known(KnownPage::State::Isolated, [&verdict](KnownPage& known) {
          if (known.page.load() == verdict.page) decline(known, WhyShared::Expensive);
        });
        [[fallthrough]];
      case Benefit::Verdict::IsolateAgain:
        isolated_pages.pause(0);
        break;
    }
  }

  static uint64_t timed_ticks_of(uint64_t page) noexcept {
    uint64_t ticks = 0;
    for_each_pages([&](const PrivatePages& pages) { ticks += pages.timed_ticks_of(page); });
    return ticks;
  }

  ThreadVisits visits_;
  uint32_t tries_ = 0;
  uint32_t forks_ = controller.forks.load();  // the latest known number
  bool is_without_session_ = false;           // permanently
  bool is_prepared_ = false;
  const char* reason_unprepared_ = nullptr;
  PageBalance balance_;
  AtomicWatch watch_;
};

}  // namespace

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

}  // namespace hpcrun
