#pragma once
// Converts a trace to intervals: the context of a thread from one time to another.

#include <cstdint>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

struct Stay {
  uint64_t begin, end;  // ns
  uint32_t context;     // kNone for a gap
};

// Visits the intervals between the records of a trace, each with the context of the record that begins it.
template <class Visit>
void for_each_interval(const TraceSource& trace, const Visit& visit) {
  TraceSource source = trace;  // a copy, with a position of its own
  std::vector<TraceRecord> block;
  TraceRecord last{};
  bool is_first = true;
  while (source(block)) {
    for (const TraceRecord& record : block) {
      if (!is_first && record.time_ns > last.time_ns) visit(Stay{last.time_ns, record.time_ns, last.context});
      is_first = false;
      last = record;
    }
  }
}

// Records which contexts are waits. A wait is identified by its outermost context.
struct WaitsOfContexts {
  std::vector<bool> in_barrier;
  std::vector<uint32_t> blocking_call;  // kNone if in none, or in a barrier

  uint32_t call(uint32_t context) const { return context == kNone ? kNone : blocking_call[context]; }
  bool is_barrier(uint32_t context) const { return context != kNone && in_barrier[context]; }
  bool are_one_wait(uint32_t one, uint32_t other) const {
    return (is_barrier(one) && is_barrier(other)) || (call(one) != kNone && call(one) == call(other));
  }
};

// The same as for_each_interval(), with two differences:
// - A gap for which `is_short(ns)` holds, between two intervals in one wait, belongs to that wait: samples
//   wake a waiting thread, which then waits for a processor to take them.
// - Consecutive intervals in one blocking call are one, in the context of the call, because samples interrupt
//   the call and it resumes. (In a barrier, samples show that the thread could be woken.)
template <class IsShort, class Visit>
void for_each_stay(const TraceSource& trace, const WaitsOfContexts& waits, const IsShort& is_short,
                   const Visit& visit) {
  Stay stay{0, 0, kNone}, gap{0, 0, kNone};  // may continue; empty if there is none
  const auto end = [&](Stay& one) {
    if (one.end > one.begin) visit(one);
    one = {0, 0, kNone};
  };
  for_each_interval(trace, [&](const Stay& next) {
    const bool has_gap = gap.end > gap.begin;
    if (has_gap && waits.are_one_wait(stay.context, next.context)) {
      if (waits.is_barrier(next.context)) {
        gap.context = stay.context;
      } else {
        stay.end = gap.end;
        gap = {0, 0, kNone};
      }
    }
    if (gap.end <= gap.begin && stay.end == next.begin && waits.call(next.context) != kNone &&
        waits.call(next.context) == waits.call(stay.context)) {
      stay.end = next.end;
      return;
    }
    if (next.context == kNone && !has_gap && waits.are_one_wait(stay.context, stay.context) &&
        is_short(next.end - next.begin)) {
      gap = next;
      return;
    }
    end(stay);
    end(gap);
    stay = next;
    if (waits.call(next.context) != kNone) stay.context = waits.call(next.context);
  });
  end(stay);
  end(gap);
}

}  // namespace prof
