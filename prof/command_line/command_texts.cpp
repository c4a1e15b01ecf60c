#include "prof/command_line/command_texts.h"

#include <map>

namespace prof {
namespace {

const std::map<std::string, CommandText, std::less<>>& texts() {
  static const std::map<std::string, CommandText, std::less<>> table = {
      {"prof",
       {{"Without options, `prof run` samples the CPU time of a program, its threads and its child "
         "processes, and prints where it was spent."},
        {{"prof run -o prof-app ./app", "measure a program and print the summary"},
         {"prof report prof-app", "print the summary again"},
         {"prof doctor ./app", "check what prof can measure in ./app on this machine"}},
        "README.md"}},
      {"prof run",
       {{"Runs the program, samples it and its child processes, analyzes the samples into DIR/database and "
         "prints a summary. Unless -q or --no-analyze is given, the last line printed is the path of the "
         "database. The exit status is the program's own, 128 + n if signal n ended it, or 125 if prof could "
         "not start it.",
         "In the name of the measurement directory, %p stands for the process ID of prof, %h for the host "
         "name, %r for the MPI rank, %j for the job ID (the local time if there is no job) and %% for a "
         "percent sign. The default is prof-PROGRAM-%j-%p; MPI ranks share one directory, without %p.",
         "-e selects CPUTIME, REALTIME (elapsed time), locks (lock waits), contention (false sharing), "
         "memory-waste (dead and silent stores, redundant loads) or a hardware event; `prof list events` "
         "lists "
         "them. --verify runs the program again, with empty "
         "input and discarded output."},
        {{"prof run ./app", "CPU time, 1,000 samples per second"},
         {"prof run -e CPUTIME@4000 --trace -o fine ./app", "a higher sampling rate, with a timeline"},
         {"prof run -e CPUTIME -e REALTIME -o both ./app",
          "CPU time and elapsed time, which includes waiting"},
         {"mpirun -n 64 prof run --ranks 10% ./app", "measure a tenth of the ranks"},
         {"mpirun -n 64 prof run --aggregate=node ./app", "one file per node, written when the ranks end"},
         {"prof run --repair -o first ./app", "repair contention while the program runs"}},
        "docs/run.md"}},
      {"prof attach",
       {{"Measures all threads of a running process until it exits, --duration elapses or prof is "
         "interrupted (Ctrl-C). prof then detaches, lets the process continue and analyzes the samples.",
         "REALTIME samples interrupt waiting system calls, as any handled signal can: poll, nanosleep and "
         "similar calls return EINTR, which some programs do not expect. CPUTIME samples usually do not "
         "interrupt them."},
        {{"prof attach 4711", "until Ctrl-C"},
         {"prof attach 4711 --duration 10 -o server", "for ten seconds"},
         {"prof attach 4711 -e REALTIME --trace", "elapsed time, with a timeline"}},
        "docs/attach.md"}},
      {"prof exact",
       {{"Runs the program in Valgrind, follows each of its loads and stores with its call path, and prints "
         "the "
         "path of the database. Child processes are included. The program runs 5 to 40 times slower. "
         "`prof run -e memory-waste` finds the same kinds of waste by sampling, at a low cost.",
         "--dead-stores counts bytes that are stored, and stored again before they are loaded. "
         "--silent-stores "
         "counts bytes that are stored although they are there already. --redundant-loads counts bytes that "
         "are loaded again although they have not changed. Several may be given."},
        {{"prof exact --dead-stores -o waste ./app", "dead stores, by pairs of call paths"},
         {"prof report waste --view=memory-waste", "the pairs, and what to change"},
         {"prof exact --count -o counts ./app", "how often each instruction is executed"}},
        "docs/exact.md"}},
      {"prof analyze",
       {{"Attributes samples to functions, source lines and inlined calls. `prof run` and `prof report` do "
         "this automatically. Use it after --no-analyze, or to analyze several directories as one run."},
        {{"prof analyze prof-app", "into prof-app/database"},
         {"prof analyze prof-app -o app.db", "into app.db"},
         {"prof analyze prof-app prof-app-2 -o both.db", "two directories as one run"},
         {"mpirun -n 4 prof analyze prof-app", "with four processes"}},
        "docs/analyze.md"}},
      {"prof report",
       {{"Shows a database or a measurement directory. A directory is analyzed first if its database is "
         "missing or older than the measurements."},
        {{"prof report prof-app", "the summary, with its findings"},
         {"prof report prof-app --view=top-down", "the call tree, from the entry points down"},
         {"prof report prof-app --view=bottom-up --depth=3", "where the time is spent, and its callers"},
         {"prof report prof-app --view=lines", "one row per source line, with its text"},
         {"prof report prof-app --view=stalls",
          "threads that all others waited for in a barrier (needs a trace)"},
         {"prof report prof-app --view=flat --format=json", "one row per function, as JSON"}},
        "docs/report.md"}},
      {"prof diff",
       {{"Shows which functions, call paths or lines cost more or less than before: between versions of a "
         "program, matched by name, or between runs with few and many ranks or threads. With several runs "
         "per side, it separates changes from noise.",
         "The exit status is 0 even if costs changed. With --fail-on-regress, it is 3 if something "
         "regressed."},
        {{"prof diff prof-app prof-app-2", "two versions, one run each"},
         {"prof diff prof-app prof-app-2 --by=line --limit=3", "the lines that changed most"},
         {"prof diff --before base-1 base-2 --after head-1 head-2 --format=json",
          "two runs per side, as JSON"}},
        "docs/diff.md"}},
      {"prof view",
       {{"Opens a database or a measurement directory, which is analyzed first, in a window. With "
         "--screenshot, it writes a picture instead and needs no display."},
        {{"prof view prof-app --view=summary --screenshot summary.png", "a picture of the summary"},
         {"prof view prof-app --view=timeline --depth 3 --screenshot timeline.png",
          "the timeline, colored by the functions at depth 3"},
         {"prof view prof-app --compare prof-app-2 --screenshot diff.png", "what changed between two runs"},
         {"prof view prof-app --screenshot dark.svg --theme dark --size 1600x900", "the dark theme, as SVG"}},
        "docs/viewer.md"}},
      {"prof export",
       {{"Converts a database to another tool's format. `prof list formats` shows which tools open each "
         "format."},
        {{"prof export prof-app --format=collapsed", "stacks for flame graphs, to standard output"},
         {"prof export prof-app --format=collapsed -o app.folded", "into a file"}},
        "docs/export.md"}},
      {"prof import",
       {{"Converts a recording from another profiler into a database for `prof report`, `prof view` and "
         "`prof "
         "export`. The format is detected from the contents."},
        {{"prof import perf.data", "a recording from perf record, into perf.data.database"},
         {"prof import stacks.txt -o stacks.db", "collapsed stacks"},
         {"prof import cpu.pb.gz -o cpu.db", "a pprof profile"}},
        "docs/import.md"}},
      {"prof pause",
       {{"Pauses measuring a running process, or all processes of a run, without sending it a signal. `prof "
         "resume` continues. The time in between is not measured."},
        {{"prof pause prof-app", "all processes of a run"}, {"prof pause 4711", "one process"}},
        "docs/pause.md"}},
      {"prof resume",
       {{"Resumes measuring a process or run that was paused, or that was started with --paused."},
        {{"prof resume prof-app", "all processes of a run"}, {"prof resume 4711", "one process"}},
        "docs/pause.md"}},
      {"prof list",
       {{"Lists the events, metrics, formats and repairs that prof knows."},
        {{"prof list events", "events that this machine can sample"},
         {"prof list formats --format=json", "as JSON"}},
        "docs/list.md"}},
      {"prof list events",
       {{"Lists the events for `prof run -e`: the clocks, and the hardware and software events of libpfm4 "
         "that the kernel lets this user count."},
        {{"prof list events", "as a table"}, {"prof list events --format=names", "one name per line"}},
        "docs/list.md"}},
      {"prof list metrics",
       {{"Lists the metrics for `prof report --metric`: those of a database or, without one, those that this "
         "machine can measure."},
        {{"prof list metrics", "metrics that this machine can measure"},
         {"prof list metrics prof-app", "metrics of a run"}},
        "docs/list.md"}},
      {"prof list formats",
       {{"Lists the formats of `prof report`, `prof export` and `prof import`."},
        {{"prof list formats", "all formats"}},
        "docs/list.md"}},
      {"prof list repairs",
       {{"Lists the repairs that `prof run --repair` can apply to a running program."},
        {{"prof list repairs", "all repairs"}},
        "docs/list.md"}},
      {"prof cc",
       {{"Compiles C with clang 14 and notes where its atomic operations, volatile accesses and inline "
         "assembly are. With these marks, prof run --repair=isolate can isolate pages of "
         "programs that use them. All arguments are clang's, and so is the exit status. Without isolation, "
         "the marks have no effect.",
         "To use it in a build, set CC='prof cc' CXX='prof c++'."},
        {{"prof cc -O2 -c app.c", "one object"}, {"prof cc -O2 app.c -o annotated", "a program"}},
        "docs/cc.md"}},
      {"prof c++",
       {{"The same as `prof cc` for C++, with clang++ 14."},
        {{"prof c++ -O2 app.cpp -o annotated++", "a program"}},
        "docs/cc.md"}},
      {"prof completion",
       {{"Prints the completion script of a shell. `cmake --install` installs the scripts in the folders "
         "that the shells search."},
        {{"prof completion bash", "for `source <(prof completion bash)`"}},
        "docs/completion.md"}},
      {"prof doctor",
       {{"Checks the kernel, permissions, limits and other tools, and reports for each what works, what is "
         "unavailable and which command fixes it. Given a program, it also reports whether prof can measure "
         "it and which debug information it and its libraries have, without running it.",
         "The exit status is 0 if a CPUTIME profile can be made, even with limits, and 1 if not."},
        {{"prof doctor", "check the machine"},
         {"prof doctor ./app", "check a program as well"},
         {"prof doctor --json", "as JSON"}},
        "docs/doctor.md"}},
      {"prof config",
       {{"Shows the settings in effect and where each was read. The command line takes precedence, then "
         "PROF_* variables, then .prof.toml of the current directory or the nearest parent that has one, up "
         "to the root of the repository or the home directory, then the user's prof/config.toml."},
        {{"prof config", "the settings in effect, with their origin"},
         {"prof config --all", "all settings, with their variables"}},
        "docs/config.md"}},
      {"prof help",
       {{"Shows the help of a command; `prof COMMAND --help` does the same."},
        {{"prof help run", "as text"},
         {"prof help run --format=man", "as the source of a manual page"},
         {"prof help --format=json", "every command with its options, as JSON"}},
        "docs/completion.md"}},
      {"prof version",
       {{"Shows the version, commit, compiler, optional parts and libraries of this build."},
        {{"prof version", "as text"}, {"prof version --json", "as JSON"}},
        "docs/version.md"}},
  };
  return table;
}

}  // namespace

CommandText command_text(std::string_view path) {
  const auto found = texts().find(path);
  return found == texts().end() ? CommandText{} : found->second;
}

const std::vector<ExitStatus>& exit_statuses() {
  static const std::vector<ExitStatus> table = {
      {"0", "Success."},
      {"3", "Something regressed (prof diff --fail-on-regress)."},
      {"125", "prof failed, or the command line is wrong. One line on standard error gives the reason."},
      {"126, 127", "The program to run is not executable (126), or was not found (127)."},
      {"other", "The program's own (prof run), or 128 + n if signal n ended it."},
  };
  return table;
}

}  // namespace prof
