#include "repair/isolate/controller.h"

#include <errno.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/atomic_sites.h"
#include "repair/isolate/common_memory.h"
#include "repair/isolate/common_state.h"
#include "repair/isolate/isolated_pages.h"
#include "repair/isolate/planned_modules.h"
#include "repair/isolate/session.h"
#include "repair/isolate/signal_masks.h"
#include "repair/isolate/tasks.h"
#include "repair/isolate/thread_record.h"
#include "repair/isolate/thread_stacks.h"
#include "repair/isolate/twin.h"
#include "repair/isolate/wait_word.h"

namespace hpcrun {

namespace {

constexpr uint64_t kIdleNs = 1'000'000'000;  // between two looks whether the program's threads are gone
constexpr uint64_t kWeighNs = 250'000'000;   // between two looks at what isolation costs
constexpr uint32_t kMostBeginnings = 50;     // tries, one a tick, to reach all threads
constexpr uint64_t kBusyShare = 5;           // a thread that worked for a fifth of a tick is asked to convert
constexpr uint32_t kMostExpensive = 2;       // times in a row that isolation may cost too much

// What the runtime asked for, once for each page.
struct KnownPage {
  enum class State : uint32_t { Free, Changing, Asked, Isolated, Shared };
  std::atomic<uint64_t> page{0};
  std::atomic<State> state{State::Free};
  PageRequest request;
  WhyShared declined = WhyShared::None;  // as it was asked for
  bool is_told = false;
};
constexpr uint32_t kMostKnown = 256;

constexpr uint32_t kMostOffered = 64;

struct Controller {
  std::atomic<int> pid{0};  // in which our thread runs
  std::atomic<bool> is_forbidden{false};
  std::atomic<bool> is_at_work{false};        // our thread, which may have the loader's lock then
  std::atomic<bool> is_synchronising{false};  // the program does, in ways that nobody sees
  std::atomic<uint32_t> news{0};
  std::atomic<const char*> refusal{nullptr};
  IsolationHost host;
  KnownPage known[kMostKnown];
  IsolatedPages pages;
  std::atomic<uint64_t> offered[kMostOffered] = {};
  uint64_t ticks_per_us = 0;  // of the time stamp counter
};
constinit Controller controller;

// Each thread's own, by its record. What is summed up there stays when the thread ends.
constinit PrivatePages pages_of[kMaxThreads];
constinit uint32_t followed[kMaxThreads];
constinit uint64_t cpu_seen[kMaxThreads];
constinit uint64_t commits_seen[kMaxThreads];
constinit int tid_seen[kMaxThreads];
constinit bool is_patched[kMaxThreads];  // the thread's twin

// Of each thread where pages are isolated untold.
struct Transactions {
  uint64_t average_ns;  // 0: of none yet
  uint64_t rests_until_ns;
};
constinit Transactions transactions[kMaxThreads];

size_t place_of(const ThreadRecord& record) noexcept {
  return static_cast<size_t>(&record - first_record());
}

uint64_t address_bits(uint64_t page) noexcept {
  return page / kPageBytes;
}

KnownPage* find_known(uint64_t page, bool adds) noexcept {
  const uint64_t first = address_bits(page) * 0x9e3779b97f4a7c15u >> 56;
  for (uint32_t step = 0; step < kMostKnown; ++step) {
    KnownPage& one = controller.known[(first + step) % kMostKnown];
    uint64_t there = one.page.load(std::memory_order_acquire);
    if (there == page) return &one;
    if (there) continue;
    if (!adds) return nullptr;
    if (one.page.compare_exchange_strong(there, page, std::memory_order_acq_rel)) return &one;
    if (there == page) return &one;
  }
  return nullptr;
}

void tell(const KnownPage& known, WhyShared why) noexcept {
  if (controller.host.tell) controller.host.tell({known.request, why, monotonic_ns()});
}

void set_shared(KnownPage& known, WhyShared why) noexcept {
  controller.pages.remove(known.page.load());
  known.state.store(KnownPage::State::Shared);
  tell(known, why);
}

template <typename Use>
void for_each_known(KnownPage::State state, Use use) noexcept {
  for (KnownPage& known : controller.known)
    if (known.state.load(std::memory_order_acquire) == state) use(known);
}

// In twins

// Not in the midst of an atomic instruction, or of code that works on common memory: then at the next
// request. Not at all where nobody is to have any.
bool may_take_pages() noexcept {
  return !is_at_atomic_site() && !is_in_region() && !controller.is_synchronising.load();
}

void take_pages() noexcept {
  if (!may_take_pages()) return;
  const size_t place = place_of(*this_record());
  own_pages = &pages_of[place];
  followed[place] = 0;
  controller.pages.follow(*own_pages, followed[place]);
}

// Without its atomic instructions a twin has no private pages.
void on_converted() noexcept {
  ThreadRecord& record = *this_record();
  is_patched[place_of(record)] = patch_atomic_sites();
  if (is_patched[place_of(record)]) take_pages();
}

void on_leaving() noexcept {
  if (!own_pages) return;
  own_pages->leave();
  own_pages = nullptr;
}

void on_call() noexcept {
  commit_own_pages();
}

void on_asked() noexcept {
  if (!own_pages && is_patched[place_of(*this_record())]) return take_pages();
  if (!own_pages || own_pages->is_busy()) return;
  own_pages->commit();
  if (!may_take_pages()) return;
  controller.pages.follow(*own_pages, followed[place_of(*this_record())]);
}

bool is_busy() noexcept {
  return own_pages && own_pages->is_busy_until(leave_where_asked);
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
  controller.is_synchronising.store(true);
  const StaysHome home;
  const AllAtHome all_at_home(true);
  controller.news.fetch_add(1);
  wake_all(controller.news);
}

// Which memory may be isolated

struct ModuleData {
  uint64_t page;
  bool is_found;
  bool is_system;
};

// Their data is for code of which some works on it atomically, by plain stores too.
bool is_system_library(const char* path) noexcept {
  constexpr const char* kSystem[] = {"libc.so", "ld-linux",  "libpthread",  "libstdc++", "libgcc_s",
                                     "libgomp", "libhpcrun", "libjemalloc", "libdl.so",  "librt.so"};
  const char* const slash = strrchr(path, '/');
  const char* const name = slash ? slash + 1 : path;
  for (const char* system : kSystem)
    if (strncmp(name, system, strlen(system)) == 0) return true;
  return false;
}

// The loader makes what is before it read-only: it begins the data.
uint64_t end_of_relro(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& header = module.dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) return page_down(module.dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  return 0;
}

// Calls use(low, high) for the pages of variables that programs and libraries of no system have.
template <typename Use>
int for_each_data(dl_phdr_info* module, size_t, void* raw) {
  if (is_system_library(module->dlpi_name)) return 0;
  const uint64_t after_relro = end_of_relro(*module);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    const uint64_t low = module->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W))
      (*static_cast<Use*>(raw))(std::max(page_down(low), after_relro), page_up(low + header.p_memsz));
  }
  return 0;
}

