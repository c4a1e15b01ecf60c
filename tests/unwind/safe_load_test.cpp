#include <catch2/catch.hpp>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "hpcrun/guest/safe_load.h"

namespace {

using hpcrun::SafeLoadMethod;
constexpr size_t kPage = 4096;

// Three pages; the middle one has the requested protection.
struct Pages {
  explicit Pages(int middle_protection, int last_protection = PROT_NONE) {
    at = static_cast<unsigned char*>(
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(at != MAP_FAILED);
    std::iota(at, at + 3 * kPage, static_cast<unsigned char>(0));
    REQUIRE(mprotect(at + kPage, kPage, middle_protection) == 0);
    REQUIRE(mprotect(at + 2 * kPage, kPage, last_protection) == 0);
  }
  ~Pages() { munmap(at, 3 * kPage); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  uint64_t address(size_t offset) const { return reinterpret_cast<uint64_t>(at) + offset; }
  unsigned char* at;
};

struct WithMethod {
  explicit WithMethod(SafeLoadMethod method) { hpcrun::set_safe_load_method(method); }
  ~WithMethod() { hpcrun::set_safe_load_method(SafeLoadMethod::ProcessVmReadv); }
};

bool reads(uint64_t from, size_t bytes) {
  std::vector<unsigned char> target(bytes);
  return hpcrun::safe_read(from, target.data(), bytes);
}

}  // namespace

TEST_CASE("bad pointers are results, good ones are values, by either method") {
  const auto method = GENERATE(SafeLoadMethod::ProcessVmReadv, SafeLoadMethod::SignalMaskProbe);
  const WithMethod with(method);
  errno = 4242;

  SECTION("a readable word") {
    const uint64_t word = 0x0123456789abcdef;
    uint64_t value = 0;
    REQUIRE(hpcrun::safe_load_word(reinterpret_cast<uint64_t>(&word), value));
    CHECK(value == word);
  }
  SECTION(
      "the first page, kernel addresses, addresses that are not canonical, the end of the address space") {
    CHECK_FALSE(reads(0, 8));
    CHECK_FALSE(reads(8, 8));
    CHECK_FALSE(reads(0xffffffff81000000u, 8));
    CHECK_FALSE(reads(0xffff888000000000u, 8));
    CHECK_FALSE(reads(0x8000000000000000u, 8));
    CHECK_FALSE(reads(0x0000800000000000u, 8));
    CHECK_FALSE(reads(0xfffffffffffffff8u, 8));
    CHECK_FALSE(reads(0xfffffffffffffffcu, 8));
  }
  SECTION("an unmapped page") {
    Pages pages(PROT_READ);
    REQUIRE(munmap(pages.at + kPage, kPage) == 0);
    CHECK_FALSE(reads(pages.address(kPage), 1));
    CHECK_FALSE(reads(pages.address(2 * kPage - 8), 8));
  }
  SECTION("a protected page, and reads that reach into it") {
    const Pages pages(PROT_NONE);
    CHECK_FALSE(reads(pages.address(kPage), 8));
    CHECK_FALSE(reads(pages.address(kPage - 4), 8));
    CHECK_FALSE(reads(pages.address(kPage - 1), 2));
    CHECK_FALSE(reads(pages.address(10), 2 * kPage));
    CHECK(reads(pages.address(kPage - 8), 8));
    CHECK(reads(pages.address(0), kPage));
  }
  SECTION("a read across two readable pages, not aligned") {
    const Pages pages(PROT_READ);
    unsigned char target[100];
    REQUIRE(hpcrun::safe_read(pages.address(kPage - 37), target, sizeof target));
    CHECK(std::memcmp(target, pages.at + kPage - 37, sizeof target) == 0);
    CHECK_FALSE(reads(pages.address(2 * kPage - 37), 38));
    CHECK(reads(pages.address(2 * kPage - 37), 37));
  }
  SECTION("a page of a file behind the file's end, where a load is a SIGBUS") {
    const int fd = memfd_create("short", MFD_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(ftruncate(fd, 1) == 0);
    void* at = mmap(nullptr, 2 * kPage, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(at != MAP_FAILED);
    CHECK(reads(reinterpret_cast<uint64_t>(at), 8));
    CHECK_FALSE(reads(reinterpret_cast<uint64_t>(at) + kPage, 8));
    munmap(at, 2 * kPage);
    close(fd);
  }
  SECTION("with SIGSEGV blocked") {
    sigset_t block;
    sigset_t before;
    sigemptyset(&block);
    sigaddset(&block, SIGSEGV);
    REQUIRE(sigprocmask(SIG_BLOCK, &block, &before) == 0);
    CHECK_FALSE(reads(16, 8));
    sigset_t after;
    REQUIRE(sigprocmask(SIG_SETMASK, &before, &after) == 0);
    CHECK(std::memcmp(&after, &block, sizeof(unsigned long)) == 0);
  }
  CHECK(errno == 4242);
  CHECK(hpcrun::safe_load_method() == method);
}

TEST_CASE("where process_vm_readv is refused, the other method takes over by itself") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof program / sizeof program[0], program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
      _exit(2);
    }
    const uint64_t word = 77;
    uint64_t value = 0;
    const bool good = hpcrun::safe_load_word(reinterpret_cast<uint64_t>(&word), value) && value == 77;
    const bool bad = hpcrun::safe_load_word(16, value);
    const bool changed = hpcrun::safe_load_method() == SafeLoadMethod::SignalMaskProbe;
    _exit(good && !bad && changed ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) {
    WARN("no seccomp filter here: the change of method was not tested");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}
