// Breakpoints in another thread show which words of a line it uses. The instruction before the one at which
// it stopped shows which bytes.

#include "hpcrun/contention/watch.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "hpcrun/model/access_plan.h"

using namespace hpcrun;

namespace {

struct Line {
  alignas(64) std::atomic<uint64_t> first;
  uint64_t unused;
  std::atomic<uint32_t> low;
  std::atomic<uint32_t> high;
};

constexpr uint64_t kMine = 0x700000000000;

struct Hit {
  uint64_t data;
  int tid;
  Access access;  // the access that ended where the thread stopped
};

constexpr size_t kMaxHits = 64;
Hit hits[kMaxHits];
std::atomic<size_t> hit_count{0};

size_t read_own(const void*, uint64_t address, void* to, size_t bytes) noexcept {
  memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return bytes;
}

// Precedes the loop, so that decoding can start there.
[[gnu::noinline]] void count(Line& line, const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) {
    line.first.store(line.first.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    line.high.fetch_add(1, std::memory_order_relaxed);
  }
}

void note_hit(int, siginfo_t* info, void* context) {
  uint64_t data = 0;
  memcpy(&data, reinterpret_cast<const char*>(info) + 24, sizeof data);  // si_perf_data
  const size_t number = hit_count++;
  if (number >= kMaxHits) return;
  const greg_t* const registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const MachineState state{
      {static_cast<uint64_t>(registers[REG_RAX]), static_cast<uint64_t>(registers[REG_RCX]),
       static_cast<uint64_t>(registers[REG_RDX]), static_cast<uint64_t>(registers[REG_RBX]),
       static_cast<uint64_t>(registers[REG_RSP]), static_cast<uint64_t>(registers[REG_RBP]),
       static_cast<uint64_t>(registers[REG_RSI]), static_cast<uint64_t>(registers[REG_RDI]),
       static_cast<uint64_t>(registers[REG_R8]), static_cast<uint64_t>(registers[REG_R9]),
       static_cast<uint64_t>(registers[REG_R10]), static_cast<uint64_t>(registers[REG_R11]),
       static_cast<uint64_t>(registers[REG_R12]), static_cast<uint64_t>(registers[REG_R13]),
       static_cast<uint64_t>(registers[REG_R14]), static_cast<uint64_t>(registers[REG_R15])},
      0,
      0};
  const MemoryReader reader{read_own, nullptr};
  PlanWorkspace workspace;
  AccessPlan plan;
  plan_accesses(reinterpret_cast<uint64_t>(&count), static_cast<uint64_t>(registers[REG_RIP]), reader,
                workspace, plan);
  Access accesses[kMaxPlannedAccesses];
  const uint32_t planned = apply_plan(plan, state, reader, accesses);
  Hit& hit = hits[number];
  hit = {data, static_cast<int>(syscall(SYS_gettid)), {}};
  for (uint32_t i = 0; i < planned; ++i)
    if (accesses[i].distance == -1) hit.access = accesses[i];
}

class Handler {
 public:
  Handler() {
    struct sigaction action {};
    action.sa_sigaction = note_hit;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before_);
    hit_count = 0;
  }
  ~Handler() { sigaction(SIGTRAP, &before_, nullptr); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  struct sigaction before_ {};
};

bool wait_for_hits(size_t wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (hit_count < wanted && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return hit_count >= wanted;
}

}  // namespace

TEST_CASE("a watch tells the words that another thread uses, so often and no more") {
  const Handler handler;
  static Line line;
  std::atomic<bool> stop{false};
  std::atomic<int> tid{0};
  std::thread other([&] {
    tid = static_cast<int>(syscall(SYS_gettid));
    count(line, stop);
  });
  while (!tid) std::this_thread::yield();

  Watch watch;
  const int armed = watch.arm(tid, reinterpret_cast<uint64_t>(&line), 0b0111, 3, kMine);
  if (armed == -EACCES || armed == -EPERM || armed == -ENOENT || armed == -EOPNOTSUPP || armed == -ENOSPC) {
    WARN("no hardware breakpoints here (" << strerror(-armed) << "): watches are not tried");
    stop = true;
    other.join();
    return;
  }
  REQUIRE(armed == 3);
  CHECK(watch.is_armed());
  CHECK(wait_for_hits(6));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  watch.disarm();
  stop = true;
  other.join();
  REQUIRE(hit_count == 6);  // three for each word that is used, none for the others
  for (size_t i = 0; i < 6; ++i) {
    const Hit& hit = hits[i];
    CHECK(hit.tid == tid);
    REQUIRE((hit.data == kMine || hit.data == kMine + 2));
    const bool is_first = hit.data == kMine;
    const uint64_t expected =
        reinterpret_cast<uint64_t>(is_first ? static_cast<void*>(&line.first) : &line.high);
    CHECK(hit.access.address == expected);
    CHECK(hit.access.bytes == (is_first ? 8 : 4));
    CHECK(hit.access.is_locked == !is_first);
  }
}

TEST_CASE("a thread that is gone, and words that are not there, cannot be watched") {
  int tid = 0;
  std::thread([&tid] { tid = static_cast<int>(syscall(SYS_gettid)); }).join();
  static Line line;
  Watch watch;
  CHECK(watch.arm(tid, reinterpret_cast<uint64_t>(&line), 1, 1, kMine) < 0);
  CHECK_FALSE(watch.is_armed());
  CHECK(watch.arm(0, reinterpret_cast<uint64_t>(&line), 0, 1, kMine) == 0);
  watch.disarm();
}
