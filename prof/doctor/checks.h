#pragma once
// The checks of `prof doctor`. Each examines one thing of the machine and reports what it means for a
// profile. None fails if /proc or anything else is missing: the check reports that instead.

#include <vector>

#include "prof/doctor/diagnosis.h"
#include "prof/doctor/machine.h"

namespace prof {

using Check = Diagnosis (*)(const Machine&);

// kernel and permissions (checks_sampling.cpp)
Diagnosis check_runtime(const Machine& machine);
Diagnosis check_kernel(const Machine& machine);
Diagnosis check_trigger(const Machine& machine);
Diagnosis check_paranoid(const Machine& machine);
Diagnosis check_counters(const Machine& machine);
Diagnosis check_contention(const Machine& machine);
Diagnosis check_capabilities(const Machine& machine);
Diagnosis check_seccomp(const Machine& machine);
Diagnosis check_tracer(const Machine& machine);
Diagnosis check_ptrace_scope(const Machine& machine);
Diagnosis check_kernel_symbols(const Machine& machine);
Diagnosis check_perf_memory(const Machine& machine);

// surroundings (checks_resources.cpp)
Diagnosis check_proc(const Machine& machine);
Diagnosis check_virtual_machine(const Machine& machine);
Diagnosis check_container(const Machine& machine);
Diagnosis check_disk(const Machine& machine);
Diagnosis check_memory(const Machine& machine);
Diagnosis check_descriptors(const Machine& machine);
Diagnosis check_pending_signals(const Machine& machine);
Diagnosis check_locked_memory(const Machine& machine);

// other software (checks_neighbours.cpp)
Diagnosis check_cuda(const Machine& machine);
Diagnosis check_opencl(const Machine& machine);
Diagnosis check_mpi(const Machine& machine);
Diagnosis check_job(const Machine& machine);
Diagnosis check_java(const Machine& machine);
Diagnosis check_debuginfod(const Machine& machine);

// Returns all checks in the order in which they are shown.
const std::vector<Check>& machine_checks();

}  // namespace prof
