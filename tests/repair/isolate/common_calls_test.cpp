#include "repair/isolate/memory/common_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/contract/pages.h"
#include "repair/isolate/memory/runtime_memory.h"
#include "tests/repair/isolate/child.h"

using hpcrun::kPageBytes;

namespace {

constexpr int kPlain = PROT_READ | PROT_WRITE;

char* map(size_t bytes, int protection = kPlain, int flags = 0, void* at = nullptr) {
  const long result = hpcrun::common_mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<char*>(result);
}

uint64_t file_bytes() {
  struct stat status;
  return fstat(hpcrun::common_memory_file(), &status) ? 0 : static_cast<uint64_t>(status.st_blocks) * 512;
}

bool is_zero(const char* from, size_t bytes) {
  for (size_t at = 0; at < bytes; ++at)
    if (from[at]) return false;
  return true;
}

bool is_protected(const char* address) {
  int ends[2];
  if (pipe(ends)) return false;
  const bool is_refused = write(ends[1], address, 1) < 0 && errno == EFAULT;
  close(ends[0]);
  close(ends[1]);
  return is_refused;
}

// Returns the status of a child, forked as a program forks.
template <typename Function>
int forked_status(Function function) {
  if (!hpcrun::leave_common()) return -1;
  const pid_t child = fork();
  if (child == 0) {
    hpcrun::forked_from_common();
    _exit(function() ? 0 : 1);
  }
  return child;
}

bool ended_well(int child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

TEST_CASE("what is mapped later is common, in every process at once") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const here = map(3 * kPageBytes);
    char* elsewhere = nullptr;
    const bool is_over = in_other_process([&] {
      here[0] = 1;
      elsewhere = map(100 * kPageBytes);
      elsewhere[99 * kPageBytes] = 2;
    });
    return is_over && hpcrun::is_common(here) && here[0] == 1 && elsewhere[99 * kPageBytes] == 2 &&
           hpcrun::is_common(elsewhere) && elsewhere != here;
  }));
}

TEST_CASE("memory that is given back is the kernel's, and zeros when it is handed out again") {
  CHECK(holds_in_child([] {
    constexpr size_t kBytes = 32 << 20;
    if (!hpcrun::make_common()) return false;
    const uint64_t before = file_bytes();
    char* const first = map(kBytes);
    memset(first, 1, kBytes);
    if (file_bytes() < before + kBytes) return false;
    if (hpcrun::common_munmap(first, kBytes) || file_bytes() > before + kBytes / 16 ||
        hpcrun::is_common(first))
      return false;
    char* const second = map(kBytes);
    return second == first && is_zero(second, kBytes);
  }));
}

TEST_CASE("a part that is unmapped leaves the rest") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const piece = map(8 * kPageBytes);
    memset(piece, 7, 8 * kPageBytes);
    if (hpcrun::common_munmap(piece + 2 * kPageBytes, 3 * kPageBytes)) return false;
    char* const inside = map(3 * kPageBytes);
    return piece[2 * kPageBytes - 1] == 7 && piece[5 * kPageBytes] == 7 && inside == piece + 2 * kPageBytes &&
           is_zero(inside, 3 * kPageBytes);
  }));
}

TEST_CASE("pages that are not needed read as zeros, whatever they are protected from") {
  const int advice = GENERATE(MADV_DONTNEED, MADV_FREE);
  const int protection = GENERATE(kPlain, PROT_READ, PROT_NONE);
  CHECK(holds_in_child([=] {
    if (!hpcrun::make_common()) return false;
    char* const piece = map(4 * kPageBytes);
    memset(piece, 7, 4 * kPageBytes);
    if (hpcrun::common_mprotect(piece, 4 * kPageBytes, protection)) return false;
    if (hpcrun::common_madvise(piece + kPageBytes, 2 * kPageBytes, advice)) return false;
    if (hpcrun::common_mprotect(piece, 4 * kPageBytes, kPlain)) return false;
    return piece[kPageBytes - 1] == 7 && is_zero(piece + kPageBytes, 2 * kPageBytes) &&
           piece[3 * kPageBytes] == 7;
  }));
}

