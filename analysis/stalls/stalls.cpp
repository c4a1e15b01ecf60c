#include "analysis/stalls/stalls.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>

#include "analysis/stalls/barriers.h"
#include "analysis/stalls/interval_set.h"
#include "analysis/stalls/median.h"
#include "analysis/stalls/stays.h"

namespace prof {
namespace {

constexpr uint64_t kMillion = 1'000'000;

struct Trace {
  uint32_t profile;
  uint64_t begin = UINT64_MAX, end = 0;
  uint64_t median_ns = 0;
  uint64_t blocked_ns = 0;  // in intervals that are long for the run's typical trace
  uint64_t child_wait_ns = 0;
  bool meets_others = false;  // is in a barrier at some time
  bool is_bystander = false;
  uint32_t program = kNone;  // the module in which its call paths begin
};

struct LongInterval {
  uint64_t begin, end;
  uint32_t trace;  // index into traces_
  uint32_t context;
  bool in_barrier;
};

std::vector<std::string> all_barriers(const StallOptions& options) {
  std::vector<std::string> patterns = known_barriers();
  patterns.insert(patterns.end(), options.barriers.begin(), options.barriers.end());
  return patterns;
}

// Contexts come after those that enclose them.
WaitsOfContexts waits_of_contexts(const Database& database, const std::vector<std::string>& barriers) {
  WaitsOfContexts waits{contexts_in(database, barriers), {}};
  const std::vector<bool> blocking = contexts_in(database, known_blocking_calls());
  for (uint32_t c = 0; c < blocking.size(); ++c) {
    const uint32_t parent = database.contexts[c].parent;
    const bool is_blocked = blocking[c] && !waits.in_barrier[c];
    const bool goes_on = is_blocked && parent != kNone && waits.blocking_call[parent] != kNone;
    waits.blocking_call.push_back(goes_on ? waits.blocking_call[parent] : is_blocked ? c : kNone);
  }
  return waits;
}

class StallFinder {
 public:
  StallFinder(const Database& database, const StallOptions& options)
      : database_(database),
        options_(options),
        share_ppm_(static_cast<uint64_t>(std::llround(options.share * kMillion))),
        waits_(waits_of_contexts(database, all_barriers(options))),
        in_child_wait_(contexts_in(database, known_child_waits())) {}

  StallAnalysis find(const std::vector<uint32_t>& profiles) {
    measure_medians(profiles);
    collect_long_intervals();
    leave_out_bystanders();
    find_sparse_times();
    keep_where_all_others_wait();
    keep_long_unwoken_times();
    assemble();
    find_waiting_contexts();
    split_device_waits();
    return std::move(result_);
  }

 private:
  TraceSource source(const Trace& trace) const {
    const TraceSource& records = database_.traces[trace.profile];
    if (!options_.is_cancelled) return records;
    return [source = records, is_cancelled = options_.is_cancelled](std::vector<TraceRecord>& block) mutable {
      if (is_cancelled()) throw StallsCancelled();
      return source(block);
    };
  }

  bool is_in_barrier(uint32_t context) const { return waits_.is_barrier(context); }

  template <class Visit>
  void for_each_stay_of(const Trace& trace, const Visit& visit) const {
    for_each_stay(
        source(trace), waits_, [&](uint64_t ns) { return !is_longer(ns, trace.median_ns); }, visit);
  }

  bool is_longer(uint64_t ns, uint64_t median_ns) const {
    return static_cast<double>(ns) > options_.factor * static_cast<double>(median_ns);
  }

  bool is_long(const Stay& interval, const Trace& trace) const {
    return interval.context != kNone && is_longer(interval.end - interval.begin, trace.median_ns);
  }

  bool is_sparse(uint64_t count, uint64_t traces) const {
    return count < traces && count * kMillion < share_ppm_ * traces;
  }

