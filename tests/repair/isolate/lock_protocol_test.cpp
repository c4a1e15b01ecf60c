// Which commits can be omitted for mutexes that only one thread takes (lock_protocol.h), in every order in
// which the steps of a few threads can interleave. Each thread finds under a lock what was written before its
// release, no thread waits forever, and nothing is lost. Protocols that omit a step are detected.

#include "repair/isolate/controller/lock_protocol.h"

#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/repair/isolate/every_order.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

enum class Without {
  Nothing,
  Waiting,         // for the commit of the thread whose mutex it was
  Asking,          // for that commit
  AskingAgain,     // after a deferral
  Owing,           // a mutex with one user is released without owing a commit
  CommitOfOwn,     // before the release of a mutex with several users
  CommitOfOthers,  // after a lock
  Keeping,         // of the thread that took the mutex last
  Order,           // the commit comes after the release
  Merging,         // is reported as done before it is
  Leaving,         // without a commit
};

struct Mutex {
  EveryOrder::Lock lock;
  LockUser user = kNobody;
  LockHistory of_several;

  LockUser load() const { return user; }
  void store(LockUser now) { user = now; }
  LockHistory& history() { return of_several; }
};

constexpr size_t kMutexes = 2;
class Thread;

// A word counts what each mutex guards; another one is written before.
struct World {
  EveryOrder order;
  Without without = Without::Nothing;
  LockLimits limits{.often = 1, .most_doubled = 1, .ask_again = 1};
  std::array<int, kMutexes + 1> common{};
  std::array<int, kMutexes> counted{};
  std::array<Mutex, kMutexes> mutexes;
  std::vector<Thread> threads;
  uint64_t last_number = 0;
  size_t ended = 0;
  bool is_over = false;           // no more steps
  bool merges_last = false;       // a step between the effect of a merge and its end
  std::set<std::string> reached;  // states that give a check its value
  std::string wrong;

  bool lacks(Without what) const { return without == what; }
  void expect(bool holds, const char* what) {
    if (!holds && wrong.empty()) wrong = what;
  }
};

// Has private pages until it leaves. Takes requests between any two steps, except inside a commit.
class Thread {
 public:
  Thread(World& world, size_t place) : world_(&world), place_(place) {}

  // The program's operations.
  void come() {
    number_ = ++world_->last_number;
    base_ = page_ = world_->common;
    owes_ = false;
  }
  void leave() {
    if (!world_->lacks(Without::Leaving)) commit(Stores::All);
    number_ = 0;
  }
  void write(size_t word, int value) { (number_ ? page_ : world_->common)[word] = value; }
  int read(size_t word) const { return (number_ ? page_ : world_->common)[word]; }
  void count_under(size_t which) {
    Mutex& mutex = world_->mutexes[which];
    do {
      wait_until([this, &mutex] { return !mutex.lock.held || is_asked_; });
    } while (mutex.lock.held);
    mutex.lock.held = true;
    const LockUser before = mutex.user;
    take_lock(*this, &mutex, self(), world_->limits);
    if (world_->lacks(Without::Keeping)) mutex.user = before == kNobody ? self() : before;
    if (mutex.user == kSeveral) world_->reached.insert("several");
    if (before == kSeveral && mutex.user != kSeveral) world_->reached.insert("alone again");
    world_->expect(read(which) == world_->counted[which], "not seen under a lock: what it guards");
    write(which, ++world_->counted[which]);
    const bool is_released_first = world_->lacks(Without::Order);
    if (!is_released_first) before_release(*this, &mutex, self());
    step();
    mutex.lock.held = false;
    if (is_released_first) before_release(*this, &mutex, self());
  }
  void expect_word(size_t word, int value) {
    world_->expect(read(word) == value, "not seen behind a lock: what was written before it");
  }
  // Other threads may send requests until all have arrived here.
  void end() {
    for (++world_->ended; world_->ended < world_->threads.size();)
      wait_until([this] { return is_asked_ || world_->ended == world_->threads.size(); });
  }
  void leave_at_last() {
    if (number_) leave();
  }

