#pragma once
// Runs a few actors in every order in which their steps can follow each other.

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace hpcrun::test {

class EveryOrder {
 public:
  using Actor = std::function<void(EveryOrder&)>;
  struct Lock {
    bool held = false;
  };

  // How many orders there were. `start` makes the state anew, `finish` looks at it when all actors are done,
  // and says whether to go on.
  size_t run(const std::function<void()>& start, const std::vector<Actor>& actors,
             const std::function<bool()>& finish) {
    size_t orders = 0;
    choices_.clear();
    do {
      start();
      run_once(actors);
      ++orders;
    } while (finish() && next_order());
    return orders;
  }

  // Of an actor: others may take steps before its next one.
  void step() { swapcontext(&running_->context, &scheduler_); }

  void take(Lock& lock) {
    running_->waits_for = &lock;
    step();
    running_->waits_for = nullptr;
    lock.held = true;
  }
  void release(Lock& lock) {
    step();
    lock.held = false;
  }

 private:
  struct Choice {
    size_t taken, options;
  };
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    const Actor* actor = nullptr;
    Lock* waits_for = nullptr;
    bool done = false;
  };
  static constexpr size_t kStackBytes = 64 << 10;

  static void enter(unsigned low, unsigned high) {
    auto* const self = reinterpret_cast<EveryOrder*>(uintptr_t{high} << 32 | low);
    Fiber* const fiber = self->running_;
    (*fiber->actor)(*self);
    fiber->done = true;
  }

  void run_once(const std::vector<Actor>& actors) {
    fibers_.resize(actors.size());
    for (size_t a = 0; a < actors.size(); ++a) {
      Fiber& fiber = fibers_[a];
      if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
      fiber.actor = &actors[a];
      fiber.waits_for = nullptr;
      fiber.done = false;
      getcontext(&fiber.context);
      fiber.context.uc_stack = {fiber.stack.get(), 0, kStackBytes};
      fiber.context.uc_link = &scheduler_;
      const auto self = reinterpret_cast<uintptr_t>(this);
      makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self),
                  static_cast<unsigned>(self >> 32));
    }
    std::vector<Fiber*> ready;
    for (size_t taken = 0;; ++taken) {
      ready.clear();
      for (Fiber& fiber : fibers_)
        if (!fiber.done && !(fiber.waits_for && fiber.waits_for->held)) ready.push_back(&fiber);
      if (ready.empty()) return;
      if (taken == choices_.size()) choices_.push_back({0, ready.size()});
      running_ = ready[choices_[taken].taken];
      swapcontext(&scheduler_, &running_->context);
    }
  }

  bool next_order() {
    while (!choices_.empty()) {
      if (++choices_.back().taken < choices_.back().options) return true;
      choices_.pop_back();
    }
    return false;
  }

  std::vector<Choice> choices_;
  std::vector<Fiber> fibers_;
  ucontext_t scheduler_{};
  Fiber* running_ = nullptr;
};

}  // namespace hpcrun::test
