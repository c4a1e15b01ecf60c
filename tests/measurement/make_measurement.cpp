// make_measurement [--threads N] [--samples N] [--contexts N] [--queues N] [--tasks N] [--seed N] -o FILE
// Writes a synthetic measurement and prints how fast it is read back.

#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "hpcrun/measurement/reader.h"
#include "tests/measurement/synthetic.h"

namespace {

// CPU time, so that other load on the machine does not count.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void print_reading_speed(const std::string& path) {
  double start = cpu_seconds();
  const prof::ProcessMeasurement read = prof::read_measurement(path);
  std::printf("opened %.1f MB in %.3f CPU s\n", static_cast<double>(read.file_bytes) * 1e-6,
              cpu_seconds() - start);
  uint64_t records = 0;
  uint64_t bytes = 0;
  std::vector<prof::TraceSample> block(4096);
  start = cpu_seconds();
  for (const prof::MeasuredThread& thread : read.threads) {
    bytes += thread.trace_bytes;
    prof::TraceReader trace = thread.trace();
    while (const size_t count = trace.read(block)) records += count;
  }
  const double seconds = cpu_seconds() - start;
  std::printf("decoded %.1f M trace records in %.3f CPU s, %.0f M records/s, %.2f bytes a record\n",
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
    if (option == "--queues") run.queues = static_cast<uint32_t>(std::stoul(argv[i + 1]));
    if (option == "--tasks") run.tasks = std::stoull(argv[i + 1]);
    if (option == "--seed") run.seed = std::stoull(argv[i + 1]);
    if (option == "-o") output = argv[i + 1];
  }
  if (output.empty() || argc % 2 == 0) {
    std::fprintf(
        stderr,
        "usage: make_measurement [--threads N] [--samples N] [--contexts N] [--queues N] [--tasks N] "
        "[--seed N] -o FILE\n");
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
