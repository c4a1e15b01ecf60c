// Random traces, compared with a literal implementation of a stall's definition, one nanosecond at a time.

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "analysis/stalls/stalls.h"
#include "tests/analysis/stalls/traced_run.h"

using namespace prof;
using namespace prof::test;

namespace {

// Returns 32-bit numbers, as contexts have.
struct Random {
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine()); }
  std::mt19937 engine;
};

bool is_made_barrier(uint32_t context) {
  return context == kBarrier || context == kInBarrier;
}

TracedRun random_run(Random& random) {
  const auto one_in = [&](uint32_t n) { return random() % n == 0; };
  TracedRun run;
  const uint32_t threads = 2 + random() % 12;
  const uint32_t per_process = 1 + random() % 2;
  const uint32_t haste = 2 + random() % 60;  // how rarely contexts change
  for (uint32_t t = 0; t < threads; ++t) {
    run.thread(static_cast<int32_t>(t / per_process), static_cast<int32_t>(t % per_process));
    std::vector<TraceRecord> records;
    uint64_t time = one_in(4) ? random() % 100 : 0;
    const uint64_t end = one_in(4) ? 250 + random() % 200 : 400;
    const bool only_waits = t % per_process == 1 && one_in(2);
    uint32_t context = kBarrier;
    while (time < end) {
      if (one_in(haste)) context = one_in(5) ? kCompute : one_in(3) ? kInBarrier : kBarrier;
      if (one_in(2 * haste)) context = kCondition;
      if (context == kCondition || context == kInCondition) context = one_in(2) ? kCondition : kInCondition;
      uint32_t now = context;
      uint64_t step = 1 + random() % 3;
      if (one_in(40)) {
        step = 5 + random() % 60;
        now = one_in(4) ? kInBarrier : one_in(4) ? kNone : kBlocked;
      }
      if (only_waits) {
        now = one_in(20) ? kCompute : kBlocked;
        step = one_in(3) ? 20 + random() % 200 : 1;
      }
      records.push_back({time, now});
      // Two records with the same time; for a gap the second one is decisive.
      if (one_in(50) && now != kNone) records.push_back({time, now});
      time += step;
    }
    records.push_back({time, kNone});
    run.records(t, records);
  }
  return run;
}

struct Expected {
  uint64_t lost = 0, unknown = 0;
  uint32_t bystanders = 0;
};

class Reference {
 public:
  Reference(const TracedRun& run, const StallOptions& options) : run_(run), options_(options) {
    for (size_t t = 0; t < run.traces.size(); ++t) {
      traces_.push_back(run.traces[t]);
      traces_.back().push_back({run.ends[t], kNone});
      medians_.push_back(median_of_trace(traces_.back()));
    }
    typical_ = median(medians_);
    for (size_t t = 0; t < traces_.size(); ++t) {
      fill_gaps(traces_[t], medians_[t]);
      join_waits(traces_[t]);
    }
    for (size_t t = 0; t < traces_.size(); ++t) bystander_.push_back(is_bystander(t));
  }

  Expected expected() const {
    Expected result;
    result.bystanders = static_cast<uint32_t>(std::ranges::count(bystander_, true));
    uint64_t unwoken = 0;
    for (uint64_t time = 0; time <= 600; ++time) {
      uint64_t traces = 0, blocked = 0, silent = 0, gaps = 0, busy = 0;
      for (size_t t = 0; t < traces_.size(); ++t) {
        if (bystander_[t]) continue;
        uint32_t context = 0;
        uint64_t length = 0;
        if (!at(t, time, context, length)) continue;
        ++traces;
        const bool is_long = context != kNone && is_longer(length, medians_[t]);
        if (context == kNone) {
          ++gaps;
        } else if (is_made_barrier(context)) {
          silent += is_long;
        } else {
          ++(is_long ? blocked : busy);
        }
      }
      const auto sparse = [&](uint64_t n) {
        return n > 0 && n < traces && n * 100 < static_cast<uint64_t>(options_.share * 100 + 0.5) * traces;
      };
      const bool stalled = sparse(blocked) && busy == 0;
      result.lost += stalled && gaps == 0;
      result.unknown += stalled && gaps > 0;
      if (blocked == 0 && sparse(silent) && busy == 0 && gaps == 0) {
        ++unwoken;
      } else {
        if (is_longer(unwoken, typical_)) result.lost += unwoken;
        unwoken = 0;
      }
    }
    return result;
  }

 private:
  static bool is_condition(uint32_t context) { return context == kCondition || context == kInCondition; }

  void fill_gaps(std::vector<TraceRecord>& records, uint64_t median) const {
    const std::vector<TraceRecord> before = records;
    for (size_t i = 1; i + 1 < before.size(); ++i) {
      const uint32_t last = before[i - 1].context, next = before[i + 1].context;
      if (before[i].context == kNone && !is_longer(before[i + 1].time_ns - before[i].time_ns, median) &&
          ((is_made_barrier(last) && is_made_barrier(next)) || (is_condition(last) && is_condition(next))))
        records[i].context = last;
    }
  }

