// make_measurement [--threads N] [--samples N] [--contexts N] [--seed N] -o FILE
// Writes a synthetic measurement and prints how fast it is read back.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "hpcrun/measurement/reader.h"
#include "tests/measurement/synthetic.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_reading_speed(const std::string& path) {
  auto start = std::chrono::steady_clock::now();
  const prof::ProcessMeasurement read = prof::read_measurement(path);
  std::printf("opened %.1f MB in %.3f s\n", static_cast<double>(read.file_bytes) * 1e-6,
              seconds_since(start));
  uint64_t records = 0;
  uint64_t bytes = 0;
  std::vector<prof::TraceSample> block(4096);
  start = std::chrono::steady_clock::now();
  for (const prof::MeasuredThread& thread : read.threads) {
    bytes += thread.trace_bytes;
    prof::TraceReader trace = thread.trace();
    while (const size_t count = trace.read(block)) records += count;
  }
  const double seconds = seconds_since(start);
  std::printf("decoded %.1f M trace records in %.3f s, %.0f M records/s, %.2f bytes a record\n",
              static_cast<double>(records) * 1e-6, seconds, static_cast<double>(records) * 1e-6 / seconds,
              static_cast<double>(bytes) / static_cast<double>(records));
}

}  // namespace

int main(int argc, char** argv) {
  prof::test::SyntheticRun run;
  std::string output;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--threads") run.threads = static_cast<uint32_t>(std::stoul(argv[i + 1]));
    if (option == "--samples") run.samples = std::stoull(argv[i + 1]);
    if (option == "--contexts") run.contexts = static_cast<uint32_t>(std::stoul(argv[i + 1]));
    if (option == "--seed") run.seed = std::stoull(argv[i + 1]);
    if (option == "-o") output = argv[i + 1];
  }
  if (output.empty() || argc % 2 == 0) {
    std::fprintf(stderr,
                 "usage: make_measurement [--threads N] [--samples N] [--contexts N] [--seed N] -o FILE\n");
    return 2;
  }
  try {
    prof::test::write_synthetic(output, run);
    print_reading_speed(output);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_measurement: %s\n", error.what());
    return 1;
  }
  return 0;
}
