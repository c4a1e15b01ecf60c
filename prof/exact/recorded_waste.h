#pragma once
// The pairs of a dump, and the totals of its loads and stores, in the streams of a measurement file.

#include "hpcrun/measurement/writer.h"
#include "prof/exact/dump.h"
#include "prof/exact/recorded_contexts.h"

namespace prof {

// If there are more pairs in a thread than a stream holds, those of the most bytes are kept, and a note says
// so.
void record_waste(const ExactDump& dump, RecordedContexts& contexts, hpcrun::MeasurementFile& file);

}  // namespace prof
