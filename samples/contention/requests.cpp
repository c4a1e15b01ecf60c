// False sharing: each round, one thread allocates requests; then it and a second thread process one each. The
// requests are small adjacent allocations on one cache line. requests_fixed gives each a line of its own.

#include <vector>

#include "team.h"

#ifdef FIXED
struct alignas(64) Request {
#else
struct Request {
#endif
  std::atomic<uint64_t> progress{0};
};

constexpr uint64_t kSteps = 250'000;  // per request

std::vector<Request*> requests(3);  // per round; two are served

[[gnu::noinline]] Request* make_request() {
  return new Request();
}

// malloc places two such blocks per line, so of three in a row, two adjacent ones usually share a line.
// Returns the first of the two.
uint64_t make_round() {
  for (Request*& request : requests) request = make_request();
  const auto line_of = [](const Request* request) { return reinterpret_cast<uintptr_t>(request) / 64; };
  return line_of(requests[0]) == line_of(requests[1]) ? 0 : 1;
}

[[gnu::noinline]] void serve(Request& request) {
  for (uint64_t i = 0; i < kSteps; ++i) ++request.progress;
}

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
  uint64_t first = 0, sum = 0;
  team::rounds(
      rounds, [&] { first = make_round(); }, [&] { serve(*requests[first + 1]); },
      [&] { serve(*requests[first]); },
      [&] {
        for (Request* request : requests) {
          sum += request->progress;
          delete request;
        }
      });
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
