#pragma once
// Data that threads of one process contended for, as run.json has it under "contention".

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/allocation_site.h"
#include "analysis/run/kinds.h"
#include "analysis/run/record_fields.h"
#include "hpcrun/model/cache_line.h"
#include "hpcrun/model/memory_access.h"
#include "hpcrun/model/placement.h"

namespace prof {

struct ContendedRecord {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;    // pid
  uint64_t processes = 1;  // that this tells of; the others are not named
  hpcrun::Sharing sharing = hpcrun::Sharing::None;
  DataKind kind = DataKind::Unknown;
  std::string name;        // of the variable, or of the memory it lies in ("[heap]"); empty: not known
  std::string type;        // empty: not known
  std::string declared;    // "stats.cpp:12"; empty: not known
  std::string module;      // the file that the variable is in; empty: not known
  uint64_t address = 0;    // of the object's begin in its module, or in memory where there is no module
  uint64_t bytes = 0;      // of the object; 0: not known
  uint64_t lines = 0;      // cache lines
  double weight_s = 0;     // CPU time that samples found there
  double saving_s = 0;  // CPU time that the threads would not need without each other, around there as well
  double saving_low_s = 0, saving_high_s = 0;  // an estimated interval around it
  uint64_t followed = 0;                       // threads of which that is known
  double false_moves = 0;  // how often the lines moved, in accesses that were seen: for comparing
  double true_moves = 0;
  double adjacent_moves = 0;
  EvidenceSource source = EvidenceSource::Breakpoints;
  // Where hardware told it:
  double transfers = 0;        // loads that found a line in another processor's cache
  double transfers_per_s = 0;  // 0: the time is not known
  double hitm = 0;             // of them, those to which the line was modified there
  double remote_hitm = 0;      // of these, in another node or socket
  double latency_cycles = 0;   // of all transfers together
  // Where they were counted: updates of the lines after another thread's, and how many a second.
  double interleaved = 0;
  double interleaved_per_s = 0;  // 0: the time is not known
  // Of the change:
  uint64_t bytes_after = 0;  // of the object with all `changes`; 0: not known
  Remedy remedy = Remedy::None;
  std::string advice;

  // An alignment that parts what threads use, as the advice says it. Empty where none does, or the layout is
  // not known.
  struct Change {
    ChangedPart what = ChangedPart::Member;
    std::string name;  // of the member or variable, or of the array; empty: a type
    std::string type;  // "struct Stats": that of the member, or itself; of an element; empty: not known
    std::string file;  // where what gets it is declared; empty: not known
    uint64_t line = 0;
    uint64_t alignas_bytes = 0;  // what it is to be aligned to
    std::string text;            // what is to be written: "alignas(64)"
    // Of `type`, or of the variable; after: with all changes. 0: not known.
    uint64_t bytes_before = 0;
    uint64_t bytes_after = 0;
  };
  std::vector<Change> changes;

  // What was allocated in one calling context, if data of the finding are.
  struct Allocation {
    uint32_t context = 0;  // index into Database::contexts
    uint64_t bytes = 0;    // of each; 0: they vary
    uint64_t objects = 0;  // that threads contended for
  };
  std::vector<Allocation> allocations;

  struct Side {
    uint32_t profile = 0;  // index into Database::profiles: the thread
    std::string name;      // of the variable that the bytes belong to; empty: not one, or not known
    std::string declared;  // "stats.cpp:12", of that variable; empty: not known
    std::string place;     // "[3].hits"; empty: the object itself, or not known
    hpcrun::AccessKind access = hpcrun::AccessKind::ReadWrite;
    uint64_t offset = 0;   // from the object's begin
    uint64_t bytes = 0;
    uint64_t line = 0;         // address of its cache line in memory; 0: not known
    uint64_t line_offset = 0;  // of the first byte in that
    uint64_t object = 0;       // of several allocations which, from 1 in the order of their addresses; else 0
    uint64_t allocation = 0;   // the object's, an index into `allocations`, + 1; 0: it has none
    uint64_t accesses = 0;     // that were seen
    double weight_s = 0;
    uint32_t context = 0;  // index into Database::contexts: where most of them were made
    // Not in run.json:
    ModuleAddress variable;       // where the variable `name` is; no module: there is none
    uint64_t variable_bytes = 0;  // 0: not known
  };
  std::vector<Side> sides;  // with most accesses first