  void measure_medians(const std::vector<uint32_t>& profiles) {
    std::vector<uint64_t> medians;
    for (const uint32_t profile : profiles) {
      if (!has_thread_trace(database_, profile)) continue;
      Trace trace{profile};
      const uint64_t median = median_of([&](const auto& visit) {
        for_each_interval(source(trace), [&](const Stay& interval) {
          trace.begin = std::min(trace.begin, interval.begin);
          trace.end = std::max(trace.end, interval.end);
          if (interval.context != kNone) visit(interval.end - interval.begin);
        });
      });
      if (trace.begin >= trace.end) continue;
      trace.median_ns = std::max(median, options_.period_ns);
      medians.push_back(trace.median_ns);
      traces_.push_back(trace);
    }
    if (traces_.empty()) return;
    const auto middle = medians.begin() + static_cast<ptrdiff_t>((medians.size() - 1) / 2);
    std::nth_element(medians.begin(), middle, medians.end());
    typical_median_ns_ = *middle;
    result_.begin_ns = std::ranges::min(traces_, {}, &Trace::begin).begin;
    result_.end_ns = std::ranges::max(traces_, {}, &Trace::end).end;
  }

  void collect_long_intervals() {
    for (uint32_t t = 0; t < traces_.size(); ++t) {
      Trace& trace = traces_[t];
      for_each_stay_of(trace, [&](const Stay& interval) {
        if (interval.context == kNone) return;
        const bool in_barrier = is_in_barrier(interval.context);
        trace.meets_others |= in_barrier;
        const uint64_t ns = interval.end - interval.begin;
        if (is_longer(ns, typical_median_ns_)) trace.blocked_ns += ns;
        if (in_child_wait_[interval.context]) trace.child_wait_ns += ns;
        if (trace.program == kNone) trace.program = program_of(interval.context);
        if (is_longer(ns, trace.median_ns))
          long_intervals_.push_back({interval.begin, interval.end, t, interval.context, in_barrier});
      });
    }
  }

  uint32_t program_of(uint32_t context) const {
    uint32_t program = kNone;
    for (uint32_t at = context; at != kNone; at = database_.contexts[at].parent)
      if (const uint32_t function = database_.contexts[at].function; function < database_.functions.size())
        program = database_.functions[function].module;
    return program;
  }

  void leave_out_bystanders() {
    using Process = std::tuple<std::string, int32_t, int32_t>;
    const auto process = [&](const Trace& trace) {
      const ProfileId& id = database_.profiles[trace.profile].id;
      return Process(id.host, id.rank, id.process);
    };
    std::map<Process, uint32_t> programs;  // those of their main threads
    for (const Trace& trace : traces_)
      if (database_.profiles[trace.profile].id.thread == 0) programs[process(trace)] = trace.program;
    const auto program = [&](const Trace& trace) {
      const auto found = programs.find(process(trace));
      return found == programs.end() ? kNone : found->second;
    };
    std::set<Process> meeting;
    std::set<uint32_t> meeting_programs;
    for (const Trace& trace : traces_) {
      if (!trace.meets_others) continue;
      meeting.insert(process(trace));
      meeting_programs.insert(program(trace));
    }
    const bool all_known = !meeting.empty() && !meeting_programs.contains(kNone);
    for (Trace& trace : traces_) {
      const uint64_t half = (trace.end - trace.begin) / 2;
      trace.is_bystander =
          !trace.meets_others &&
          ((trace.blocked_ns > half && meeting.contains(process(trace))) || trace.child_wait_ns > half ||
           (all_known && program(trace) != kNone && !meeting_programs.contains(program(trace))));
      ++(trace.is_bystander ? result_.bystanders : result_.traces);
    }
    std::erase_if(long_intervals_, [&](const LongInterval& one) { return traces_[one.trace].is_bystander; });
    for (const LongInterval& one : long_intervals_) {
      if (one.in_barrier) continue;
      ++result_.long_intervals;
      result_.longest_ns = std::max(result_.longest_ns, one.end - one.begin);
    }
  }

  struct Counts {
    int64_t traces = 0, blocked = 0, silent_in_barrier = 0;
  };

