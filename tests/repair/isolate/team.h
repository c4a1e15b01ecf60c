#pragma once
// Threads of a test program with stacks in common memory, and how a test program reports errors.

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

#define REQUIRE_THAT(condition)                                        \
  do {                                                                 \
    if (condition) break;                                              \
    dprintf(2, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    _exit(1);                                                          \
  } while (false)

inline int thread_id() {
  return static_cast<int>(syscall(SYS_gettid));
}

constexpr int kMaxMembers = 32;
constexpr size_t kStackBytes = 256 * 1024;
alignas(4096) inline char team_stacks[kMaxMembers][kStackBytes];

class Team {
 public:
  using Work = std::function<void(int)>;

  Team() = default;
  Team(int count, Work work) : Team() { add(count, std::move(work)); }
  ~Team() { join(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void add(int count, Work work) {
    for (int i = 0; i < count; ++i) {
      Member& member = members_[size_];
      member = {work, i, 0};
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstack(&attributes, team_stacks[first_stack() + size_], kStackBytes);
      const auto run = [](void* raw) -> void* {
        auto& self = *static_cast<Member*>(raw);
        self.work(self.index);
        return nullptr;
      };
      REQUIRE_THAT(pthread_create(&member.thread, &attributes, run, &member) == 0);
      pthread_attr_destroy(&attributes);
      ++size_;
    }
  }
  void join() {
    for (int i = 0; i < size_; ++i) REQUIRE_THAT(pthread_join(members_[i].thread, nullptr) == 0);
    taken_stacks() -= size_ ? kMaxMembers / 4 : 0;
    size_ = 0;
  }
  pthread_t thread(int i) const { return members_[i].thread; }

 private:
  struct Member {
    Work work;
    int index = 0;
    pthread_t thread = 0;
  };
  static int& taken_stacks() {
    static int taken = 0;
    return taken;
  }
  // Each team has a quarter of the stacks.
  int first_stack() {
    if (!size_) first_ = std::exchange(taken_stacks(), taken_stacks() + kMaxMembers / 4);
    return first_;
  }

  Member members_[kMaxMembers / 4];
  int size_ = 0;
  int first_ = 0;
};
