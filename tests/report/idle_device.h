#pragma once
// A run in which the device is idle for part of the time, and a thread for another part.

#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"

namespace prof::test {

inline constexpr char kRun[] = R"json({
  "run": {"command": "./step", "wall_s": 10.0, "cpu_s": 4.0, "processes": 1, "threads": 1, "ranks": 0},
  "devices": [{"host": "node17", "rank": -1, "process": 100, "device": 0, "name": "pthread-cpu",
               "uuid": "u", "api": "OpenCL", "driver": "PoCL 3.1", "window_s": 8.0, "busy_s": 5.0,
               "kernels_s": 4.5, "copies_s": 0.5, "overlap_s": 2.0, "cpu_waits_s": 4.0, "tasks": 120,
               "incomplete": 1, "queues": [{"profile": 1, "name": "queue 1"}]}]
})json";

// Returns a program that frees in each step and whose KernelN is not overlapped. KernelM takes longest.
inline Database program() {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/step", 30);
  b.function("step", "step.cpp", "/home/me/step", 10);
  b.function("prepare", "step.cpp", "/home/me/step", 3);
  b.function("clReleaseMemObject", "", "/lib/libOpenCL.so.1");
  b.function("clFinish", "", "/lib/libOpenCL.so.1");
  b.function("clEnqueueNDRangeKernel", "", "/lib/libOpenCL.so.1");
  b.function("release_in_driver", "", "/lib/libpocl.so");
  b.function("KernelM", "", "[device]");
  b.function("KernelN", "", "[device]");
  b.metric("CPUTIME", "sec");
  const uint32_t gpu_idle = b.metric("GPU_IDLE_CAUSE", "sec"), cpu_idle = b.metric("CPU_IDLE", "sec"),
                 cause = b.metric("CPU_IDLE_CAUSE", "sec"), time = b.metric("GPU_EXECUTION_TIME", "sec"),
                 wake = b.metric("WAKE_LATENCY", "sec"), bytes = b.metric("H_TO_D_BYTES", "bytes");
  const uint32_t main = b.thread(0, "step"), queue = b.thread(-1, "queue 1");
  b.database.profiles[queue].id.device = 0;
  b.database.profiles[queue].id.queue = 0;
  b.database.profiles[queue].samples = 120;
  b.spend(main, {{"main", 40}, {"step", 12}, {"prepare", 5}}, 4);
  b.spend(main, {{"main", 40}, {"step", 12}, {"prepare", 5}}, 1, gpu_idle);
  b.spend(main, {{"main", 40}, {"step", 31}, {"clReleaseMemObject"}}, 1.25, gpu_idle);
  b.spend(main, {{"main", 40}, {"step", 31}, {"clReleaseMemObject"}, {"release_in_driver"}}, 0.25, gpu_idle);
  b.spend(main, {{"main", 40}, {"step", 33}, {"clReleaseMemObject"}}, 0.5, gpu_idle);
  b.spend(main, {{"main", 40}, {"step", 20}, {"clFinish"}}, 4, cpu_idle);
  b.spend(main, {{"main", 40}, {"step", 20}, {"clFinish"}}, 0.5, wake);
  b.spend(queue, {{"main", 40}, {"step", 14}, {"clEnqueueNDRangeKernel"}, {"KernelM"}}, 3, time);
  b.spend(queue, {{"main", 40}, {"step", 18}, {"clEnqueueNDRangeKernel"}, {"KernelN"}}, 2, time);
  b.spend(queue, {{"main", 40}, {"step", 14}, {"clEnqueueNDRangeKernel"}, {"KernelM"}}, 0.5, cause);
  b.spend(queue, {{"main", 40}, {"step", 18}, {"clEnqueueNDRangeKernel"}, {"KernelN"}}, 3, cause);
  b.spend(queue, {{"main", 40}, {"step", 18}, {"clEnqueueNDRangeKernel"}, {"KernelN"}}, 2048, bytes);
  set_run_text(b.database, kRun);
  return b.build();
}

}  // namespace prof::test
