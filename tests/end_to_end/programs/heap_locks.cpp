// Locks on the heap, created at one place and waited for at two: heap_locks TURNS.

#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

struct Account {
  long money = 0;
  std::mutex lock;
};

[[gnu::noinline]] static std::unique_ptr<Account> open_account() {
  return std::make_unique<Account>();
}

[[gnu::noinline]] static void pay_in(Account& account) {
  const std::lock_guard<std::mutex> guard(account.lock);
  ++account.money;
}

[[gnu::noinline]] static void draw(Account& account) {
  const std::lock_guard<std::mutex> guard(account.lock);
  --account.money;
}

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 20;
  const auto first = open_account(), second = open_account();
  bool done = false;
  const auto often = [&done](void (*move)(Account&), Account& account) {
    return std::thread([&done, &account, move] {
      while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        move(account);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
  };
  std::thread payer = often(pay_in, *first), drawer = often(draw, *second);
  for (int i = 0; i < turns; ++i) {
    const std::scoped_lock both(first->lock, second->lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  payer.join();
  drawer.join();
  return 0;
}
