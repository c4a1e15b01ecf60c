#pragma once
// The writers behind export_formats(), one file each. All take the costs of the threads and metrics that the
// tree selects; docs/export.md says what each format carries and what is lost in it.

#include <filesystem>

#include "analysis/views/call_tree.h"
#include "prof/report/output.h"

namespace prof {

// One line "root;caller;function value" per call path: exclusive costs of the first metric as whole numbers,
// microseconds where it is a time. Paths whose value rounds to zero are left out. Semicolons and control
// characters in names become ':' and blanks.
void export_collapsed(const CallTree& tree, Output& out);

// pprof's profile.proto, compressed: all metrics, times in nanoseconds, a label with the thread.
void export_pprof(const CallTree& tree, Output& out);

// speedscope's JSON: each metric for all threads and for each, and traces over time.
void export_speedscope(const CallTree& tree, Output& out);

// Firefox Profiler's JSON: the samples of the trace weighted by the first metric, or its costs alone.
void export_firefox(const CallTree& tree, Output& out);

// Perfetto's protobuf: the samples of the trace, and all metrics as counters. Needs a trace.
void export_perfetto(const CallTree& tree, Output& out);

// False where the library was not there when prof was built.
bool has_otf2();

// An OTF2 archive in a folder that does not exist: the samples of the trace with all metrics. Throws
// CommandError where it cannot be written, or has_otf2() is false.
void export_otf2(const CallTree& tree, const std::filesystem::path& directory);

// Callgrind's text: all metrics by line and call, times in nanoseconds.
void export_callgrind(const CallTree& tree, Output& out);

// One line of CSV for each call path and thread.
void export_csv(const CallTree& tree, Output& out);

// A flame graph as a page of its own: all metrics and threads.
void export_html(const CallTree& tree, Output& out);

// Caliper's native stream: all metrics by call path, and by rank where there are any.
void export_cali(const CallTree& tree, Output& out);

// Extra-P's JSON lines: all metrics by call path, a rank's or thread's mean.
void export_extrap(const CallTree& tree, Output& out);

// All of it, traces included.
void export_json(const CallTree& tree, Output& out);

}  // namespace prof