TEST_CASE("a wish for huge pages leaves memory common, and as it was") {
  const int advice = GENERATE(MADV_HUGEPAGE, MADV_NOHUGEPAGE);
  CHECK(holds_in_child([=] {
    if (!hpcrun::make_common()) return false;
    constexpr size_t kBytes = size_t{4} << 20;
    char* const piece = map(kBytes);
    memset(piece, 7, kBytes / 2);
    if (hpcrun::common_madvise(piece, kBytes, advice)) return false;
    return hpcrun::is_common(piece) &&
           !hpcrun::common_state.hold.altered.has(reinterpret_cast<uint64_t>(piece)) &&
           piece[kBytes / 2 - 1] == 7 && is_zero(piece + kBytes / 2, kBytes / 2);
  }));
}

TEST_CASE("a piece that was protected is handed out again without") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const guard = map(4 * kPageBytes, PROT_NONE);
    if (!is_protected(guard) || hpcrun::common_munmap(guard, 4 * kPageBytes)) return false;
    char* const piece = map(4 * kPageBytes);
    piece[0] = 1;
    return piece == guard;
  }));
}

TEST_CASE("memory grows and moves with its contents and its protection") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    const auto remap = [](char* at, size_t bytes, size_t new_bytes, int flags, void* to = nullptr) {
      return reinterpret_cast<char*>(hpcrun::common_mremap(at, bytes, new_bytes, flags, to));
    };
    char* const piece = map(2 * kPageBytes);
    memset(piece, 5, 2 * kPageBytes);
    char* const grown = remap(piece, 2 * kPageBytes, 4 * kPageBytes, 0);
    if (grown != piece || !is_zero(piece + 2 * kPageBytes, 2 * kPageBytes)) return false;
    map(kPageBytes);  // occupies the range
    if (remap(piece, 4 * kPageBytes, 8 * kPageBytes, 0) != reinterpret_cast<char*>(-ENOMEM)) return false;
    hpcrun::common_mprotect(piece, 4 * kPageBytes, PROT_READ);
    char* const moved = remap(piece, 4 * kPageBytes, 8 * kPageBytes, MREMAP_MAYMOVE);
    if (moved == piece || !hpcrun::is_common(moved) || hpcrun::is_common(piece)) return false;
    if (moved[2 * kPageBytes - 1] != 5 || !is_zero(moved + 2 * kPageBytes, 6 * kPageBytes)) return false;
    hpcrun::common_mprotect(moved, 8 * kPageBytes, kPlain);
    if (remap(moved, 8 * kPageBytes, kPageBytes, 0) != moved || hpcrun::is_common(moved + kPageBytes))
      return false;
    char* const target = map(4 * kPageBytes);
    memset(target, 9, 4 * kPageBytes);
    return remap(moved, kPageBytes, 2 * kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, target + kPageBytes) ==
               target + kPageBytes &&
           target[0] == 9 && target[kPageBytes] == 5 && is_zero(target + 2 * kPageBytes, kPageBytes) &&
           target[3 * kPageBytes] == 9;
  }));
}

TEST_CASE("mapping over common memory replaces it, and a file there is no common memory") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const piece = map(8 * kPageBytes);
    memset(piece, 5, 8 * kPageBytes);
    if (map(kPageBytes, kPlain, MAP_FIXED, piece + kPageBytes) != piece + kPageBytes) return false;
    if (!is_zero(piece + kPageBytes, kPageBytes) || piece[0] != 5 || !hpcrun::is_common(piece + kPageBytes))
      return false;

    const int program = open("/proc/self/exe", O_RDONLY);
    char* const file_at = piece + 4 * kPageBytes;
    if (hpcrun::common_mmap(file_at, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, program, 0) !=
        reinterpret_cast<long>(file_at))
      return false;
    if (memcmp(file_at, "\177ELF", 4) || hpcrun::is_common(file_at)) return false;

    if (hpcrun::common_munmap(piece, 8 * kPageBytes)) return false;
    char* const again = map(8 * kPageBytes);
    memset(again + 8 * kPageBytes - 1, 1, 1);
    return again == piece && is_zero(again, 8 * kPageBytes - 1) && hpcrun::is_common(again + 4 * kPageBytes);
  }));
}

TEST_CASE(
    "address space that is reserved at a wish is where the kernel would have it, and common when it is "
    "used") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    auto* const wish = reinterpret_cast<char*>(uint64_t{0x2'0000'0000});
    constexpr size_t kBytes = size_t{8} << 30;
    char* const reserved = map(kBytes, PROT_NONE, MAP_NORESERVE, wish);
    if (reserved != wish || !is_protected(wish) ||
        hpcrun::common_mprotect(wish + kBytes / 2, kPageBytes, kPlain))
      return false;
    const bool is_over = in_other_process([&] { wish[kBytes / 2] = 3; });
    return is_over && wish[kBytes / 2] == 3 &&
           map(kPageBytes, kPlain, MAP_FIXED_NOREPLACE, wish) == nullptr &&
           hpcrun::common_munmap(wish, kBytes) == 0 && is_protected(wish) && !hpcrun::is_common(wish);
  }));
}

