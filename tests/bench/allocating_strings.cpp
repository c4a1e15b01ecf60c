// allocating_strings THREADS MILLIONS: threads that mostly allocate and release, in many sizes, and share
// nothing. Prints the total length of all strings.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

size_t work(size_t turns) {
  size_t total = 0;
  for (size_t i = 0; i < turns; ++i) {
    std::string text(40 + i % 60, 'x');
    text = text + 'y';
    total += text.size();
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const size_t threads = std::strtoul(argv[1], nullptr, 10);
  const size_t turns = std::strtoul(argv[2], nullptr, 10) * 1'000'000 / threads;
  std::vector<size_t> totals(threads);
  std::vector<std::thread> team;
  for (size_t i = 1; i < threads; ++i) team.emplace_back([&totals, turns, i] { totals[i] = work(turns); });
  totals[0] = work(turns);
  for (std::thread& thread : team) thread.join();
  size_t total = 0;
  for (const size_t one : totals) total += one;
  std::printf("%zu\n", total);
  return 0;
}
