#pragma once
// The writers used by export_formats(), one file each. All take the costs of the threads and metrics that the
// tree selects. docs/export.md lists what each format contains and what it loses.

#include <filesystem>

#include "analysis/views/tree/call_tree.h"
#include "prof/report/output.h"

namespace prof {

// Writes one line "root;caller;function value" per call path: exclusive costs of the first metric as whole
// numbers, in microseconds if it is a time. Paths whose value rounds to zero are omitted. Semicolons and
// control characters in names become ':' and blanks.
void export_collapsed(const CallTree& tree, Output& out);

// Writes pprof's profile.proto, compressed: all metrics, times in nanoseconds, a label with the thread.
void export_pprof(const CallTree& tree, Output& out);

// Writes speedscope's JSON: each metric for all threads together and for each thread, and traces over time.
void export_speedscope(const CallTree& tree, Output& out);

// Writes Firefox Profiler's JSON: the samples of the trace weighted by the first metric, or its costs alone.
void export_firefox(const CallTree& tree, Output& out);

// Writes Perfetto's protobuf: the samples of the trace, and all metrics as counters. Needs a trace.
void export_perfetto(const CallTree& tree, Output& out);

// Returns false if the library was missing when prof was built.
bool has_otf2();

// Writes an OTF2 archive into a folder that does not exist: the samples of the trace with all metrics. Throws
// CommandError if the folder cannot be written, or has_otf2() is false.
void export_otf2(const CallTree& tree, const std::filesystem::path& directory);

// Writes Callgrind's text: all metrics by line and call, times in nanoseconds.
void export_callgrind(const CallTree& tree, Output& out);

// Writes one line of CSV for each call path and thread.
void export_csv(const CallTree& tree, Output& out);

// Writes a flame graph as a self-contained page: all metrics and threads.
void export_html(const CallTree& tree, Output& out);

// Writes Caliper's native stream: all metrics by call path, and by rank if there are ranks.
void export_cali(const CallTree& tree, Output& out);

// Writes Extra-P's JSON lines: all metrics by call path, as the mean over ranks or threads.
void export_extrap(const CallTree& tree, Output& out);

// Writes everything as JSON, traces included.
void export_json(const CallTree& tree, Output& out);

}  // namespace prof
