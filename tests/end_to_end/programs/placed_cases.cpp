// placed_cases ALIGN OFFSET PAD: allocates in all possible ways from call sites of which the repair plan
// names those in named(). Checks that these allocations are placed as planned, with nothing else on their
// lines, and that all behave as allocations do. Prints how many the plan places, or what is wrong.
//
// placed_cases storm: the same from several threads at random, with contents checked; placement is not
// checked. placed_cases lives: from before main() to after its end, in threads that end and in a process that
// is replaced. placed_cases deepbind LIBRARY: a library that takes free() from the C library releases
// allocations. placed_cases churn: makes many more allocations at a time than can be recorded.

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr size_t kLine = 64;
uint64_t align, offset, pad;
std::atomic<size_t> placed = 0;  // allocations that the plan names

[[noreturn]] void fail(const char* what, const void* at) {
  std::fprintf(stderr, "%s (%p)\n", what, at);
  std::_Exit(1);
}

// Prevents a tail call: the return address is the function's own.
void* keep(void* at) {
  asm volatile("" : "+r"(at));
  return at;
}

}  // namespace

// Tests look up their names in the program's code.
extern "C" {
[[gnu::noinline]] void* named_malloc(size_t bytes) {
  return keep(malloc(bytes));
}
[[gnu::noinline]] void* named_calloc(size_t bytes) {
  return keep(calloc(bytes / 8, 8));
}
[[gnu::noinline]] void* named_realloc(void* at, size_t bytes) {
  return keep(realloc(at, bytes));
}
[[gnu::noinline]] void* named_reallocarray(void* at, size_t bytes) {
  return keep(reallocarray(at, bytes / 8, 8));
}
[[gnu::noinline]] void* named_aligned_alloc(size_t own, size_t bytes) {
  return keep(aligned_alloc(own, bytes));
}
[[gnu::noinline]] void* named_memalign(size_t own, size_t bytes) {
  return keep(memalign(own, bytes));
}
[[gnu::noinline]] void* named_posix_memalign(size_t own, size_t bytes) {
  void* at = nullptr;
  errno = 4711;
  const int error = posix_memalign(&at, own, bytes);
  if (errno != 4711) fail("posix_memalign changes errno", at);
  return error ? nullptr : keep(at);
}
[[gnu::noinline]] void* other_malloc(size_t bytes) {
  return keep(malloc(bytes));
}
}

