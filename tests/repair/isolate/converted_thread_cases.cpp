// Operations of a program that may fail in a converted thread, case by case. `converted_thread_cases CASE`
// exits with status 0 if everything was as in a program without converted threads. converted_threads.py runs
// the cases and checks what they cannot check themselves.

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <iterator>

#include "tests/repair/isolate/converted_thread_case_list.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/team.h"

namespace {

// --- converting and returning

void conversions() {
  isolated_start();
  std::atomic<bool> over{false};
  std::atomic<uint64_t> counted[3] = {};
  Team others(3, [&](int i) {
    if (i == 0) become_converted();
    while (!over) ++counted[i];
  });
  double value = 1;
  for (int i = 0; i < 1000; ++i) {
    become_converted();
    value = value * 1.5 + i;  // in registers
    isolated_give_back();
    REQUIRE_THAT(!isolated_is_converted());
    value = (value - i) / 1.5;
  }
  over = true;
  others.join();
  REQUIRE_THAT(value > 0.999 && value < 1.001);
  REQUIRE_THAT(counted[0] && counted[1] && counted[2]);
  const IsolatedCounts counts = isolated_counts();
  REQUIRE_THAT(counts.conversions == 1001 && counts.given_back[0] == 1000);
  REQUIRE_THAT(counts.converted_hooks == 1001 && counts.leaving_hooks == 1001);
  printf("conversion: %.0f us on average, %.0f us at most\n",
         static_cast<double>(counts.conversion_ns) / 1e3 / static_cast<double>(counts.conversions),
         static_cast<double>(counts.longest_ns) / 1e3);
}

void identity() {
  const int pid = getpid(), tid = thread_id(), parent = getppid(), group = getpgrp(), session_id = getsid(0);
  isolated_start();
  become_converted();
  REQUIRE_THAT(getpid() == pid && thread_id() == tid && getppid() == parent);
  REQUIRE_THAT(getpgrp() == group && getsid(0) == session_id);
  REQUIRE_THAT(isolated_is_converted() && isolated_thread_number() == tid);
  char link[64] = "";
  REQUIRE_THAT(readlink("/proc/self", link, sizeof link - 1) > 0);
  REQUIRE_THAT(atoi(link) == pid);
  REQUIRE_THAT(!isolated_is_converted());  // only at home is that the result
}

// A new thread that waits for a session to begin enters it with all others, and may already be converted when
// it continues.
void enters_as_converted() {
  const int pid = getpid();
  isolated_start();
  become_converted();
  isolated_enter_as_new_thread();
  REQUIRE_THAT(isolated_is_converted() && getpid() == pid);
  isolated_give_back();
  become_converted();
}

// Each session gives threads records. They are reused for other threads once these have ended after the
// session.
void more_threads_than_records() {
  isolated_start();
  REQUIRE_THAT(isolated_end());
  constexpr int kRounds = 520, kThreads = 8;  // more than 4,096 in all
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<bool> over{false};
    Team team(kThreads, [&](int) {
      while (!over) usleep(1'000);
    });
    REQUIRE_THAT(isolated_begin() == 0);
    REQUIRE_THAT(isolated_end());
    over = true;
    team.join();
  }
  REQUIRE_THAT(isolated_begin() == 0);
  become_converted();
}

void asked_back_anywhere() {
  isolated_start();
  std::atomic<int> tids[3] = {};
  std::atomic<bool> over{false};
  std::atomic<int> came_home{0};
  int ends[2];
  REQUIRE_THAT(pipe(ends) == 0);
  Team team(3, [&](int i) {
    become_converted();
    tids[i] = thread_id();
    char byte;
    if (i == 0)
      while (isolated_is_converted()) continue;
    if (i == 1) REQUIRE_THAT(read(ends[0], &byte, 1) == 1 && byte == 'x');
    if (i == 2) {
      const uint64_t begin = now_ns();
      pause_ms(300);
      REQUIRE_THAT(now_ns() - begin >= 300'000'000);  // and no EINTR
    }
    REQUIRE_THAT(!isolated_is_converted());
    ++came_home;
  });
  for (auto& tid : tids)
    while (!tid) sched_yield();
  pause_ms(50);
  isolated_bring_all_home();
  REQUIRE_THAT(!isolated_convert());
  REQUIRE_THAT(write(ends[1], "x", 1) == 1);
  team.join();
  isolated_release();
  REQUIRE_THAT(came_home == 3);
  REQUIRE_THAT(isolated_counts().given_back[1] == 3);
  become_converted();
}

// --- output and time

void prints() {
  isolated_start();
  Team team(4, [](int i) {
    for (int line = 0; line < 200; ++line) {
      if (line % 50 == 10 * i) REQUIRE_THAT(isolated_convert());
      printf("thread %d line %d\n", i, line);
      if (line % 40 == 0) fflush(stdout);
    }
  });
}

void burn(uint64_t ns) {
  const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
    for (int i = 0; i < 100'000; ++i) asm volatile("");
}

void cpu_time() {
  isolated_start();
  burn(20'000'000);
  uint64_t thread = now_ns(CLOCK_THREAD_CPUTIME_ID), process = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < 3; ++i) {
    become_converted();
    burn(20'000'000);
    if (i == 1) isolated_give_back();
    const uint64_t thread_now = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t process_now = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    REQUIRE_THAT(thread_now - thread >= 20'000'000 && process_now - process >= 20'000'000);
    thread = thread_now;
    process = process_now;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto used = static_cast<uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 +
                    static_cast<uint64_t>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  REQUIRE_THAT(used >= 70'000);
}

void affinity() {
  isolated_start();
  become_converted();
  cpu_set_t all, one, seen;
  REQUIRE_THAT(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  REQUIRE_THAT(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
  REQUIRE_THAT(isolated_is_converted());
  REQUIRE_THAT(sched_getaffinity(0, sizeof seen, &seen) == 0 && CPU_EQUAL(&seen, &one));
  isolated_give_back();
  REQUIRE_THAT(sched_getaffinity(0, sizeof seen, &seen) == 0 && CPU_EQUAL(&seen, &one));
}

constexpr Case kCases[] = {
    {"conversions", conversions},
    {"identity", identity},
    {"enters_as_converted", enters_as_converted},
    {"more_threads_than_records", more_threads_than_records},
    {"asked_back_anywhere", asked_back_anywhere},
    {"prints", prints},
    {"cpu_time", cpu_time},
    {"affinity", affinity},
};

}  // namespace

int main(int count, char** arguments) {
  std::vector<Case> all(std::begin(kCases), std::end(kCases));
  for (const std::span<const Case> more : {sync_cases(), signal_cases(), end_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return run_case(all, count, arguments);
}