int find_data(dl_phdr_info* module, size_t, void* raw) {
  auto& data = *static_cast<ModuleData*>(raw);
  const uint64_t after_relro = end_of_relro(*module);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    const uint64_t low = module->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_W)) continue;
    if (data.page < std::max(page_down(low), after_relro) || data.page >= page_up(low + header.p_memsz))
      continue;
    data.is_found = true;
    data.is_system = is_system_library(module->dlpi_name);
  }
  return data.is_found;
}

WhyShared why_not(const KnownPage& known) noexcept {
  const uint64_t page = known.page.load();
  if (needs_common(page)) return WhyShared::SyncObject;
  if (!is_common(reinterpret_cast<const void*>(page)) || common_state.hold.altered.has(page))
    return WhyShared::NotCommon;
  if (common_state.hold.closed.has(page)) return WhyShared::SystemData;
  if (is_thread_stack(page) || (page >= common_state.stack_low && page < common_state.stack_high))
    return WhyShared::Stack;
  ModuleData data{page, false, false};
  dl_iterate_phdr(find_data, &data);
  if (data.is_found) return data.is_system ? WhyShared::SystemData : WhyShared::None;
  return known.request.is_allocation ? WhyShared::None : WhyShared::NotCommon;
}

void isolate(const PageRequest& request) noexcept {
  KnownPage* const known = find_known(page_down(request.address), true);
  KnownPage::State free = KnownPage::State::Free;
  if (!known || !known->state.compare_exchange_strong(free, KnownPage::State::Changing)) return;
  known->request = request;
  known->state.store(KnownPage::State::Asked, std::memory_order_release);
  controller.news.fetch_add(1);
  wake_all(controller.news);
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
  uint64_t ticks = 0;
  for (size_t i = 0; i < records_used(); ++i) {
    totals.commits += pages_of[i].commits();
    totals.merged_words += pages_of[i].merged();
    ticks += pages_of[i].timed_ticks();
  }
  totals.commit_ns = ns_of(ticks * PrivatePages::kTimed);
}