  static void join_waits(std::vector<TraceRecord>& records) {
    for (size_t i = 1; i < records.size();)
      is_condition(records[i - 1].context) && is_condition(records[i].context)
          ? records.erase(records.begin() + static_cast<ptrdiff_t>(i))
          : records.begin() + static_cast<ptrdiff_t>(++i);
  }

  static uint64_t median(std::vector<uint64_t> numbers) {
    if (numbers.empty()) return 0;
    std::ranges::sort(numbers);
    return numbers[(numbers.size() - 1) / 2];
  }

  uint64_t median_of_trace(const std::vector<TraceRecord>& records) const {
    std::vector<uint64_t> lengths;
    for (size_t i = 0; i + 1 < records.size(); ++i)
      if (records[i].context != kNone && records[i + 1].time_ns > records[i].time_ns)
        lengths.push_back(records[i + 1].time_ns - records[i].time_ns);
    return std::max(median(lengths), options_.period_ns);
  }

  bool is_longer(uint64_t length, uint64_t median) const {
    return static_cast<double>(length) > options_.factor * static_cast<double>(median);
  }

  // Returns false if the trace does not exist.
  bool at(size_t trace, uint64_t time, uint32_t& context, uint64_t& length) const {
    const std::vector<TraceRecord>& records = traces_[trace];
    for (size_t i = 0; i + 1 < records.size(); ++i) {
      if (records[i].time_ns > time || records[i + 1].time_ns <= time) continue;
      context = records[i].context;
      length = records[i + 1].time_ns - records[i].time_ns;
      return true;
    }
    return false;
  }

  bool meets_others(size_t trace) const {
    const std::vector<TraceRecord>& records = traces_[trace];
    for (size_t i = 0; i + 1 < records.size(); ++i)
      if (is_made_barrier(records[i].context) && records[i + 1].time_ns > records[i].time_ns) return true;
    return false;
  }

  bool is_bystander(size_t trace) const {
    if (meets_others(trace)) return false;
    bool process_meets = false;
    for (size_t t = 0; t < traces_.size(); ++t)
      process_meets |=
          run_.database.profiles[t].id.rank == run_.database.profiles[trace].id.rank && meets_others(t);
    const std::vector<TraceRecord>& records = traces_[trace];
    uint64_t blocked = 0;
    for (size_t i = 0; i + 1 < records.size(); ++i) {
      const uint64_t length = records[i + 1].time_ns - records[i].time_ns;
      if (records[i].context != kNone && is_longer(length, typical_)) blocked += length;
    }
    return process_meets && blocked > (records.back().time_ns - records.front().time_ns) / 2;
  }

  const TracedRun& run_;
  const StallOptions& options_;
  std::vector<std::vector<TraceRecord>> traces_;
  std::vector<uint64_t> medians_;
  uint64_t typical_ = 0;
  std::vector<bool> bystander_;
};

}  // namespace

TEST_CASE("Random traces have the stalls that the definition says") {
  Random random(2026);
  uint64_t with_loss = 0, with_unknown = 0, with_bystanders = 0, with_several = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    CAPTURE(turn);
    const TracedRun run = random_run(random);
    StallOptions options;
    options.share = std::vector<double>{0.1, 0.2, 0.3, 0.5, 1}[random() % 5];
    options.factor = std::vector<double>{2, 3.5, 5, 10}[random() % 4];
    options.period_ns = random() % 3;
    const Expected expected = Reference(run, options).expected();
    const StallAnalysis found = find_stalls(run.build(1 + random() % 50), run.everyone(), options);
    REQUIRE(found.lost_ns == expected.lost);
    REQUIRE(found.unknown_ns == expected.unknown);
    REQUIRE(found.bystanders == expected.bystanders);
    uint64_t sum = 0, last_end = 0;
    for (const Stall& stall : found.stalls) {
      REQUIRE(stall.begin_ns >= last_end);
      last_end = stall.end_ns;
      sum += stall.lost_ns;
      REQUIRE(stall.lost_ns > 0);
      REQUIRE(stall.lost_ns <= stall.end_ns - stall.begin_ns);
      REQUIRE_FALSE(stall.threads.empty());
      if (stall.waiting != kNone) REQUIRE(is_made_barrier(stall.waiting));
    }
    REQUIRE(sum == found.lost_ns);
    with_loss += found.lost_ns > 0;
    with_unknown += found.unknown_ns > 0;
    with_bystanders += found.bystanders > 0;
    with_several += found.stalls.size() > 1;
  }
  // The generator must produce the cases under test.
  CHECK(with_loss > 300);
  CHECK(with_unknown > 30);
  CHECK(with_bystanders > 30);
  CHECK(with_several > 100);
}
