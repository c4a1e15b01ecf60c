#include "tests/fuzz/imports.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return prof::test::import_any(data, size, prof::ImportFormat::Collapsed);
}
