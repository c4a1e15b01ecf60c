// contended_places PLACE [MILLIONS]: two threads count in adjacent words in some kind of memory, or in some
// other unusual way, and the sum is printed.
// - file: in a file that is mapped shared
// - device: in memory from a device file
// - large: in memory for which the kernel may use large pages
// - stack, thread: on the main thread's stack, among its thread-local variables
// - generated: by code that the program generated
// - crowd: in a variable, while a thousand threads sleep

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using Count = void (*)(volatile uint64_t* at, uint64_t steps);

uint64_t steps = 1'500'000'000;

void count(volatile uint64_t* at, uint64_t times) {
  for (uint64_t i = 0; i < times; ++i) *at = *at + 1;
}

int count_side_by_side(volatile uint64_t* pair, Count counting = count) {
  std::thread other([=] { counting(pair + 1, steps); });
  counting(pair, steps);
  other.join();
  std::printf("%llu\n", static_cast<unsigned long long>(pair[0] + pair[1]));
  return 0;
}

constexpr size_t kMappedBytes = 4 << 20;
constexpr size_t kAt = 8192;

int in_mapping(int file, int flags, int advice) {
  void* const at = mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (at == MAP_FAILED) return 1;
  madvise(at, kMappedBytes, advice);
  return count_side_by_side(reinterpret_cast<uint64_t*>(static_cast<unsigned char*>(at) + kAt));
}

int in_file() {
  char name[] = "contended-XXXXXX";
  const int file = mkstemp(name);
  return file < 0 || ftruncate(file, kMappedBytes) != 0 ? 1 : in_mapping(file, MAP_SHARED, MADV_NORMAL);
}

int in_device() {
  return in_mapping(open("/dev/zero", O_RDWR | O_CLOEXEC), MAP_SHARED, MADV_NORMAL);
}

int in_large_pages() {
  return in_mapping(-1, MAP_PRIVATE | MAP_ANONYMOUS, MADV_HUGEPAGE);
}

struct alignas(64) Pair {
  volatile uint64_t numbers[2] = {};
};

int on_stack() {
  Pair pair;
  return count_side_by_side(pair.numbers);
}

thread_local Pair own;

int in_thread() {
  return count_side_by_side(own.numbers);
}

Pair global;

int by_generated_code() {
  constexpr unsigned char kCode[] = {
      0x48, 0x83, 0x07, 0x01,  // add qword [rdi], 1
      0x48, 0xff, 0xce,        // dec rsi
      0x75, 0xf7,              // jnz
      0xc3,                    // ret
  };
  void* const at =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 1;
  std::memcpy(at, kCode, sizeof kCode);
  return count_side_by_side(global.numbers, reinterpret_cast<Count>(at));
}

int in_crowd() {
  std::atomic<bool> over{false};
  std::vector<std::thread> crowd;
  for (int i = 0; i < 1000; ++i) crowd.emplace_back([&over] { over.wait(false); });
  count_side_by_side(global.numbers);
  over = true;
  over.notify_all();
  for (std::thread& thread : crowd) thread.join();
  return 0;
}

const std::map<std::string, int (*)()> kPlaces = {
    {"file", in_file},     {"device", in_device}, {"large", in_large_pages},        {"stack", on_stack},
    {"thread", in_thread}, {"crowd", in_crowd},   {"generated", by_generated_code},
};

}  // namespace

int main(int arguments, char** argv) {
  const auto place = arguments > 1 ? kPlaces.find(argv[1]) : kPlaces.end();
  if (place == kPlaces.end()) return 2;
  if (arguments > 2) steps = std::strtoull(argv[2], nullptr, 10) * 1'000'000;
  return place->second();
}