TEST_CASE("memory is common and where the program prefers it, unless something is mapped there") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    constexpr size_t kBytes = 4 * kPageBytes;
    const auto is_usable = [](char* at) {
      return at && hpcrun::is_common(at) && in_other_process([&] { at[kBytes - 1] = 3; }) &&
             at[kBytes - 1] == 3;
    };
    const auto is_hint_followed = [&](char* hint) {
      char* const first = map(kBytes, kPlain, 0, hint + 5);  // rounded up, like the kernel
      char* const other = map(kBytes, kPlain, 0, hint + kPageBytes);
      if (first != hint + kPageBytes || !is_usable(first) || other == first || !is_usable(other))
        return false;
      if (hpcrun::common_munmap(first, kBytes) || map(kBytes, kPlain | PROT_EXEC, 0, first) != first)
        return false;
      return is_usable(first) && is_zero(first, kBytes - 1) && hpcrun::common_munmap(first, kBytes) == 0;
    };
    char* const reserved = map(64 * kPageBytes);
    return hpcrun::common_munmap(reserved, 64 * kPageBytes) == 0 &&
           is_hint_followed(reinterpret_cast<char*>(uint64_t{0x2'0000'0000})) &&
           is_hint_followed(reserved + 32 * kPageBytes) &&
           is_usable(map(kBytes, kPlain, 0, reinterpret_cast<char*>(kPageBytes)));  // below vm.mmap_min_addr
  }));
}

TEST_CASE("errors are the kernel's") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const piece = map(kPageBytes);
    return hpcrun::common_mmap(nullptr, 0, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -EINVAL &&
           hpcrun::common_mmap(nullptr, ~size_t{0}, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -ENOMEM &&
           hpcrun::common_mmap(nullptr, size_t{1} << 48, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
               -ENOMEM &&
           hpcrun::common_mmap(piece + 1, kPageBytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                               0) == -EINVAL &&
           hpcrun::common_munmap(piece + 1, kPageBytes) == -EINVAL &&
           hpcrun::common_munmap(piece, 0) == -EINVAL &&
           hpcrun::common_madvise(piece + 1, kPageBytes, MADV_DONTNEED) == -EINVAL &&
           hpcrun::common_mremap(piece, kPageBytes, 0, MREMAP_MAYMOVE, nullptr) == -EINVAL;
  }));
}

TEST_CASE("the break's memory is common when it grows, and zeros when it grows again") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    const auto move = [](long by) {
      char* const before = static_cast<char*>(sbrk(0));
      sbrk(by);
      hpcrun::common_break_moved(before, sbrk(0));
      return before;
    };
    move(static_cast<long>(kPageBytes - reinterpret_cast<uint64_t>(sbrk(0)) % kPageBytes));
    char* const heap = move(16 * kPageBytes);
    if (!hpcrun::is_common(heap) || !in_other_process([=] { heap[15 * kPageBytes] = 4; }) ||
        heap[15 * kPageBytes] != 4)
      return false;
    move(-8 * static_cast<long>(kPageBytes));
    if (hpcrun::is_common(heap + 15 * kPageBytes)) return false;
    move(8 * kPageBytes);
    return hpcrun::is_common(heap + 15 * kPageBytes) && heap[15 * kPageBytes] == 0;
  }));
}

TEST_CASE("locking all memory locks no address space that is only reserved") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    const long result = hpcrun::common_mlockall(MCL_CURRENT | MCL_FUTURE);
    return (result == 0 || result == -EPERM || result == -ENOMEM) && file_bytes() < (64 << 20);
  }));
}

TEST_CASE("the runtime's own memory can be common") {
  CHECK(holds_in_child([] {
    hpcrun::Arena arena;
    if (!hpcrun::make_common() || hpcrun::is_common(arena.allocate(100))) return false;
    hpcrun::set_memory_source(&hpcrun::common_memory_source());
    char* const at = static_cast<char*>(arena.allocate(100000));
    const bool is_common = hpcrun::is_common(at) && in_other_process([&] { at[0] = 4; }) && at[0] == 4;
    arena.release_all();
    return is_common && !hpcrun::is_common(at);
  }));
}