  // What became of the data in the running program, or could; a sentence. Empty: nobody asked.
  std::string repair;

  // These are no part of run.json: what repair.json is made of (analysis/pipeline/repairs.h).
  struct Placeable {
    uint32_t context = 0;         // of the allocation, as in Allocation
    bool is_mapping = false;      // no allocator has it
    AllocationSite site;          // without words; no frames: in generated code, or lost
    hpcrun::Placement placement;  // kAsAllocated: none helps
    bool is_bound = false;        // one would, did the program not ask for an alignment
    uint64_t conflicts_before = 0;
    uint64_t conflicts_after = 0;
  };
  std::vector<Placeable> placeable;
  ModuleAddress variable;  // where the variable is; no module: it is none
};

// All but changes, allocations and sides.
template <typename Visit>
void for_each_field(RecordOf<ContendedRecord> auto& record, Visit visit) {
  visit("host", record.host);
  visit("rank", record.rank);
  visit("process", record.process);
  visit("processes", record.processes);
  visit("sharing", record.sharing);
  visit("kind", record.kind);
  visit("name", record.name);
  visit("type", record.type);
  visit("declared", record.declared);
  visit("module", record.module);
  visit("address", record.address);
  visit("bytes", record.bytes);
  visit("lines", record.lines);
  visit("weight_s", record.weight_s);
  visit("saving_s", record.saving_s);
  visit("saving_low_s", record.saving_low_s);
  visit("saving_high_s", record.saving_high_s);
  visit("followed", record.followed);
  visit("false_moves", record.false_moves);
  visit("true_moves", record.true_moves);
  visit("adjacent_moves", record.adjacent_moves);
  visit("source", record.source);
  visit("transfers", record.transfers);
  visit("transfers_per_s", record.transfers_per_s);
  visit("hitm", record.hitm);
  visit("remote_hitm", record.remote_hitm);
  visit("latency_cycles", record.latency_cycles);
  visit("interleaved", record.interleaved);
  visit("interleaved_per_s", record.interleaved_per_s);
  visit("bytes_after", record.bytes_after);
  visit("remedy", record.remedy);
  visit("advice", record.advice);
  visit("repair", record.repair);
}

template <typename Visit>
void for_each_field(RecordOf<ContendedRecord::Change> auto& change, Visit visit) {
  visit("what", change.what);
  visit("name", change.name);
  visit("type", change.type);
  visit("file", change.file);
  visit("line", change.line);
  visit("alignas", change.alignas_bytes);
  visit("text", change.text);
  visit("bytes_before", change.bytes_before);
  visit("bytes_after", change.bytes_after);
}

template <typename Visit>
void for_each_field(RecordOf<ContendedRecord::Allocation> auto& allocation, Visit visit) {
  visit("context", allocation.context);
  visit("bytes", allocation.bytes);
  visit("objects", allocation.objects);
}

template <typename Visit>
void for_each_field(RecordOf<ContendedRecord::Side> auto& side, Visit visit) {
  visit("profile", side.profile);
  visit("name", side.name);
  visit("declared", side.declared);
  visit("place", side.place);
  visit("access", side.access);
  visit("offset", side.offset);
  visit("bytes", side.bytes);
  visit("line", side.line);
  visit("line_offset", side.line_offset);
  visit("object", side.object);
  visit("allocation", side.allocation);
  visit("accesses", side.accesses);
  visit("weight_s", side.weight_s);
  visit("context", side.context);
}

}  // namespace prof
