// libFuzzer entry: arbitrary bytes as the run.json that `prof run` writes next to measurements.

#include "analysis/pipeline/run_record.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const prof::test::InputFile file("run.json");
  file.fill(data, size);
  const prof::RunRecord record = prof::read_run_record(file.folder());
  if (record.wall_s && !(*record.wall_s >= 0)) std::abort();
  if (record.exit_status && (*record.exit_status < 0 || *record.exit_status > 255)) std::abort();
  return 0;
}