TEST_CASE("an emptied page is the same in another process, and zero in a forked child") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    hpcrun::set_memory_source(&hpcrun::common_memory_source());
    auto* const mark = static_cast<volatile int*>(hpcrun::map_emptied_page());
    if (!mark || *mark) return false;
    *mark = 1;
    if (!in_other_process([&] { *mark = *mark + 1; }) || *mark != 2) return false;
    const int child = forked_status([&] {
      hpcrun::empty_pages_after_fork();
      return *mark == 0;
    });
    return ended_well(child) && *mark == 2;
  }));
}

TEST_CASE("after a fork parent and child have what was there, and what they write is their own") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    static int global = 1;
    char* const piece = map(4 * kPageBytes);
    memset(piece, 1, kPageBytes);
    int ends[2], back[2];
    if (pipe(ends) || pipe(back)) return false;
    char byte = 0;
    const int child = forked_status([&] {
      if (read(ends[0], &byte, 1) != 1) return false;  // until the parent has written
      const bool is_as_before = piece[0] == 1 && piece[kPageBytes] == 0 && global == 1;
      piece[0] = 3;
      global = 3;
      return write(back[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1 && is_as_before && piece[0] == 3;
    });
    piece[0] = piece[kPageBytes] = 2;
    global = 2;
    if (write(ends[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return false;
    // The child runs, and has the file too.
    const bool is_own = piece[0] == 2 && global == 2 && !hpcrun::is_common(piece);
    const bool is_again = hpcrun::make_common() && piece[0] == 2 && global == 2 && hpcrun::is_common(piece);
    piece[0] = 5;
    return is_own && is_again && write(ends[1], &byte, 1) == 1 && ended_well(child) &&
           in_other_process([&] { global = 6; }) && global == 6;
  }));
}

TEST_CASE("the child of a fork can have common memory of its own") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const piece = map(4 * kPageBytes);
    memset(piece, 1, kPageBytes);
    hpcrun::common_mprotect(piece, kPageBytes, PROT_NONE);
    const int child = forked_status([&] {
      if (!hpcrun::make_common() || !is_protected(piece)) return false;
      hpcrun::common_mprotect(piece, kPageBytes, kPlain);
      return piece[0] == 1 && hpcrun::is_common(piece) && in_other_process([&] { piece[0] = 7; }) &&
             piece[0] == 7;
    });
    hpcrun::common_mprotect(piece, kPageBytes, kPlain);
    return ended_well(child) && piece[0] == 1;
  }));
}

TEST_CASE("what is to be wiped at a fork is wiped") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    char* const piece = map(3 * kPageBytes);
    memset(piece, 8, 3 * kPageBytes);
    if (hpcrun::common_madvise(piece + kPageBytes, kPageBytes, MADV_WIPEONFORK)) return false;
    if (piece[kPageBytes] != 8 || hpcrun::is_common(piece + kPageBytes)) return false;
    const int child =
        forked_status([&] { return piece[0] == 8 && piece[kPageBytes] == 0 && piece[2 * kPageBytes] == 8; });
    return ended_well(child) && piece[kPageBytes] == 8;
  }));
}