  // The Caller of lock_protocol.h
  void commit(Stores stores) {
    if (!number_ || is_busy_) return;
    if (stores == Stores::Own && world_->lacks(Without::CommitOfOwn)) return;
    if (stores == Stores::Others && world_->lacks(Without::CommitOfOthers)) return;
    is_busy_ = true;
    if (stores != Stores::Others && world_->lacks(Without::Merging)) note_commit();
    step();
    for (size_t word = 0; word < page_.size(); ++word) {
      int& common = world_->common[word];
      if (page_[word] != base_[word])
        common = page_[word];
      else
        page_[word] = common;
      base_[word] = page_[word];
    }
    if (world_->merges_last) step();
    if (stores != Stores::Others) note_commit();
    is_busy_ = false;
  }
  void owe() {
    world_->reached.insert("owed");
    if (!world_->lacks(Without::Owing)) owes_ = true;
  }
  bool has_left(LockUser user) const {
    const bool has = of(user).number_ != user >> kPlaceBits;
    if (has) world_->reached.insert("left");
    return has || world_->lacks(Without::Waiting);
  }
  bool owes(LockUser user) const { return of(user).owes_; }
  uint64_t own_commits_of(LockUser user) const { return of(user).own_commits_; }
  void ask_to_commit(LockUser user) {
    if (!world_->lacks(Without::Asking)) of(user).is_asked_ = true;
    waits_for_ = &of(user);
  }
  // Waits until continuing makes sense: the other thread has committed or left, or has to be asked again.
  void wait_a_moment() {
    world_->reached.insert("waited");
    const uint64_t commits = waits_for_->own_commits_, number = waits_for_->number_;
    const bool asks_again = world_->limits.ask_again == 1 && !world_->lacks(Without::Asking);
    wait_until([this, commits, number, asks_again] {
      const Thread& other = *waits_for_;
      return is_asked_ || !other.owes_ || other.own_commits_ != commits || other.number_ != number ||
             (asks_again && !other.is_asked_);
    });
  }

 private:
  static constexpr unsigned kPlaceBits = 2;

  LockUser self() const { return number_ ? number_ << kPlaceBits | place_ : kNobody; }
  Thread& of(LockUser user) const { return world_->threads[user & ((1u << kPlaceBits) - 1)]; }
  void note_commit() {
    ++own_commits_;
    owes_ = false;
  }

  void step() {
    if (world_->is_over) return;
    world_->order.step();
    follow_request();
  }
  template <class Condition>
  void wait_until(Condition condition) {
    world_->order.wait_until([&condition] { return condition(); });
    follow_request();
  }
  // Runs in a handler, which is not interrupted by the same signal.
  void follow_request() {
    while (is_asked_ && !is_in_handler_) {
      is_asked_ = false;
      is_in_handler_ = true;
      if (is_busy_) world_->reached.insert("put off");
      commit(Stores::All);
      is_in_handler_ = false;
    }
  }

  World* world_;
  size_t place_;
  std::array<int, kMutexes + 1> page_{}, base_{};
  uint64_t number_ = 0;
  uint64_t own_commits_ = 0;
  bool owes_ = false;
  bool is_busy_ = false, is_asked_ = false, is_in_handler_ = false;
  Thread* waits_for_ = nullptr;
};

using Part = std::function<void(Thread&)>;
struct Program {
  const char* name;
  std::vector<Part> parts;
  std::set<std::string> reaches;  // in some order
  bool merges_last = true;        // unless that makes millions of orders
};

constexpr size_t kA = 0, kB = 1, kBefore = kMutexes;

