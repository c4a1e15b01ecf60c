#include "repair/isolate/memory/common_memory.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "repair/isolate/memory/common_calls.h"
#include "tests/repair/isolate/child.h"

namespace {

int initialized = 1;
int zeroed;
thread_local int of_thread = 3;
char large[256 << 20];

uint64_t file_bytes() {
  struct stat status;
  return fstat(hpcrun::common_memory_file(), &status) ? 0 : static_cast<uint64_t>(status.st_blocks) * 512;
}

// Refuses a system call, as containers do.
bool refuse_call(unsigned number) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[gnu::noinline]] int recurse(int depth) {
  volatile char frame[64 * 1024];
  frame[0] = static_cast<char>(depth);
  frame[sizeof frame - 1] = 1;
  return depth ? recurse(depth - 1) + frame[sizeof frame - 1] : frame[0];
}

uint64_t address_space_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

bool is_mapped_from_file() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:prof-common") != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("globals, heap, stack and thread-local data are the same in another process") {
  CHECK(holds_in_child([] {
    char* const text = strdup("before");
    int on_stack = 4;
    if (!hpcrun::make_common()) return false;
    if (initialized != 1 || of_thread != 3 || strcmp(text, "before")) return false;
    const bool is_over = in_other_process([&] {
      initialized = 10;
      zeroed = 20;
      of_thread = 30;
      on_stack = 40;
      strcpy(text, "behind");
    });
    return is_over && initialized == 10 && zeroed == 20 && of_thread == 30 && on_stack == 40 &&
           !strcmp(text, "behind");
  }));
}

TEST_CASE("code and constants are not common, nor what is not mapped") {
  CHECK(holds_in_child([] {
    const char* const constant = "constant";
    return !hpcrun::is_common(&initialized) && hpcrun::common_memory_file() < 0 && hpcrun::make_common() &&
           hpcrun::is_common(&initialized) && hpcrun::is_common(&constant) && !hpcrun::is_common(constant) &&
           !hpcrun::is_common(nullptr) && !hpcrun::is_common(reinterpret_cast<void*>(-1));
  }));
}

TEST_CASE("memory that nobody touched takes none") {
  CHECK(holds_in_child([] {
    large[100 << 20] = 7;
    return hpcrun::make_common() && large[100 << 20] == 7 && hpcrun::is_common(large) &&
           file_bytes() < (32 << 20);
  }));
}

TEST_CASE("the main stack can be used up to its limit") {
  CHECK(holds_in_child([] { return hpcrun::make_common() && recurse(7 * 16) == 7 * 16; }));
}

TEST_CASE("the stack is whole wherever it ends in its page") {
  for (size_t more = 0; more < 4096; more += 128)
    CHECK(holds_in_child([=] {
      char* const below = static_cast<char*>(__builtin_alloca(more + 1));
      memset(below, 9, more + 1);
      return hpcrun::make_common() && below[0] == 9 && below[more] == 9 && fcntl(STDIN_FILENO, F_GETFD) >= 0;
    }));
}

TEST_CASE("beyond the limit of the main stack is SIGSEGV") {
  const int status = status_of([] { return hpcrun::make_common() ? recurse(9 * 16) : 1; });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}

TEST_CASE("the file is closed by exec and has a high number") {
  CHECK(holds_in_child([] {
    return hpcrun::make_common() && hpcrun::common_memory_file() > 100 &&
           (fcntl(hpcrun::common_memory_file(), F_GETFD) & FD_CLOEXEC);
  }));
}