  void find_sparse_times() {
    std::map<uint64_t, Counts> changes;
    const auto count = [&](uint64_t begin, uint64_t end, int64_t Counts::*which) {
      ++(changes[begin].*which);
      --(changes[end].*which);
    };
    for (const Trace& trace : traces_)
      if (!trace.is_bystander) count(trace.begin, trace.end, &Counts::traces);
    for (const LongInterval& one : long_intervals_)
      count(one.begin, one.end, one.in_barrier ? &Counts::silent_in_barrier : &Counts::blocked);

    Counts now;
    for (auto at = changes.begin(); at != changes.end(); ++at) {
      now.traces += at->second.traces;
      now.blocked += at->second.blocked;
      now.silent_in_barrier += at->second.silent_in_barrier;
      const auto next = std::next(at);
      if (next == changes.end()) break;
      const auto traces = static_cast<uint64_t>(now.traces);
      if (now.blocked > 0 && is_sparse(static_cast<uint64_t>(now.blocked), traces))
        stalled_.add(at->first, next->first);
      if (now.blocked == 0 && now.silent_in_barrier > 0 &&
          is_sparse(static_cast<uint64_t>(now.silent_in_barrier), traces))
        unwoken_.add(at->first, next->first);
    }
  }

  void drop(uint64_t begin, uint64_t end) {
    stalled_.remove(begin, end);
    unwoken_.remove(begin, end);
  }

  // Removes the times at which some trace is neither blocked nor in a barrier. Times at which that is unknown
  // are removed last, so that their total can be computed.
  void keep_where_all_others_wait() {
    IntervalSet unknown;
    for (const Trace& trace : traces_) {
      if (trace.is_bystander) continue;
      if (stalled_.empty() && unwoken_.empty()) return;
      Stay busy{0, 0, 0};  // contiguous intervals are removed together
      for_each_stay_of(trace, [&](const Stay& interval) {
        if (is_in_barrier(interval.context) || is_long(interval, trace)) return;
        if (interval.context == kNone) return unknown.add(interval.begin, interval.end);
        if (interval.begin != busy.end) {
          drop(busy.begin, busy.end);
          busy.begin = interval.begin;
        }
        busy.end = interval.end;
      });
      drop(busy.begin, busy.end);
    }
    const uint64_t before = stalled_.total();
    for (const auto& [begin, end] : unknown) drop(begin, end);
    result_.unknown_ns = before - stalled_.total();
  }

  // Removes short times: all traces appear to be in a barrier between one trace's last sample before it and
  // its opening.
  void keep_long_unwoken_times() {
    IntervalSet kept;
    for (const auto& [begin, end] : unwoken_)
      if (is_longer(end - begin, typical_median_ns_)) kept.add(begin, end);
    unwoken_ = std::move(kept);
  }

  void assemble() {
    std::ranges::sort(long_intervals_, {},
                      [](const LongInterval& one) { return std::pair(one.begin, one.trace); });
    for (const LongInterval& one : long_intervals_) {
      const uint64_t lost = (one.in_barrier ? unwoken_ : stalled_).overlap(one.begin, one.end);
      if (lost == 0) continue;
      if (result_.stalls.empty() || one.begin >= result_.stalls.back().end_ns)
        result_.stalls.push_back({one.begin, one.end, 0, kNone, kNone, {}});
      Stall& stall = result_.stalls.back();
      stall.end_ns = std::max(stall.end_ns, one.end);
      stall.threads.push_back({traces_[one.trace].profile, one.context, one.begin, one.end, lost});
    }
    for (Stall& stall : result_.stalls) {
      stall.lost_ns =
          stalled_.overlap(stall.begin_ns, stall.end_ns) + unwoken_.overlap(stall.begin_ns, stall.end_ns);
      result_.lost_ns += stall.lost_ns;
      std::ranges::stable_sort(stall.threads, std::greater(), &StalledThread::lost_ns);
    }
  }

  // Returns the first time at which the run is stalled in a stall.
  uint64_t first_lost(const Stall& stall) const {
    uint64_t first = stall.end_ns;
    for (const IntervalSet* set : {&stalled_, &unwoken_})
      if (const auto at = set->first_after(stall.begin_ns); at != set->end())
        first = std::min(first, std::max(at->first, stall.begin_ns));
    return first;
  }

