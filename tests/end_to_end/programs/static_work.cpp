// Known work for programs that are sampled from outside: prints the CPU time of each part. Arguments: a
// number of seconds of CPU time, then optionally "threads" (two share the work), "deep" (a stack of 4,000
// frames), "fork" (a child does the same again), "status" (ends with 7).
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

static volatile double sink;

static double thread_cpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

__attribute__((noinline)) static void spin(int turns) {
  for (int i = 0; i < turns; ++i) sink = sink + i * 0.5;
}

// Half to one and a half times as long, at random: calls of equal length would get in step with the clock
// that samples.
static int about(int turns) {
  static thread_local unsigned state = 1;
  state = state * 1664525 + 1013904223;
  return turns / 2 + static_cast<int>((static_cast<unsigned long>(state >> 8) * static_cast<unsigned>(turns)) >> 24);
}

__attribute__((noinline)) static void heavy() {
  spin(about(60000));
  asm volatile("");
}

__attribute__((noinline)) static void light() {
  spin(about(20000));
  asm volatile("");
}

// Uses at least 100 bytes of stack per call.
__attribute__((noinline)) static void descend(int depth) {
  volatile char frame[64];
  frame[0] = static_cast<char>(depth);
  if (depth == 0)
    heavy();
  else
    descend(depth - 1);
  frame[1] = frame[0];
}

static double seconds;
static bool deep;

static void* work(void*) {
  double spent_heavy = 0;
  double spent_light = 0;
  const double end = thread_cpu() + seconds;
  for (double now = thread_cpu(); now < end;) {
    if (deep)
      descend(4000);
    else
      heavy();
    const double between = thread_cpu();
    light();
    spent_heavy += between - now;
    now = thread_cpu();
    spent_light += now - between;
  }
  static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&printing);
  fprintf(stderr, "heavy %.4f\nlight %.4f\n", spent_heavy, spent_light);
  pthread_mutex_unlock(&printing);
  return nullptr;
}

int main(int count, char** arguments) {
  const auto has = [&](const char* option) {
    for (int i = 2; i < count; ++i)
      if (strcmp(arguments[i], option) == 0) return true;
    return false;
  };
  seconds = count > 1 ? atof(arguments[1]) : 0.3;
  deep = has("deep");
  pthread_t other;
  if (has("threads")) pthread_create(&other, nullptr, work, nullptr);
  if (has("fork") && fork() == 0) {
    work(nullptr);
    _exit(0);
  }
  work(nullptr);
  if (has("threads")) pthread_join(other, nullptr);
  if (has("fork")) wait(nullptr);
  puts("worked");
  return has("status") ? 7 : 0;
}
