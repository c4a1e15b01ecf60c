// left_waits jumps | ends HOW: waits that are left by a jump out of a handler, or by the end of the thread,
// the process or its program.

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>

#include "waiting.h"

namespace {

double wall() {
  return clock_seconds(CLOCK_MONOTONIC);
}

[[gnu::noinline]] long block_in_poll() {
  const long result = poll(nullptr, 0, -1);
  asm volatile("");
  return result;
}

[[gnu::noinline]] void spin_after_jump() {
  const double start = wall();
  spin(0.3);
  std::fprintf(stderr, "spin_after_jump_wall %.3f\n", wall() - start);
}

jmp_buf plain_jump;
sigjmp_buf mask_jump;
bool with_mask = false;

void jump_out(int) {
  if (with_mask)
    siglongjmp(mask_jump, 1);
  else
    _longjmp(plain_jump, 1);
}

void jumps() {
  struct sigaction action {};
  action.sa_handler = jump_out;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 2; ++i) {
    with_mask = i;
    const auto self = pthread_self();
    const auto tid = static_cast<int>(syscall(SYS_gettid));
    std::thread other([=] {
      while (state_of(tid) != 'S') sched_yield();
      pthread_kill(self, SIGUSR1);
    });
    const int jumped = with_mask ? sigsetjmp(mask_jump, 1) : _setjmp(plain_jump);
    if (!jumped) block_in_poll();
    std::printf("jumped %d\n", jumped);
    other.join();
    spin_after_jump();
  }
}

std::atomic<double> blocked_since{0};
std::atomic<double> blocked_until{0};  // recorded if the thread survives to see it
std::atomic<int> cleaned{0};

void* block(void*) {
  const auto clean = [](void*) {
    blocked_until = wall();
    ++cleaned;
  };
  pthread_cleanup_push(clean, nullptr);
  blocked_since = wall();
  block_in_poll();
  pthread_cleanup_pop(0);
  return nullptr;
}

// Ends while a thread has been waiting for some time.
void ends(const std::string& how, char** argv) {
  pthread_t thread;
  pthread_create(&thread, nullptr, block, nullptr);
  while (blocked_since == 0) usleep(100);
  usleep(500'000);
  if (how == "cancel") {
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    std::printf("cancelled %d, cleaned %d\n", result == PTHREAD_CANCELED, cleaned.load());
  }
  const double until = blocked_until > 0 ? blocked_until.load() : wall();
  std::fprintf(stderr, "blocked %.3f\n", until - blocked_since);
  if (how == "_exit") _exit(3);
  if (how == "kill") raise(SIGKILL);
  if (how == "term") raise(SIGTERM);
  if (how == "exec") execl(argv[0], argv[0], "nothing", nullptr);
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "jumps") jumps();
  if (what == "ends") ends(argv[2], argv);
}
