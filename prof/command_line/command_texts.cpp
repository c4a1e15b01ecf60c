#include "prof/command_line/command_texts.h"

#include <map>

namespace prof {
namespace {

const std::map<std::string, CommandText, std::less<>>& texts() {
  static const std::map<std::string, CommandText, std::less<>> table = {
      {"prof",
       {{"A sampling profiler for Linux programs that cannot be recompiled. Without options `prof run` "
         "samples the "
         "CPU time of a program, its threads and its children, and prints where it went."},
        {{"prof run ./app", "measure a program and print the summary"},
         {"prof report prof-app", "show what was measured, again"},
         {"prof doctor ./app", "what can be measured on this machine, and what would change it"}},
        "README.md"}},
      {"prof run",
       {{"Runs the program as without prof, samples it and its children, analyzes the samples into "
         "DIR/database and "
         "prints the summary; the last line is the path of the database. The exit status is the program's "
         "own, "
         "128 + n where signal n ended it.",
         "In the name of the measurement directory %p stands for the process id of prof, %h for the host, %r "
         "for the "
         "MPI rank, %j for the job's id (the time where there is no job) and %% for a percent sign."},
        {{"prof run ./app", "CPU time, 1,000 samples a second"},
         {"prof run -e CPUTIME@4000 --trace -o fine ./app", "finer, and recorded over time"},
         {"prof run -e CPUTIME -e REALTIME -o both ./app", "waiting included"},
         {"mpirun -n 64 prof run --ranks 10% ./app", "measure a tenth of the ranks of a parallel program"},
         {"mpirun -n 64 prof run --aggregate=node ./app", "one file a node, written when the program ends"},
         {"prof run --repair -o first ./app", "repair what threads contend for, as the program runs"}},
        "docs/run.md"}},
      {"prof attach",
       {{"Measures a process that runs already, all its threads, until it ends, --duration is over or prof "
         "is "
         "interrupted (Ctrl-C). Then the process goes on as before, and what was measured is analyzed.",
         "Samples of REALTIME interrupt calls that wait in it, as any signal does: poll, nanosleep and their "
         "like return EINTR, which some programs do not expect. Those of CPUTIME do not."},
        {{"prof attach 4711", "until Ctrl-C"},
         {"prof attach 4711 --duration 10 -o server", "for ten seconds"},
         {"prof attach 4711 -e REALTIME --trace", "waiting included, and recorded over time"}},
        "docs/attach.md"}},
      {"prof analyze",
       {{"Attributes what was measured to functions, source lines and inlined calls. `prof run` and `prof "
         "report` do "
         "this by themselves; on its own it is for runs with --no-analyze, and for several directories as "
         "one "
         "run."},
        {{"prof analyze prof-app", "into prof-app/database"},
         {"prof analyze prof-app -o app.db", "somewhere else"},
         {"prof analyze prof-app prof-app-2 -o both.db", "two directories as one run"},
         {"mpirun -n 4 prof analyze prof-app", "by four processes"}},
        "docs/analyze.md"}},
      {"prof report",
       {{"Shows a database, or a measurement directory, which is analyzed first where that was not done "
         "since it "
         "was measured."},
        {{"prof report prof-app", "the summary: findings in plain sentences"},
         {"prof report prof-app --view=top-down", "who calls what"},
         {"prof report prof-app --view=bottom-up --depth=3", "where the time is, and who asked for it"},
         {"prof report prof-app --view=lines", "one row for each source line, with its text"},
         {"prof report prof-app --view=stalls", "who made all others wait in a barrier, from traces"},
         {"prof report prof-app --view=flat --format=json", "one row for each function, for programs"}},
        "docs/report.md"}},
      {"prof diff",
       {{"Says what takes more and what less than before: between versions of a program, whose functions, "
         "call "
         "paths or lines are matched by name, or between runs on few and many ranks or threads. With several "
         "runs a side it tells what is chance.",
         "The exit status is 0 whatever changed, and with --fail-on-regress 3 where something regressed."},
        {{"prof diff prof-app prof-app-2", "two versions, one run each"},
         {"prof diff prof-app prof-app-2 --by=line --limit=3", "the lines that changed most"},
         {"prof diff --before prof-app --after prof-app-2 --format=json", "lists of runs; for programs"}},
        "docs/diff.md"}},
      {"prof view",
       {{"Opens a window on a database, or on a measurement directory, which is analyzed first; with "
         "--screenshot it "
         "writes a picture instead, which needs no display."},
        {{"prof view prof-app --view=summary --screenshot summary.png", "a picture of the first page"},
         {"prof view prof-app --view=timeline --depth 3 --screenshot timeline.png",
          "the traces, by the third callees"},
         {"prof view prof-app --compare prof-app-2 --screenshot diff.png", "what changed between two runs"},
         {"prof view prof-app --screenshot dark.svg --theme dark --size 1600x900", "dark, as vectors"}},
        "docs/viewer.md"}},
      {"prof export",
       {{"Writes a database as files that other tools open. `prof list formats` names what opens each."},
        {{"prof export prof-app --format=collapsed", "stacks for flame graphs, to standard output"},
         {"prof export prof-app --format=collapsed -o app.folded", "into a file"}},
        "docs/export.md"}},
      {"prof import",
       {{"Turns what another profiler recorded into a database, on which every view of `prof report` and "
         "`prof export` "
         "works. The format is recognised by the contents."},
        {{"prof import perf.data", "what perf record wrote, into perf.data.database"},
         {"prof import stacks.txt -o stacks.db", "collapsed stacks"},
         {"prof import cpu.pb.gz -o cpu.db", "a pprof profile"}},
        "docs/import.md"}},
      {"prof pause",
       {{"Stops the measuring of a running process, or of all processes of a run, without a signal to it; "
         "`prof resume` "
         "goes on. Time in between is attributed to nothing."},
        {{"prof pause prof-app", "all processes of a run"}, {"prof pause 4711", "one process"}},
        "docs/pause.md"}},
      {"prof resume",
       {{"Goes on measuring a process or a run that was paused, or that was started with --paused."},
        {{"prof resume prof-app", "all processes of a run"}, {"prof resume 4711", "one process"}},
        "docs/pause.md"}},
      {"prof list",
       {{"Lists what can be asked for by name."},
        {{"prof list events", "what this machine can sample"},
         {"prof list formats --format=json", "for programs"}},
        "docs/list.md"}},
      {"prof list events",
       {{"Names the events for `prof run -e`: the clocks, and the hardware and software events of libpfm4 "
         "that the "
         "kernel lets this user count here."},
        {{"prof list events", "on a terminal"}, {"prof list events --format=names", "one name a line"}},
        "docs/list.md"}},
      {"prof list metrics",
       {{"Names the metrics for `prof report --metric`: those of a database, or without one those that this "
         "machine "
         "can measure."},
        {{"prof list metrics", "what this machine can measure"},
         {"prof list metrics prof-app", "what was measured there"}},
        "docs/list.md"}},
      {"prof list formats",
       {{"Names the formats of `prof report`, `prof export` and `prof import`."},
        {{"prof list formats", "all formats"}},
        "docs/list.md"}},
      {"prof list repairs",
       {{"Names what `prof run --repair` can change in the running program."},
        {{"prof list repairs", "all kinds"}},
        "docs/list.md"}},
      {"prof cc",
       {{"Compiles C by clang 14, and has the code say where it works atomically: by atomic operations, "
         "volatile "
         "accesses and inline assembly. Threads of such a program may have pages for themselves (prof run "
         "--repair=isolate) whatever they do there. All arguments are clang's, and so is the exit status; "
         "without "
         "isolation the program runs as it would.",
         "Builds take it as their compiler by CC='prof cc' CXX='prof c++'."},
        {{"prof cc -O2 -c app.c", "one object"}, {"prof cc -O2 app.c -o annotated", "a program"}},
        "docs/cc.md"}},
      {"prof c++",
       {{"The same as `prof cc` for C++, by clang++ 14."},
        {{"prof c++ -O2 app.cpp -o annotated++", "a program"}},
        "docs/cc.md"}},
      {"prof completion",
       {{"Prints the completion script of a shell. `cmake --install` puts the scripts where the shells look "
         "for them."},
        {{"prof completion bash", "to be read by `source <(prof completion bash)`"}},
        "docs/completion.md"}},
      {"prof doctor",
       {{"Looks at the kernel, permissions, limits and neighbours, tries what prof needs, and says for each "
         "what works, "
         "what is lost and which command changes it. With a program also whether it can be measured and "
         "which debug "
         "information it and its libraries have; nothing of the program runs.",
         "The exit status is 0 when a CPUTIME profile can be made, even with limits, and 1 when it cannot."},
        {{"prof doctor", "the machine"},
         {"prof doctor ./app", "and a program"},
         {"prof doctor --json", "for programs"}},
        "docs/doctor.md"}},
      {"prof config",
       {{"Shows the settings that hold here and where each was read. The command line comes first, then "
         "PROF_* "
         "variables, then .prof.toml of the current directory or the nearest parent that has one, up to the "
         "root of "
         "the repository or the home directory, then the user's prof/config.toml."},
        {{"prof config", "what is set, and where"}, {"prof config --all", "what can be set"}},
        "docs/config.md"}},
      {"prof help",
       {{"Shows the help of a command; `prof COMMAND --help` does the same."},
        {{"prof help run", "as text"},
         {"prof help run --format=man", "as the source of a manual page"},
         {"prof help --format=json", "every command with its options, for programs"}},
        "docs/completion.md"}},
      {"prof version",
       {{"Says what was built: version, commit, compiler, optional parts and libraries."},
        {{"prof version", "as text"}, {"prof version --json", "for programs"}},
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
      {"125",
       "What prof itself could not do, a wrong command line included. One line on standard error says why."},
      {"126, 127", "The program to run is not executable, or was not found."},
      {"other", "The program's own (prof run), 128 + n where signal n ended it."},
  };
  return table;
}

}  // namespace prof