namespace {

// For operator new(), the plan names its call of malloc for sizes from this one on.
constexpr size_t kNewBytes = 328;

struct Object {
  unsigned char* at;
  size_t bytes;
  bool is_placed;
};

void fill(const Object& object, size_t seed) {
  for (size_t i = 0; i < object.bytes; ++i) object.at[i] = static_cast<unsigned char>(seed + i * 7);
}

void check_contents(const Object& object, size_t bytes, size_t seed) {
  for (size_t i = 0; i < bytes; ++i)
    if (object.at[i] != static_cast<unsigned char>(seed + i * 7)) fail("contents are lost", object.at + i);
}

Object made(void* at, size_t bytes, bool is_placed) {
  if (!at) fail("no memory", at);
  if (is_placed && reinterpret_cast<uint64_t>(at) % align != offset)
    fail("it does not lie where it should", at);
  if (malloc_usable_size(at) < bytes) fail("it can be used for less than was asked for", at);
  placed += is_placed;
  return {static_cast<unsigned char*>(at), bytes, is_placed};
}

Object make(size_t way, size_t bytes) {
  switch (way % 13) {
    case 0:
      return made(named_malloc(bytes), bytes, true);
    case 1: {
      const Object object = made(named_calloc(bytes), bytes, true);
      for (size_t i = 0; i < bytes; ++i)
        if (object.at[i]) fail("calloc's memory is not zeroed", object.at);
      return object;
    }
    case 2:
      return made(named_realloc(nullptr, bytes), bytes, true);
    case 3:
      return made(named_reallocarray(nullptr, bytes), bytes, true);
    case 4:
      return made(named_aligned_alloc(16, bytes), bytes, true);
    case 5:
      return made(named_memalign(16, bytes), bytes, true);
    case 6:
      return made(named_posix_memalign(16, bytes), bytes, true);
    case 7:
      return made(::operator new(kNewBytes), kNewBytes, true);
    case 8:
      return made(::operator new[](kNewBytes + 8), kNewBytes + 8, true);
    case 9:
      return made(::operator new(kNewBytes + 16, std::nothrow), kNewBytes + 16, true);
    case 10:
      return made(valloc(bytes), bytes, false);
    default:
      return made(other_malloc(bytes), bytes, false);
  }
}

// Checks that a placed allocation is alone on its lines.
void check_neighbours(std::vector<Object> objects) {
  std::sort(objects.begin(), objects.end(), [](const Object& a, const Object& b) { return a.at < b.at; });
  const auto line_of = [](const unsigned char* at) { return reinterpret_cast<uint64_t>(at) / kLine; };
  for (size_t i = 1; i < objects.size(); ++i) {
    const Object &before = objects[i - 1], &after = objects[i];
    if ((before.is_placed || after.is_placed) && line_of(before.at + before.bytes - 1) >= line_of(after.at))
      fail("a neighbour is on its line", after.at);
  }
}

void release(std::vector<Object>& objects, size_t from, size_t step) {
  for (size_t i = from; i < objects.size(); i += step) {
    check_contents(objects[i], objects[i].bytes, i);
    if (objects[i].bytes >= kNewBytes && objects[i].bytes <= kNewBytes + 16 && objects[i].bytes % 8 == 0 &&
        i % 13 >= 7 && i % 13 <= 9)
      i % 13 == 8 ? ::operator delete[](objects[i].at) : ::operator delete(objects[i].at, objects[i].bytes);
    else
      free(objects[i].at);
  }
}

std::vector<Object> make_all(size_t count) {
  std::vector<Object> objects;
  for (size_t i = 0; i < count; ++i) {
    objects.push_back(make(i, 8 + i * 8 % 200));
    fill(objects.back(), i);
  }
  return objects;
}

// Sizes between 8 and 256 bytes are placed at the named realloc, others are not.
void reallocate(std::vector<Object>& objects) {
  for (size_t i = 0; i < objects.size(); ++i) {
    Object& object = objects[i];
    if (i % 13 >= 7) continue;
    const size_t kept = object.bytes;
    const size_t bytes = i % 3 ? 16 + i * 8 % 200 : 4096 + i;
    object = made(named_realloc(object.at, bytes), bytes, bytes <= 256);
    check_contents(object, std::min(kept, bytes), i);
    fill(object, i);
  }
}

void check_limits() {
  // Requested alignments are kept. If the placement contradicts them, only the alignment applies.
  for (const size_t own : {32, 64, 256, 4096}) {
    void* const at = named_aligned_alloc(own, 96);
    if (!at || reinterpret_cast<uint64_t>(at) % own) fail("its own alignment is lost", at);
    placed += offset % own == 0;
    free(at);
  }
  errno = 0;
  if (void* const at = named_memalign(24, 96)) free(at);  // not a power of two: the allocator decides
  void* out = &out;
  if (posix_memalign(&out, 24, 96) != EINVAL) fail("a wrong alignment is right", out);
  volatile size_t huge = PTRDIFF_MAX;
  for (const size_t more : {0ul, 1ul, huge / 2}) {
    errno = 0;
    void* const at = named_malloc(huge + more);
    if (at || errno != ENOMEM) fail("more than there is was allocated", at);
  }
  volatile size_t many = SIZE_MAX / 4;
  if (calloc(many, 8) || reallocarray(nullptr, many, 8)) fail("an overflow was allocated", nullptr);
  void* const none = named_malloc(0);
  free(none);
  void* const one = named_malloc(24);
  ++placed;
  if (void* const at = realloc(one, 0)) free(at);
  free(nullptr);
  errno = 33;
  free(named_malloc(24));
  ++placed;
  if (errno != 33) fail("errno is not kept", nullptr);
  if (malloc_usable_size(nullptr) != 0) fail("nothing can be used", nullptr);
}

int child_works(std::vector<Object>& inherited) {
  release(inherited, 0, 1);
  std::vector<Object> own;
  for (size_t i = 0; i < 100; ++i) {
    own.push_back({static_cast<unsigned char*>(malloc(8 + i)), 8 + i, false});
    fill(own.back(), i);
  }
  for (size_t i = 0; i < own.size(); ++i) {
    check_contents(own[i], own[i].bytes, i);
    free(own[i].at);
  }
  return 7;
}

int all_ways() {
  std::vector<Object> objects = make_all(1300);
  check_neighbours(objects);
  reallocate(objects);
  check_neighbours(objects);
  std::fflush(stdout);
  if (const pid_t child = fork(); child == 0) {
    _exit(child_works(objects));
  } else {
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
      fail("the forked child fails", nullptr);
  }
  std::thread other([&] { release(objects, 0, 2); });
  release(objects, 1, 2);
  other.join();
  check_limits();
  std::printf("%zu\n", placed + 1);  // and one after main()
  return 0;
}

void storm_of(uint64_t seed, std::vector<std::vector<Object>>& left) {
  std::mt19937_64 random(seed);
  std::vector<Object> live;
  for (int i = 0; i < 60'000; ++i) {
    const size_t bytes = 8 + random() % 249;
    const auto any = [&]() -> Object& { return live[random() % live.size()]; };
    if (live.size() < 50 || random() % 3 == 0) {
      void* at = nullptr;
      switch (random() % 6) {
        case 0:
          at = named_malloc(bytes);
          break;
        case 1:
          at = named_calloc(bytes);
          break;
        case 2:
          at = named_realloc(nullptr, bytes);
          break;
        case 3:
          at = named_posix_memalign(16u << random() % 4, bytes);
          break;
        case 4:
          at = ::operator new(kNewBytes);
          break;
        default:
          at = other_malloc(bytes);
      }
      live.push_back({static_cast<unsigned char*>(at), bytes / 8 * 8, false});
      fill(live.back(), live.back().bytes);
    } else if (random() % 3 == 0) {
      Object& object = any();
      check_contents(object, object.bytes, object.bytes);
      const size_t kept = object.bytes;
      object = {static_cast<unsigned char*>(random() % 2 ? named_realloc(object.at, bytes)
                                                         : realloc(object.at, bytes)),
                bytes, false};
      check_contents(object, std::min(kept, bytes), kept);
      fill(object, bytes);
    } else {
      Object& object = any();
      check_contents(object, object.bytes, object.bytes);
      free(object.at);
      object = live.back();
      live.pop_back();
    }
  }
  left[seed] = std::move(live);
}

// Threads pass their objects to other threads, which release some of them after the first thread has ended.
int storm() {
  constexpr size_t kThreads = 4;
  std::vector<std::vector<Object>> left(kThreads);
  std::vector<std::thread> team;
  for (size_t i = 0; i < kThreads; ++i) team.emplace_back([i, &left] { storm_of(i, left); });
  for (std::thread& one : team) one.join();
  for (const std::vector<Object>& objects : left)
    for (const Object& object : objects) {
      check_contents(object, object.bytes, object.bytes);
      free(object.at);
    }
  std::printf("done\n");
  return 0;
}

// Created before main(), used in it, released after it.
struct Global {
  Object object;
  explicit Global(size_t bytes) : object{static_cast<unsigned char*>(named_malloc(bytes)), bytes, true} {
    ++placed;
    fill(object, bytes);
  }
  ~Global() {
    check_contents(object, object.bytes, object.bytes);
    free(object.at);
    free(named_malloc(24));
  }
};
Global global(40);
thread_local Global of_thread(56);

void at_exit() {
  free(named_realloc(named_malloc(48), 64));
}

int lives(char** argv) {
  atexit(at_exit);
  check_contents(global.object, 40, 40);
  std::vector<std::thread> team;
  for (int i = 0; i < 8; ++i) team.emplace_back([] { check_contents(of_thread.object, 56, 56); });
  for (std::thread& one : team) one.join();
  check_contents(of_thread.object, 56, 56);
  if (const pid_t child = fork(); child == 0) {
    const Object own{static_cast<unsigned char*>(named_malloc(48)), 48, true};
    fill(own, 3);
    free(global.object.at);
    global.object = own;
    execl("/proc/self/exe", argv[0], "churn", nullptr);
    _exit(1);
  } else {
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) fail("the child fails", nullptr);
  }
  std::printf("done\n");
  return 0;
}

