// Interrupts a thread at every instruction of the calls that use the tables of common memory, or whose result
// depends on whether there is any. Memory becomes common at that instruction, as when a session begins, and
// the call's effect must be complete afterwards. Single steps (the trap flag) reach every instruction. The
// kernel is asked whether the thread is really at rest.

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/common_calls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/controller/controller.h"
#include "tests/repair/isolate/child.h"

using namespace hpcrun;

namespace {

constexpr int kPlain = PROT_READ | PROT_WRITE;
constexpr size_t kPages = 4, kBytes = kPages * 4096;
constexpr unsigned kSecondsUntilItHangs = 10;

// The state of memory when the call begins.
enum class Before { Awaited, Left };

// The page of the piece at which something is done, and the condition that must hold afterwards.
struct StepCase {
  const char* name;
  char* (*call)(char* piece);
  bool (*holds)(const char* piece, const char* result);
};

bool is_writable(const char* page) {
  int ends[2];
  if (pipe(ends)) return false;
  const bool is = write(ends[1], "x", 1) == 1 && read(ends[0], const_cast<char*>(page), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is;
}

// Returns nothing if the address is not readable.
std::optional<char> byte_at(const char* address) {
  int ends[2];
  char byte = 0;
  if (pipe(ends)) return std::nullopt;
  const bool is_there = write(ends[1], address, 1) == 1 && read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_there ? std::optional(byte) : std::nullopt;
}

// The pages contain 1, 2, 3, 4.
bool has_contents(const char* piece, size_t from, size_t to) {
  for (size_t page = from; page < to; ++page)
    if (piece[page * 4096 + 8] != static_cast<char>(page + 1)) return false;
  return true;
}

bool is_all_common(const char* from, size_t pages) {
  for (size_t page = 0; page < pages; ++page)
    if (!is_common(from + page * 4096)) return false;
  return true;
}

char* as_pointer(long result) {
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<char*>(result);
}

const StepCase kCases[] = {
    {"mmap",
     [](char*) {
       char* const made =
           as_pointer(common_mmap(nullptr, kBytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
       if (made) made[8] = 7;
       return made;
     },
     [](const char* piece, const char* made) {
       return made && made[8] == 7 && made[4096] == 0 && is_all_common(made, kPages) &&
              has_contents(piece, 0, kPages);
     }},
    {"mmap in a place",
     [](char* piece) {
       return as_pointer(
           common_mmap(piece + 4096, 4096, kPlain, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
     },
     [](const char* piece, const char* made) {
       return made == piece + 4096 && made[8] == 0 && is_all_common(piece, kPages) && is_writable(made) &&
              has_contents(piece, 0, 1) && has_contents(piece, 2, kPages);
     }},
    {"munmap", [](char* piece) { return common_munmap(piece + 4096, 4096) ? nullptr : piece; },
     [](const char* piece, const char* done) {
       // Mappings that the kernel has made there since do not belong to the program.
       return done && !is_common(piece + 4096) && byte_at(piece + 4096 + 8) != 2 &&
              has_contents(piece, 0, 1) && has_contents(piece, 2, kPages) && is_common(piece) &&
              is_all_common(piece + 8192, 2);
     }},
    {"mremap",
     [](char* piece) {
       return as_pointer(common_mremap(piece, kBytes, 4 * kBytes, MREMAP_MAYMOVE, nullptr));
     },
     [](const char*, const char* moved) {
       return moved && has_contents(moved, 0, kPages) && moved[kBytes + 8] == 0 &&
              is_all_common(moved, 4 * kPages) && is_writable(moved + kBytes);
     }},
    {"mprotect", [](char* piece) { return common_mprotect(piece + 4096, 4096, PROT_READ) ? nullptr : piece; },
     [](const char* piece, const char* done) {
       return done && has_contents(piece, 0, kPages) && !is_writable(piece + 4096) &&
              is_writable(piece + 8192) && is_all_common(piece, kPages);
     }},
    {"madvise",
     [](char* piece) { return common_madvise(piece + 4096, 4096, MADV_DONTNEED) ? nullptr : piece; },
     [](const char* piece, const char* done) {
       return done && piece[4096 + 8] == 0 && has_contents(piece, 0, 1) && has_contents(piece, 2, kPages) &&
              is_all_common(piece, kPages);
     }},
    {"close to isolation",
     [](char* piece) {
       close_to_isolation(piece + 4096, 4096);
       return piece;
     },
     [](const char* piece, const char*) {
       const auto low = reinterpret_cast<uint64_t>(piece);
       const PageBits& closed = common_state.hold.closed;
       return closed.has(low + 4096) && !closed.has(low + 8192) && has_contents(piece, 0, kPages) &&
              is_all_common(piece, kPages);
     }},
};

// One call of a thread that is stopped at one of its instructions.
struct Stepping {
  const StepCase* each;
  char* piece;
  int rests_at;  // counted from the first instruction
  int go[2];     // pipe: the thread reads from it to continue
  std::atomic<int> steps{0};
  std::atomic<int> tid{0};
  std::atomic<bool> is_over{false};
  char* result = nullptr;
};
Stepping* stepping;

void rest() {
  char byte;
  raw_syscall(SYS_read, stepping->go[0], reinterpret_cast<long>(&byte), 1);
}

void on_step(int) {
  if (stepping->steps.load(std::memory_order_relaxed) == stepping->rests_at) rest();
  stepping->steps.fetch_add(1, std::memory_order_relaxed);
}

void* make_call(void*) {
  stepping->tid = static_cast<int>(syscall(SYS_gettid));
  constexpr long kTrapFlag = 0x100;
  asm volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(kTrapFlag) : "memory", "cc");
  char* const result = stepping->each->call(stepping->piece);
  asm volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~kTrapFlag) : "memory", "cc");
  stepping->result = result;
  stepping->is_over = true;
  rest();
  return nullptr;
}

// Waits until the thread sleeps in read(), so that it writes nowhere.
void await_rest() {
  while (!stepping->tid) sched_yield();
  const std::string path = "/proc/self/task/" + std::to_string(stepping->tid) + "/syscall";
  for (;;) {
    char text[8] = {};
    const int file = open(path.c_str(), O_RDONLY);
    if (file >= 0 && read(file, text, sizeof text - 1) > 0 && text[0] == '0' && text[1] == ' ') {
      close(file);
      return;
    }
    close(file);
    sched_yield();
  }
}

// Runs in a process of its own. `rests_at` counts from 0; kNever: after the call, whose number of
// instructions is stored in `*instructions`.
constexpr int kNever = INT_MAX;
bool holds_interrupted_at(const StepCase& each, Before before, int rests_at, int* instructions) {
  alarm(kSecondsUntilItHangs);
  if (before == Before::Left ? !make_common() : !await_common()) return false;
  Stepping here{};
  stepping = &here;
  here.each = &each;
  here.rests_at = rests_at;
  here.piece = as_pointer(common_mmap(nullptr, kBytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (!here.piece || pipe(here.go)) return false;
  for (size_t page = 0; page < kPages; ++page) here.piece[page * 4096 + 8] = static_cast<char>(page + 1);
  if (before == Before::Left && !leave_common()) return false;
  struct sigaction action {};
  action.sa_handler = on_step;
  pthread_t thread;
  if (sigaction(SIGTRAP, &action, nullptr) || pthread_create(&thread, nullptr, make_call, nullptr))
    return false;

  await_rest();
  const bool was_over = here.is_over;
  const bool was_common = make_common(OtherThreads::Stopped);
  // It declines only because of the call, and only until the call is over.
  if (!was_common && (was_over || !common_state.calls_under_way)) return false;
  if (!was_over) {
    if (write(here.go[1], "x", 1) != 1) return false;
    while (!here.is_over) sched_yield();
    await_rest();
  }
  if (!was_common && !make_common(OtherThreads::Stopped)) return false;
  *instructions = here.steps;
  if (common_state.calls_under_way || !each.holds(here.piece, here.result)) return false;
  return write(here.go[1], "x", 1) == 1 && pthread_join(thread, nullptr) == 0;
}

// Checks every instruction of each call, or at most `most` of them, including the first and the last.
void check_instructions(Before before, int most) {
  auto* const instructions =
      static_cast<int*>(mmap(nullptr, sizeof(int), kPlain, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(instructions != MAP_FAILED);
  for (const StepCase& each : kCases) {
    CAPTURE(each.name);
    const auto holds_at = [&](int at) {
      return holds_in_child([&] { return holds_interrupted_at(each, before, at, instructions); });
    };
    REQUIRE(holds_at(kNever));
    const int last = *instructions - 1;
    REQUIRE(last > 10);
    const int stops = std::min(most, last + 1);
    for (int stop = 0; stop < stops; ++stop) {
      const int at = static_cast<int>(int64_t{stop} * last / (stops - 1));
      CAPTURE(at, last);
      CHECK(holds_at(at));
    }
  }
  munmap(instructions, sizeof(int));
}

}  // namespace

TEST_CASE("memory that is awaited becomes common at whatever instruction of a call a thread is") {
  check_instructions(Before::Awaited, INT_MAX);
}

TEST_CASE("memory that was left becomes common again wherever in a call a thread is") {
  check_instructions(Before::Left, 16);
}

// Takes some minutes, therefore not run by default: every instruction of all calls except mremap(), which has
// many thousands.
TEST_CASE("memory that was left becomes common again at every instruction of a call", "[.]") {
  check_instructions(Before::Left, 1'000);
}
