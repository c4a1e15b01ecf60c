#pragma once
// Runs a few actors in every order in which their steps can interleave.

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace hpcrun::test {

class EveryOrder {
 public:
  using Actor = std::function<void(EveryOrder&)>;
  struct Lock {
    bool held = false;
  };

  // Returns the number of orders. `start` sets up the state, `finish` checks it when all actors are done and
  // returns whether to continue.
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

  // Called by an actor: other actors may take steps before its next one.
  void step() { swapcontext(&running_->context, &scheduler_); }

  void take(Lock& lock) {
    wait_until([&lock] { return !lock.held; });
    lock.held = true;
  }
  void release(Lock& lock) {
    step();
    lock.held = false;
  }
  // The condition is true when the actor continues. It must own nothing, because an actor may wait forever.
  void wait_until(std::function<bool()> condition) {
    running_->goes_on_when = std::move(condition);
    step();
    running_->goes_on_when = nullptr;
  }
  // For `finish`: true if some actors still wait and never continue.
  bool is_stuck() const {
    return std::ranges::any_of(fibers_, [](const Fiber& fiber) { return !fiber.done; });
  }

 private:
  struct Choice {
    size_t taken, options;
  };
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    const Actor* actor = nullptr;
    std::function<bool()> goes_on_when;  // empty: at any time
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
      fiber.goes_on_when = nullptr;
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
        if (!fiber.done && (!fiber.goes_on_when || fiber.goes_on_when())) ready.push_back(&fiber);
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
