// Waits that have not ended when the process does: open_waits HOW.
//   abba     two threads take two locks in opposite order; the main thread ends the process by SIGTERM
//   hang     as abba, but nothing ends the process
//   again    a thread takes a lock that it has
//   barging  as abba, but the lock that one thread waits for has changed hands since; status 4: it has not
//   exit     the main thread exits with a lock for which one thread waits, while others wait for more work

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

std::mutex first_lock, second_lock;
std::mutex plain_lock;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t more_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_first, has_second, go_on;

static void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

[[gnu::noinline]] static void take_second() {
  second_lock.lock();
  std::_Exit(4);  // there is no deadlock
}

[[gnu::noinline]] static void take_first() {
  first_lock.lock();
  first_lock.unlock();
}

static void first_then_second() {
  pthread_setname_np(pthread_self(), "forward");
  first_lock.lock();
  sem_post(&has_first);
  sem_wait(&go_on);
  take_second();
}

static void second_then_first() {
  pthread_setname_np(pthread_self(), "backward");
  second_lock.lock();
  sem_post(&has_second);
  sem_wait(&go_on);
  take_first();
}

static void abba() {
  std::thread(first_then_second).detach();
  std::thread(second_then_first).detach();
  sem_wait(&has_first);
  sem_wait(&has_second);
  sem_post(&go_on);
  sem_post(&go_on);
}

// `forward` begins to wait for the second lock while the main thread has it. Then `backward` gets it first,
// because glibc gives a free mutex to the thread that requests it first, not to the one that is woken.
static void barging() {
  second_lock.lock();
  std::thread(first_then_second).detach();
  sem_wait(&has_first);
  sem_post(&go_on);
  std::thread([] {
    pthread_setname_np(pthread_self(), "backward");
    while (!second_lock.try_lock()) continue;
    sleep_ms(50);
    take_first();
  }).detach();
  sleep_ms(50);
  second_lock.unlock();
}

[[gnu::noinline]] static void take_again() {
  plain_lock.lock();
}

static void again() {
  std::thread([] {
    plain_lock.lock();
    take_again();
  }).detach();
}

static void wait_for_more() {
  pthread_mutex_lock(&more_lock);
  for (;;) pthread_cond_wait(&more, &more_lock);
}

static void wait_for_both() {
  pthread_setname_np(pthread_self(), "late");
  take_first();
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "abba";
  sem_init(&has_first, 0, 0);
  sem_init(&has_second, 0, 0);
  sem_init(&go_on, 0, 0);
  if (!std::strcmp(how, "barging")) barging();
  if (!std::strcmp(how, "abba")) abba();
  if (!std::strcmp(how, "hang")) {
    abba();
    sleep_ms(100'000);
  }
  if (!std::strcmp(how, "again")) again();
  if (!std::strcmp(how, "exit")) {
    first_lock.lock();
    std::thread(wait_for_both).detach();
    for (int i = 0; i < 2; ++i) std::thread(wait_for_more).detach();
    sleep_ms(300);
    std::exit(3);
  }
  sleep_ms(300);
  raise(SIGTERM);
  return 1;
}