TEST_CASE("arguments and environment are shown to others as before") {
  const auto shown = [](const char* name) {
    std::ifstream file(std::string("/proc/self/") + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string arguments = shown("cmdline"), environment = shown("environ");
  REQUIRE_FALSE(arguments.empty());
  CHECK(holds_in_child([&] {
    // Also on later calls, when the copy has become common.
    for (int turn = 0; turn < 3; ++turn)
      if (!hpcrun::make_common() || shown("cmdline") != arguments || shown("environ") != environment)
        return false;
    return true;
  }));
}

TEST_CASE("what cannot be is declined with its reason, and the memory stays as it was") {
  const auto is_declined = [](const char* why) {
    return !hpcrun::make_common() &&
           std::string(hpcrun::reason_not_common()).find(why) != std::string::npos &&
           !hpcrun::is_common(&initialized) && initialized == 1;
  };
  const auto limit = [](int resource, rlim_t most) {
    rlimit value{most, most};
    return setrlimit(static_cast<__rlimit_resource>(resource), &value) == 0;
  };
  CHECK(holds_in_child([&] { return limit(RLIMIT_AS, rlim_t{100} << 30) && is_declined("ulimit -v"); }));
  CHECK(holds_in_child([&] { return limit(RLIMIT_DATA, rlim_t{100} << 30) && is_declined("ulimit -d"); }));
  CHECK(holds_in_child([&] { return limit(RLIMIT_FSIZE, 1 << 20) && is_declined("ulimit -f"); }));
  CHECK(holds_in_child(
      [&] { return refuse_call(SYS_memfd_create) && is_declined("memfd_create() is refused"); }));
  CHECK(holds_in_child([&] {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    std::thread other([&] { pthread_barrier_wait(&barrier); });
    const bool is_right = is_declined("threads");
    pthread_barrier_wait(&barrier);
    other.join();
    return is_right;
  }));
}

TEST_CASE("a process that leaves and comes back has one reservation") {
  CHECK(holds_in_child([] {
    const auto leave_and_come_back = [] { return hpcrun::leave_common() && hpcrun::make_common(); };
    if (!hpcrun::make_common() || !leave_and_come_back()) return false;
    const uint64_t before = address_space_bytes();
    // Memory that was taken from a reservation stays.
    const long piece =
        hpcrun::common_mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const kept = reinterpret_cast<char*>(piece);
    kept[4096] = 7;
    for (int turn = 0; turn < 5; ++turn)
      if (!leave_and_come_back()) return false;
    return kept[4096] == 7 && kept[0] == 0 && address_space_bytes() < before + (uint64_t{1} << 30);
  }));
}

TEST_CASE("what ends is private memory with the same contents, and nothing is set aside") {
  CHECK(holds_in_child([] {
    const uint64_t bare = address_space_bytes();
    char* const text = strdup("before");
    large[100 << 20] = 5;
    if (!hpcrun::make_common()) return false;
    const long piece =
        hpcrun::common_mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const kept = reinterpret_cast<char*>(piece);
    kept[4096] = 7;
    hpcrun::common_mprotect(kept, 4096, PROT_NONE);
    large[101 << 20] = 6;
    if (!hpcrun::end_common()) return false;
    if (hpcrun::is_common(&initialized) || hpcrun::common_memory_file() >= 0 || is_mapped_from_file())
      return false;
    if (strcmp(text, "before") || initialized != 1 || of_thread != 3 || kept[4096] != 7 || kept[8192])
      return false;
    if (large[100 << 20] != 5 || large[101 << 20] != 6 || large[102 << 20]) return false;
    if (address_space_bytes() > bare + (uint64_t{64} << 20)) return false;
    // It is private memory: a child has a copy, and pages that are given back read as zeros.
    madvise(kept + 4096, 4096, MADV_DONTNEED);
    const int child = status_of([&] {
      initialized = 9;
      return large[100 << 20] == 5 && recurse(20) == 20 ? 0 : 1;
    });
    return child == 0 && initialized == 1 && kept[4096] == 0 && hpcrun::make_common() &&
           large[101 << 20] == 6;
  }));
}

TEST_CASE("what lies around a stack in the midst of other memory is moved with it") {
  CHECK(holds_in_child([] {
    constexpr size_t kBytes = 4 << 20;
    auto* const memory =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memory[0] = 3;
    memory[kBytes - 1] = 4;
    const auto run = [](void* at) {
      const auto* const around = static_cast<char*>(at);
      return hpcrun::make_common() && hpcrun::is_common(&around) && around[0] == 3 && around[kBytes - 1] == 4
                 ? 0
                 : 1;
    };
    const int child = clone(run, memory + kBytes / 2, SIGCHLD, memory);
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
  }));
}

TEST_CASE("new memory is zeros where other memory was common, which went by a call that nobody saw") {
  CHECK(holds_in_child([] {
    constexpr long kBytes = 8 * 4096;
    if (!hpcrun::make_common()) return false;
    const long piece =
        hpcrun::common_mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const at = reinterpret_cast<char*>(piece);
    memset(at, 1, kBytes);
    // Maps as the loader maps a library.
    if (syscall(SYS_munmap, at, kBytes) != 0 ||
        syscall(SYS_mmap, at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != piece)
      return false;
    at[4096] = 2;
    if (!hpcrun::make_common()) return false;
    for (long byte = 0; byte < kBytes; ++byte)
      if (at[byte] != (byte == 4096 ? 2 : 0)) return false;
    return hpcrun::is_common(at);
  }));
}