int deepbind(const char* path) {
  // An allocation that begins where the allocator's block does may be released by any library.
  void* const library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  auto* const release_there =
      library ? reinterpret_cast<void (*)(void*)>(dlsym(library, "release_here")) : nullptr;
  if (!release_there) fail(dlerror(), nullptr);
  for (size_t i = 0; i < 1000; ++i) {
    const Object object{static_cast<unsigned char*>(named_malloc(40)), 40, true};
    fill(object, i);
    check_contents(object, 40, i);
    release_there(object.at);
  }
  std::printf("done\n");
  return 0;
}

int churn() {
  std::vector<unsigned char*> kept;
  for (size_t i = 0; i < 150'000; ++i) {
    kept.push_back(static_cast<unsigned char*>(named_malloc(40)));
    memset(kept.back(), static_cast<int>(i), 40);
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i][39] != static_cast<unsigned char>(i)) fail("contents are lost", kept[i]);
    free(kept[i]);
  }
  std::printf("done\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return deepbind(argv[2]);
  if (argc == 2)
    return strcmp(argv[1], "storm") == 0 ? storm() : strcmp(argv[1], "lives") == 0 ? lives(argv) : churn();
  if (argc != 4) return 2;
  align = strtoull(argv[1], nullptr, 10);
  offset = strtoull(argv[2], nullptr, 10);
  pad = strtoull(argv[3], nullptr, 10);
  return all_ways();
}
