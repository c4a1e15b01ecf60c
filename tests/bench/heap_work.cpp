// heap_work OPERATIONS: prints the nanoseconds of CPU time per heap operation as a JSON object, for programs
// that replace small objects, build trees, grow arrays, use large blocks, and pass objects to another thread.
// Also prints the peak of resident memory.

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Work>
double cost(size_t operations, Work work) {
  const double start = cpu_ns();
  work(operations);
  return (cpu_ns() - start) / static_cast<double>(operations);
}

void replace_small(size_t operations) {
  std::minstd_rand random(1);
  std::vector<std::unique_ptr<char[]>> pool(100000);
  for (size_t at = 0; at < operations; ++at) {
    const size_t bytes = 16 + random() % 500;
    auto& place = pool[random() % pool.size()];
    place.reset(new char[bytes]);
    place[0] = place[bytes - 1] = 1;
  }
}

void build_trees(size_t operations) {
  std::minstd_rand random(2);
  std::map<unsigned, std::string> tree;
  for (size_t at = 0; at < operations; ++at) {
    tree[static_cast<unsigned>(random() % 50000)].assign(40, 'x');
    if (at % 100000 == 99999) tree.clear();
  }
}

void grow_arrays(size_t operations) {
  for (size_t done = 0; done < operations;) {
    std::vector<size_t> array;
    for (size_t at = 0; at < 200000 && done < operations; ++at, ++done) array.push_back(at);
  }
}

void use_large(size_t operations) {
  std::minstd_rand random(3);
  for (size_t at = 0; at < operations; ++at) {
    const size_t bytes = (size_t{256} << 10) + random() % (size_t{2} << 20);
    std::unique_ptr<char[]> block(new char[bytes]);
    char* volatile seen = block.get();  // keeps the compiler from removing it
    for (size_t page = 0; page < bytes; page += 4096) seen[page] = 1;
  }
}

void pass_on(size_t operations) {
  constexpr size_t kPlaces = 1024;
  std::vector<std::atomic<char*>> places(kPlaces);
  std::thread other([&] {
    for (size_t at = 0; at < operations; ++at) {
      char* passed;
      while (!(passed = places[at % kPlaces].exchange(nullptr))) std::this_thread::yield();
      delete[] passed;
    }
  });
  for (size_t at = 0; at < operations; ++at) {
    char* const made = new char[64 + at % 256];
    made[0] = 1;
    while (places[at % kPlaces].load()) std::this_thread::yield();
    places[at % kPlaces] = made;
  }
  other.join();
}

long peak_mib() {
  long kib = 0;
  if (FILE* const status = std::fopen("/proc/self/status", "r")) {
    char line[128];
    while (std::fgets(line, sizeof line, status))
      if (std::sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    std::fclose(status);
  }
  return kib / 1024;
}

}  // namespace

int main(int count, char** arguments) {
  const size_t operations = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2'000'000;
  const double small = cost(operations, replace_small), trees = cost(operations, build_trees);
  const double arrays = cost(4 * operations, grow_arrays), large = cost(operations / 2000, use_large);
  const double passed = cost(operations / 2, pass_on);
  std::printf(
      "{\"small\": %.2f, \"trees\": %.2f, \"arrays\": %.2f, \"large\": %.1f, \"passed\": %.2f, \"peak_mib\": "
      "%ld}\n",
      small, trees, arrays, large, passed, peak_mib());
}
