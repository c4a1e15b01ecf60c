#include "hpcrun/contention/contended_lines.h"

constinit hpcrun::ContendedLines hpcrun_contended_lines{};