  // Uses up to three traces, those with the fewest stalls first, because a waiting trace must not be stalled
  // itself.
  void find_waiting_contexts() {
    std::map<uint32_t, size_t> stalls_of;
    for (const Stall& stall : result_.stalls)
      for (const StalledThread& thread : stall.threads) ++stalls_of[thread.profile];
    std::vector<const Trace*> traces;
    for (const Trace& trace : traces_)
      if (!trace.is_bystander) traces.push_back(&trace);
    std::ranges::stable_sort(traces, {}, [&](const Trace* trace) {
      const auto found = stalls_of.find(trace->profile);
      return found == stalls_of.end() ? 0 : found->second;
    });
    std::vector<uint64_t> times;
    for (const Stall& stall : result_.stalls) times.push_back(first_lost(stall));
    constexpr size_t kTracesToAsk = 3;
    for (size_t t = 0; t < std::min(kTracesToAsk, traces.size()); ++t) {
      size_t at = 0;
      for_each_interval(source(*traces[t]), [&](const Stay& interval) {
        if (!is_in_barrier(interval.context)) return;
        while (at < times.size() && result_.stalls[at].end_ns <= interval.begin) ++at;
        for (size_t s = at; s < times.size() && times[s] < interval.end; ++s) {
          Stall& stall = result_.stalls[s];
          if (stall.waiting == kNone && !is_stalled(stall, *traces[t])) stall.waiting = interval.context;
        }
      });
    }
    for (Stall& stall : result_.stalls) stall.barrier = barrier_of(stall.waiting);
  }

  // Returns the outermost context on the path to this one that is inside a barrier.
  uint32_t barrier_of(uint32_t context) const {
    while (context != kNone && is_in_barrier(database_.contexts[context].parent))
      context = database_.contexts[context].parent;
    return context;
  }

  static bool is_stalled(const Stall& stall, const Trace& trace) {
    return std::ranges::find(stall.threads, trace.profile, &StalledThread::profile) != stall.threads.end();
  }

  // The device was done when the wake-up latency begins. Intervals of one trace do not overlap.
  void split_device_waits() {
    if (result_.stalls.empty() || !database_.device_waits) return;
    std::map<uint32_t, std::vector<StalledThread*>> by_profile;  // in the order of time
    for (Stall& stall : result_.stalls)
      for (StalledThread& thread : stall.threads) by_profile[thread.profile].push_back(&thread);
    for (auto& [profile, threads] : by_profile) std::ranges::sort(threads, {}, &StalledThread::begin_ns);
    DeviceWaitSource next = database_.device_waits;
    std::vector<WaitForDevice> block;
    while (next(block)) {
      for (const WaitForDevice& wait : block) {
        const auto found = by_profile.find(wait.thread);
        if (found == by_profile.end()) continue;
        const uint64_t done = wait.end_ns - wait.wake_latency_ns;
        for (auto at = std::ranges::upper_bound(found->second, wait.begin_ns, {}, &StalledThread::end_ns);
             at != found->second.end() && (*at)->begin_ns < wait.end_ns; ++at) {
          (*at)->waited_for_device_ns += lost_in(**at, wait.begin_ns, done);
          (*at)->woken_late_ns += lost_in(**at, done, wait.end_ns);
        }
      }
    }
  }

  uint64_t lost_in(const StalledThread& thread, uint64_t begin, uint64_t end) const {
    begin = std::max(begin, thread.begin_ns);
    end = std::min(end, thread.end_ns);
    return begin >= end ? 0 : stalled_.overlap(begin, end) + unwoken_.overlap(begin, end);
  }

  const Database& database_;
  const StallOptions& options_;
  const uint64_t share_ppm_;  // so that 10 % of 30 is exactly 3
  const WaitsOfContexts waits_;
  const std::vector<bool> in_child_wait_;  // per context
  std::vector<Trace> traces_;
  uint64_t typical_median_ns_ = 0;  // the median of the medians
  std::vector<LongInterval> long_intervals_;
  IntervalSet stalled_;  // some trace is blocked, all others are in a barrier
  IntervalSet unwoken_;  // all traces are in a barrier
  StallAnalysis result_;
};

}  // namespace

bool has_thread_trace(const Database& database, uint32_t profile) {
  const ProfileId& id = database.profiles[profile].id;
  return id.device < 0 && id.queue < 0 && profile < database.traces.size() && database.traces[profile];
}

StallAnalysis find_stalls(const Database& database, const std::vector<uint32_t>& profiles,
                          const StallOptions& options) {
  return StallFinder(database, options).find(profiles);
}

}  // namespace prof