const Program kPrograms[] = {
    {"one takes it twice, the other once",
     {[](Thread& one) {
        one.come();
        one.count_under(kA);
        one.count_under(kA);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kA);
      }},
     {"owed", "waited", "several"}},
    {"one merges as it is asked",
     {[](Thread& one) {
        one.come();
        one.count_under(kA);
        one.count_under(kB);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kA);
      }},
     {"owed", "waited", "several", "put off"}},
    {"two mutexes, whose users change places",
     {[](Thread& one) {
        one.come();
        one.count_under(kA);
        one.count_under(kB);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kB);
        other.count_under(kA);
      }},
     {"owed", "waited", "several"},
     false},
    {"one goes home, takes it there, and comes again",
     {[](Thread& one) {
        one.come();
        one.count_under(kA);
        one.leave();
        one.count_under(kA);
        one.come();
        one.count_under(kA);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kA);
      }},
     {"owed", "waited", "several", "left"}},
    {"one without pages",
     {[](Thread& one) {
        one.come();
        one.count_under(kA);
        one.count_under(kA);
      },
      [](Thread& other) { other.count_under(kA); }},
     {"owed", "waited", "several"}},
    {"one is alone again",
     {[](Thread& one) {
        one.come();
        for (int turn = 0; turn < 4; ++turn) one.count_under(kA);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kA);
      }},
     {"owed", "waited", "several", "alone again"}},
    {"three threads",
     {[](Thread& one) {
        one.come();
        one.count_under(kA);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kA);
      },
      [](Thread& third) {
        third.come();
        third.count_under(kA);
      }},
     {"owed", "waited", "several"},
     false},
    {"what was written before the lock is seen as well",
     {[](Thread& one) {
        one.come();
        one.write(kBefore, 1);
        one.count_under(kA);
      },
      [](Thread& other) {
        other.come();
        other.count_under(kB);
        other.count_under(kA);
        if (other.read(kA) == 2) other.expect_word(kBefore, 1);
      }},
     {"owed", "waited", "several"}},
};

struct Result {
  std::string wrong;
  size_t orders = 0;
  std::set<std::string> reached;
};

Result in_every_order(const Program& program, Without without) {
  World world;
  world.without = without;
  world.merges_last = program.merges_last;
  if (without == Without::AskingAgain) world.limits.ask_again = 1u << 31;
  std::vector<EveryOrder::Actor> actors;
  for (size_t place = 0; place < program.parts.size(); ++place)
    actors.push_back([&world, &part = program.parts[place], place](EveryOrder&) {
      part(world.threads[place]);
      world.threads[place].end();
    });
  Result result;
  result.orders = world.order.run(
      [&] {
        world.common = {};
        world.counted = {};
        world.mutexes = {};
        world.last_number = world.ended = 0;
        world.is_over = false;
        world.threads.clear();
        for (size_t place = 0; place < actors.size(); ++place) world.threads.emplace_back(world, place);
      },
      actors,
      [&] {
        world.expect(!world.order.is_stuck(), "a thread waits for ever");
        world.is_over = true;
        for (Thread& thread : world.threads) thread.leave_at_last();
        for (size_t which = 0; which < kMutexes; ++which)
          world.expect(world.common[which] == world.counted[which], "a store was lost");
        return world.wrong.empty();
      });
  result.wrong = world.wrong;
  result.reached = world.reached;
  return result;
}

std::string first_wrong_of_all(Without without) {
  for (const Program& program : kPrograms)
    if (const Result result = in_every_order(program, without); !result.wrong.empty()) return result.wrong;
  return "";
}

}  // namespace

TEST_CASE("In every order of steps each thread finds under a lock what was written before") {
  for (const Program& program : kPrograms) {
    INFO(program.name);
    const Result result = in_every_order(program, Without::Nothing);
    UNSCOPED_INFO(program.name << ": " << result.orders << " orders");
    CHECK(result.wrong == "");
    CHECK(result.orders > 50);
    for (const std::string& what : program.reaches) {
      INFO(what);
      CHECK(result.reached.contains(what));
    }
  }
}

TEST_CASE("Protocols that leave out a step are caught") {
  const std::string stale = "not seen under a lock: what it guards";
  const std::string lost = "a store was lost";
  const std::string stuck = "a thread waits for ever";
  CHECK(first_wrong_of_all(Without::Waiting) == stale);
  CHECK(first_wrong_of_all(Without::Asking) == stuck);
  CHECK(first_wrong_of_all(Without::AskingAgain) == stuck);
  CHECK(first_wrong_of_all(Without::Owing) == stale);
  CHECK(first_wrong_of_all(Without::CommitOfOwn) == stale);
  CHECK(first_wrong_of_all(Without::CommitOfOthers) == stale);
  CHECK(first_wrong_of_all(Without::Keeping) == stale);
  CHECK(first_wrong_of_all(Without::Order) == stale);
  CHECK(first_wrong_of_all(Without::Merging) == stale);
  CHECK(first_wrong_of_all(Without::Leaving) == lost);
}