// The same system calls with private memory leave the same contents, before and after a fork.
TEST_CASE("random calls leave what they leave of private memory") {
  const unsigned seed = GENERATE(range(1u, 9u));
  CHECK(holds_in_child([=] {
    constexpr size_t kPages = 64;
    if (!hpcrun::make_common()) return false;
    char* const ours = map(kPages * kPageBytes);
    char* const plain = static_cast<char*>(
        hpcrun::sys_mmap(nullptr, kPages * kPageBytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    int protection[kPages];
    std::fill_n(protection, kPages, kPlain);
    std::mt19937 random(seed);
    const auto anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    for (int turn = 0; turn < 600; ++turn) {
      const size_t first = random() % kPages, count = 1 + random() % std::min<size_t>(kPages - first, 9);
      char* const at = ours + first * kPageBytes;
      char* const at_plain = plain + first * kPageBytes;
      const size_t bytes = count * kPageBytes;
      long one = 0, other = 0;
      switch (turn == 300 ? 6 : random() % 6) {
        case 0:
          one = hpcrun::common_madvise(at, bytes, MADV_DONTNEED);
          other = hpcrun::sys_madvise(at_plain, bytes, MADV_DONTNEED);
          break;
        case 1: {
          const int wanted = random() % 2 ? kPlain : PROT_READ;
          one = hpcrun::common_mprotect(at, bytes, wanted);
          std::fill_n(protection + first, count, wanted);
          break;
        }
        case 2:
          one = hpcrun::common_mmap(at, bytes, kPlain, anonymous, -1, 0) - reinterpret_cast<long>(at);
          hpcrun::sys_mmap(at_plain, bytes, kPlain, anonymous, -1, 0);
          std::fill_n(protection + first, count, kPlain);
          break;
        case 3: {
          // Moves both to a larger place elsewhere, and back.
          if (first + 1 == kPages) break;  // it would grow
          const long away = hpcrun::common_mremap(at, kPageBytes, 3 * kPageBytes, MREMAP_MAYMOVE, nullptr);
          if (away == reinterpret_cast<long>(at)) return false;
          if (!is_zero(reinterpret_cast<char*>(away) + kPageBytes, 2 * kPageBytes)) return false;
          one = hpcrun::common_mremap(reinterpret_cast<void*>(away), 3 * kPageBytes, kPageBytes,
                                      MREMAP_MAYMOVE | MREMAP_FIXED, at) -
                reinterpret_cast<long>(at);
          break;
        }
        case 6: {
          if (!hpcrun::leave_common()) return false;
          const pid_t child = fork();
          if (child) return ended_well(child);  // the child does the rest
          hpcrun::forked_from_common();
          break;
        }
        default:
          for (size_t page = first; page < first + count; ++page) {
            if (protection[page] != kPlain) continue;
            const char value = static_cast<char>(random());
            ours[page * kPageBytes + 17] = plain[page * kPageBytes + 17] = value;
          }
      }
      if (one || other || memcmp(ours, plain, kPages * kPageBytes)) _exit(2);
    }
    _exit(0);
    return true;
  }));
}

namespace {

// Maps, drops and unmaps at random, and checks the contents of its memory.
bool uses_memory(unsigned number, int turns) {
  struct Piece {
    char* at;
    size_t bytes;
  };
  const char mark = static_cast<char>(number);
  std::mt19937 random(number);
  std::vector<Piece> pieces;
  for (int turn = 0; turn < turns; ++turn) {
    if (pieces.size() < 20 && random() % 2) {
      const size_t bytes = (1 + random() % 40) * kPageBytes;
      char* const at = map(bytes);
      if (!at || at[0] || at[bytes - 1]) return false;
      at[0] = at[bytes - 1] = mark;
      pieces.push_back({at, bytes});
    } else if (!pieces.empty()) {
      const Piece piece = pieces[random() % pieces.size()];
      if (piece.at[0] != mark || piece.at[piece.bytes - 1] != mark) return false;
      if (random() % 3 == 0) {
        if (hpcrun::common_madvise(piece.at, kPageBytes, MADV_DONTNEED) || piece.at[0]) return false;
        piece.at[0] = piece.at[piece.bytes - 1] = mark;
      } else {
        std::erase_if(pieces, [&](const Piece& one) { return one.at == piece.at; });
        if (hpcrun::common_munmap(piece.at, piece.bytes)) return false;
      }
    }
  }
  for (const Piece& piece : pieces)
    if (hpcrun::common_munmap(piece.at, piece.bytes)) return false;
  return true;
}

}  // namespace

TEST_CASE("threads map and unmap without seeing one another's memory") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    std::atomic<bool> is_right{true};
    std::vector<std::thread> threads;
    for (unsigned number = 1; number <= 4; ++number)
      threads.emplace_back([&is_right, number] {
        if (!uses_memory(number, 1500)) is_right = false;
      });
    for (std::thread& thread : threads) thread.join();
    return is_right.load();
  }));
}

TEST_CASE("threads map and unmap while the process forks, and children have memory of their own") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    std::atomic<bool> is_right{true}, is_over{false};
    char* const piece = map(4 * kPageBytes);
    std::vector<std::thread> threads;
    for (unsigned number = 1; number <= 3; ++number)
      threads.emplace_back([&, number] {
        for (unsigned turn = 0; !is_over; ++turn)
          if (!uses_memory(number, 100)) is_right = false;
      });
    bool is_own = true;
    for (char turn = 1; turn <= 10; ++turn) {
      piece[0] = turn;
      const int child = forked_status([&] {
        const bool is_as_before = piece[0] == turn;
        piece[0] = 100;
        return is_as_before && uses_memory(9, 50);
      });
      is_own = is_own && ended_well(child) && piece[0] == turn;
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    // Everything works afterwards, too.
    return is_own && is_right && hpcrun::make_common(hpcrun::OtherThreads::Stopped) && piece[0] == 10 &&
           uses_memory(10, 200);
  }));
}
