// Generates code as just-in-time compilers do, in two threads that allocate heavily. The code is in small
// blocks of memory within reach of a call of the program's own code. Each function is written while its block
// is writable, and called while it is executable. Tries a few addresses for each block; ends with 1 if
// nothing could be mapped there. Prints the sum of the functions' results. Argument: the number of functions
// per thread.

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

extern "C" int64_t triple(int64_t value) {
  return 3 * value;
}

namespace {

constexpr size_t kBlockBytes = 16384, kFunctionBytes = 128;
constexpr size_t kMaxBlocks = 4;

class Blocks {
 public:
  explicit Blocks(uint64_t seed) : random_(seed) {}
  ~Blocks() {
    for (unsigned char* block : blocks_) munmap(block, kBlockBytes);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Returns room for one more function in a writable block.
  unsigned char* add_function() {
    if (blocks_.empty() || used_ == kBlockBytes) add_block();
    protect(PROT_READ | PROT_WRITE);
    return blocks_.back() + std::exchange(used_, used_ + kFunctionBytes);
  }

  void protect(int protection) {
    if (mprotect(blocks_.back(), kBlockBytes, protection) != 0) std::exit(2);
  }

 private:
  void add_block() {
    constexpr int kTries = 32;
    for (int i = 0; i < kTries; ++i) {
      void* const block = mmap(reinterpret_cast<void*>(next_address()), kBlockBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED) std::exit(2);
      if (is_within_reach(block)) {
        blocks_.push_back(static_cast<unsigned char*>(block));
        used_ = 0;
        if (blocks_.size() <= kMaxBlocks) return;
        munmap(blocks_.front(), kBlockBytes);
        return blocks_.pop_front();
      }
      munmap(block, kBlockBytes);
    }
    std::puts("no memory within reach");
    std::exit(1);
  }

  static bool is_within_reach(void* block) {
    constexpr int64_t kReach = int64_t{1} << 30;
    return std::llabs(reinterpret_cast<int64_t>(block) - reinterpret_cast<int64_t>(triple)) < kReach;
  }

  uint64_t next_address() {
    constexpr uint64_t kPart = uint64_t{1} << 29;
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const uint64_t distance = (random_ >> 33) % kPart & ~uint64_t{0xffff};
    return (reinterpret_cast<uint64_t>(triple) & ~uint64_t{0xffff}) - kPart / 2 + distance;
  }

  uint64_t random_;
  std::deque<unsigned char*> blocks_;
  size_t used_ = 0;
};

// Returns triple(value), computed by a function that is written to `at`.
using Generated = int64_t (*)();
Generated write_function(unsigned char* at, int32_t value) {
  unsigned char code[] = {0x48, 0x83, 0xec, 0x08,             // sub $8, %rsp
                          0x48, 0xc7, 0xc7, 0,    0,   0, 0,  // mov $value, %rdi
                          0xe8, 0,    0,    0,    0,          // call triple
                          0x48, 0x83, 0xc4, 0x08, 0xc3};      // add $8, %rsp; ret
  const auto distance =
      static_cast<int32_t>(reinterpret_cast<int64_t>(triple) - reinterpret_cast<int64_t>(at + 16));
  memcpy(code + 7, &value, sizeof value);
  memcpy(code + 12, &distance, sizeof distance);
  memcpy(at, code, sizeof code);
  return reinterpret_cast<Generated>(at);
}

int64_t generate(int count, int first) {
  Blocks blocks(static_cast<uint64_t>(first) + 1);
  std::vector<std::unique_ptr<int64_t>> kept(1000);
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const Generated function = write_function(blocks.add_function(), first + i);
    blocks.protect(PROT_READ | PROT_EXEC);
    for (size_t turn = 0; turn < kept.size(); ++turn) {
      auto result = std::make_unique<int64_t>(function());
      kept[turn].swap(result);
      if (result) sum += *result;
    }
  }
  for (const auto& last : kept) sum += *last;
  return sum;
}

}  // namespace

int main(int, char** argv) {
  const int count = std::atoi(argv[1]);
  int64_t sums[2] = {};
  std::thread other([&] { sums[1] = generate(count, count); });
  sums[0] = generate(count, 0);
  other.join();
  std::printf("%lld\n", static_cast<long long>(sums[0] + sums[1]));
}