class Loop {
 public:
  void run() noexcept {
    const uint64_t begin_ns = monotonic_ns(), begin_ticks = __builtin_ia32_rdtsc();
    uint64_t next_look_ns = begin_ns + kIdleNs;
    for (;;) {
      const uint64_t now_ns = monotonic_ns();
      if (now_ns >= next_look_ns && is_alone()) return;
      if (now_ns >= next_look_ns) next_look_ns = now_ns + kIdleNs;
      if (const uint64_t us = (now_ns - begin_ns) / 1'000)
        controller.ticks_per_us = (__builtin_ia32_rdtsc() - begin_ticks) / us;
      const uint32_t news = controller.news.load();
      controller.is_at_work.store(true);
      const bool is_at_work = tick();
      controller.is_at_work.store(false);
      if (controller.is_forbidden.load() && !is_session_on()) return;
      wait_while(controller.news, news, is_at_work || controller.host.always ? kCommitNs : kIdleNs);
    }
  }

 private:
  // Whether all threads of the program are gone.
  static bool is_alone() noexcept {
    const int self = sys_gettid();
    bool alone = true;
    for_each_task([&](int tid) { alone &= tid == self || is_dead_task(tid); });
    return alone;
  }

  // False: nothing is isolated.
  bool tick() noexcept {
    if (controller.is_forbidden.load()) return drop_all(WhyShared::Forked);
    if (controller.is_synchronising.load()) {
      drop_all(WhyShared::AtomicCode);
      return !end_session();
    }
    for_each_known(KnownPage::State::Asked, [](KnownPage& known) {
      const WhyShared why = known.declined != WhyShared::None ? known.declined : why_not(known);
      if (why != WhyShared::None) return set_shared(known, why);
      if (!controller.pages.add(known.page.load())) return set_shared(known, WhyShared::TooMany);
      known.state.store(KnownPage::State::Isolated);
    });
    if (controller.host.always) choose_pages();
    needed_common.for_each([](uint64_t page, uint64_t why) {
      KnownPage* const known = find_known(page, false);
      if (known && known->state.load() == KnownPage::State::Isolated)
        set_shared(*known, static_cast<WhyShared>(why));
    });
    if (controller.pages.count() == 0) return !end_session();
    // What libraries that were loaded since have is private to each process: the next session has it common.
    if (is_session_on() && modules_have_changed() && !end_session()) return true;
    if (!know_atomic_sites()) {
      controller.refusal.store(why_atomic_sites_are_unknown());
      drop_all(WhyShared::AtomicModule);
      return !end_session();
    }
    if (!is_session_on() && !begin_session()) return controller.pages.count() > 0;
    for_each_known(KnownPage::State::Isolated, [this](KnownPage& known) {
      if (known.is_told) return;
      known.is_told = true;
      tell(known, WhyShared::None);
    });
    visit_threads();
    if (!controller.host.always) weigh();
    return true;
  }

  bool drop_all(WhyShared why) noexcept {
    for_each_known(KnownPage::State::Asked, [why](KnownPage& known) { set_shared(known, why); });
    for_each_known(KnownPage::State::Isolated, [why](KnownPage& known) { set_shared(known, why); });
    return false;
  }

  // No session begins once a fork is under way, which ends the one that is on.
  bool begin_session() noexcept {
    SessionStart result = SessionStart::Unreachable;
    if (!controller.is_forbidden.load()) {
      SessionOptions options;
      options.request_signal = controller.host.request_signal;
      options.hooks = {.converted = on_converted,
                       .before_leaving = on_leaving,
                       .before_call = on_call,
                       .after_call = on_call,
                       .asked = on_asked,
                       .is_busy = is_busy,
                       .all_stopped = [] { return make_common(OtherThreads::Stopped); },
                       .place_in_program = leave_atomic_site,
                       .before_fork = before_fork};
      result = begin_isolation(options);
    }
    if (result == SessionStart::Done || result == SessionStart::AlreadyOn) {
      tries_ = 0;
      weighed_ns_ = monotonic_ns();
      IsolationTotals now;
      sum_up(now);
      weighed_ = now;
      return true;
    }
    if (result != SessionStart::Unreachable || ++tries_ == kMostBeginnings) drop_all(WhyShared::NoSession);
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
    for_each_record([&](ThreadRecord& record) {
      if (&record == self || !has_worked(record)) return;
      if (controller.host.always && rests(record, now_ns)) return;
      if (record.where.load() == Where::Home)
        ask_to_convert(record);
      else
        ask_to_commit(record);
    });
    visited_ns_ = now_ns;
  }

  // Where pages are isolated untold, transactions - what is between two commits - have to be long enough to
  // be worth it, by their exponential average; a thread whose are not stays at home for a while, and is tried
  // again (SHERIFF, section 3.3).
  bool rests(ThreadRecord& record, uint64_t now_ns) noexcept {
    constexpr uint64_t kRestNs = 1'000'000'000;
    constexpr uint64_t kWorth = 20;  // commits that a transaction has to be as long as
    constexpr uint64_t kLeastNs = 10'000;
    Transactions& of = transactions[place_of(record)];
    if (now_ns < of.rests_until_ns) return true;
    if (record.where.load() == Where::Home) return false;
    const PrivatePages& pages = pages_of[place_of(record)];
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

  // From among what was allocated lately, and the variables, some pages at a time.
  void choose_pages() noexcept {
    constexpr uint64_t kChooseNs = 100'000'000;
    constexpr uint32_t kMostChosen = 48;
    const uint64_t now_ns = monotonic_ns();
    if (now_ns - chosen_ns_ < kChooseNs) return;
    chosen_ns_ = now_ns;
    for_each_known(KnownPage::State::Isolated, [this](KnownPage& known) {
      constexpr uint64_t kLeaves = 4;  // one of so many
      if (next_random() % kLeaves) return;
      controller.pages.remove(known.page.load());
      known.state.store(KnownPage::State::Free);
    });
    const auto choose = [this](uint64_t page, bool is_allocation) {
      if (controller.pages.count() + asked_ < kMostChosen && next_random() % 2) {
        isolate({page, is_allocation, 0});
        ++asked_;
      }
    };
    asked_ = 0;
    for (const std::atomic<uint64_t>& offered : controller.offered)
      if (const uint64_t page = offered.load(std::memory_order_relaxed)) choose(page, true);
    auto choose_all = [&](uint64_t low, uint64_t high) {
      for (uint64_t page = low; page < high; page += kPageBytes) choose(page, false);
    };
    dl_iterate_phdr(for_each_data<decltype(choose_all)>, &choose_all);
  }

  uint64_t next_random() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    return random_ ^= random_ << 17;
  }

  // What isolation takes of the twins' time against what was lost before.
  void weigh() noexcept {
    const uint64_t now_ns = monotonic_ns();
    if (now_ns - weighed_ns_ < kWeighNs) return;
    IsolationTotals now;
    sum_up(now);
    const uint64_t cpu = now.twins_cpu_ns - weighed_.twins_cpu_ns;
    constexpr uint64_t kBothWays = 2;
    const uint64_t cost =
        now.commit_ns - weighed_.commit_ns + kBothWays * (now.conversion_ns - weighed_.conversion_ns);
    weighed_ = now;
    weighed_ns_ = now_ns;
    uint64_t share = 0;
    for_each_known(KnownPage::State::Isolated,
                   [&share](const KnownPage& known) { share += known.request.share_ppm; });
    constexpr uint64_t kWhole = 1'000'000;
    const bool is_expensive = cost * kWhole > share * cpu / 2 && cost > kWeighNs / 100;
    expensive_ = is_expensive ? expensive_ + 1 : 0;
    if (expensive_ < kMostExpensive) return;
    expensive_ = 0;
    for_each_known(KnownPage::State::Isolated,
                   [](KnownPage& known) { set_shared(known, WhyShared::Expensive); });
  }

  uint64_t visited_ns_ = 0;
  uint64_t chosen_ns_ = 0;
  uint32_t asked_ = 0;
  uint64_t random_ = 0x9e3779b97f4a7c15u;
  uint32_t tries_ = 0;
  uint32_t expensive_ = 0;
  uint64_t weighed_ns_ = 0;
  IsolationTotals weighed_;
};

void* run_controller(void*) {
  Loop loop;
  loop.run();
  controller.pid.store(0, std::memory_order_release);
  return nullptr;
}

// Of the interface

bool start(const IsolationHost& host) noexcept {
  if (common_memory_file() < 0) return false;
  controller.host = host;
  set_before_atomic(host.always ? nullptr : before_atomic);
  return true;
}

const char* refusal() noexcept {
  if (controller.refusal.load()) return controller.refusal.load();
  return common_memory_file() < 0 ? why_not_common() : nullptr;
}

// Of a page that is not known, that is all that becomes of it.
void decline(const PageRequest& request, WhyShared why) noexcept {
  KnownPage* const known = find_known(page_down(request.address), true);
  if (!known) return;
  KnownPage::State free = KnownPage::State::Free;
  if (known->state.compare_exchange_strong(free, KnownPage::State::Changing)) {
    known->request = request;
    known->declined = why;
    known->state.store(KnownPage::State::Asked, std::memory_order_release);
  } else {
    needed_common.add(known->page.load(), static_cast<uint64_t>(why));
  }
  controller.news.fetch_add(1);
  wake_all(controller.news);
}

void close(const void* at, uint64_t bytes) noexcept {
  const auto low = reinterpret_cast<uint64_t>(at);
  if (common_memory_file() < 0 || low + bytes >= kAddressSpaceBytes) return;
  common_state.hold.closed.set(page_down(low), page_up(low + bytes));
  end_isolation_of(low, low + bytes);
}

// The latest of each kind.
void offer(const void* at) noexcept {
  if (!controller.host.always) return;
  const uint64_t page = page_down(reinterpret_cast<uint64_t>(at));
  std::atomic<uint64_t>& place = controller.offered[address_bits(page) % kMostOffered];
  if (place.load(std::memory_order_relaxed) != page) place.store(page, std::memory_order_relaxed);
}

void totals(IsolationTotals& out) noexcept {
  sum_up(out);
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
  const uint64_t mask = set_kernel_mask(kAllSignals & ~kFaultSignals & ~signal_bit(SIGSYS));
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

bool end_isolation_for_fork() noexcept {
  controller.is_forbidden.store(true);
  while (controller.is_at_work.load()) raw_syscall(SYS_sched_yield);
  if (!end_session_here()) return false;
  controller.news.fetch_add(1);  // our thread ends
  wake_all(controller.news);
  return true;
}

void allow_isolation() noexcept {
  controller.is_forbidden.store(false);
}

void controller_after_fork() noexcept {
  controller.pid.store(0);
  controller.is_forbidden.store(false);
  controller.is_synchronising.store(false);
  controller.is_at_work.store(false);
  controller.pages.clear();
  needed_common.clear();
  for (KnownPage& known : controller.known) {
    known.page.store(0);
    known.state.store(KnownPage::State::Free);
    known.declined = WhyShared::None;
    known.is_told = false;
  }
  own_pages = nullptr;
}

void end_isolation_of(uint64_t low, uint64_t high) noexcept {
  if (controller.pages.count() == 0) return;
  bool is_hit = false;
  for_each_known(KnownPage::State::Isolated, [&](KnownPage& known) {
    const uint64_t page = known.page.load();
    if (page < page_down(low) || page >= page_up(high)) return;
    needed_common.add(page, static_cast<uint64_t>(WhyShared::Remapped));
    controller.pages.remove(page);
    is_hit = true;
  });
  if (!is_hit) return;
  const StaysHome home;
  bring_all_home();
  release_twins();
}

}  // namespace hpcrun

const hpcrun::Isolation hpcrun_isolation = {hpcrun::start, hpcrun::refusal, hpcrun::isolate, hpcrun::decline,
                                            hpcrun::close, hpcrun::offer,   hpcrun::totals};
