#pragma once
// Declares the functions of NVIDIA's libraries that are called. Both libraries are opened while the program
// runs: the driver by the program, CUPTI by the runtime. Set once, before any of them is called.

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cudaTypedefs.h>
#include <cupti.h>
#pragma GCC diagnostic pop

namespace hpcrun::cuda {

#define HPCRUN_CUPTI_FUNCTIONS(X)      \
  X(cuptiGetVersion)                   \
  X(cuptiSubscribe)                    \
  X(cuptiUnsubscribe)                  \
  X(cuptiEnableCallback)               \
  X(cuptiGetDeviceId)                  \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityEnable)               \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiActivityFlushAll)             \
  X(cuptiGetTimestamp)

struct CuptiFunctions {
#define HPCRUN_CUPTI_MEMBER(name) decltype(&(::name)) name;  // NOLINT(bugprone-macro-parentheses)
  HPCRUN_CUPTI_FUNCTIONS(HPCRUN_CUPTI_MEMBER)
#undef HPCRUN_CUPTI_MEMBER
  decltype(&::cuptiSubscribe_v2) subscribe_v2;                                      // nullptr before 12.9
  decltype(&::cuptiActivityRegisterTimestampCallback) register_timestamp_callback;  // nullptr before 11.6
  decltype(&::cuptiActivityFlushPeriod) flush_period;                               // nullptr before 11.1
};

// X(member, type of cudaTypedefs.h, name that the library exports)
#define HPCRUN_DRIVER_FUNCTIONS(X)                                                          \
  X(device_get, PFN_cuDeviceGet_v2000, "cuDeviceGet")                                       \
  X(device_name, PFN_cuDeviceGetName_v2000, "cuDeviceGetName")                              \
  X(device_uuid, PFN_cuDeviceGetUuid_v11040, "cuDeviceGetUuid_v2")                          \
  X(driver_version, PFN_cuDriverGetVersion_v2020, "cuDriverGetVersion")                     \
  X(stream_is_capturing, PFN_cuStreamIsCapturing_v10000, "cuStreamIsCapturing")             \
  X(graph_nodes, PFN_cuGraphGetNodes_v10000, "cuGraphGetNodes")                             \
  X(graph_node_type, PFN_cuGraphNodeGetType_v10000, "cuGraphNodeGetType")                   \
  X(child_graph, PFN_cuGraphChildGraphNodeGetGraph_v10000, "cuGraphChildGraphNodeGetGraph") \
  X(pointer_attribute, PFN_cuPointerGetAttribute_v4000, "cuPointerGetAttribute")            \
  /* For timing by events. */                                                               \
  X(context_current, PFN_cuCtxGetCurrent_v4000, "cuCtxGetCurrent")                          \
  X(context_push, PFN_cuCtxPushCurrent_v4000, "cuCtxPushCurrent_v2")                        \
  X(context_pop, PFN_cuCtxPopCurrent_v4000, "cuCtxPopCurrent_v2")                           \
  X(context_device, PFN_cuCtxGetDevice_v2000, "cuCtxGetDevice")                             \
  X(primary_state, PFN_cuDevicePrimaryCtxGetState_v7000, "cuDevicePrimaryCtxGetState")      \
  X(stream_create, PFN_cuStreamCreate_v2000, "cuStreamCreate")                              \
  X(event_create, PFN_cuEventCreate_v2000, "cuEventCreate")                                 \
  X(event_record, PFN_cuEventRecord_v2000, "cuEventRecord")                                 \
  X(event_query, PFN_cuEventQuery_v2000, "cuEventQuery")                                    \
  X(event_elapsed, PFN_cuEventElapsedTime_v12080, "cuEventElapsedTime_v2")                  \
  X(exchange_capture_mode, PFN_cuThreadExchangeStreamCaptureMode_v10010,                    \
    "cuThreadExchangeStreamCaptureMode")                                                    \
  X(function_name, PFN_cuFuncGetName_v12030, "cuFuncGetName")                               \
  X(kernel_name, PFN_cuKernelGetName_v12030, "cuKernelGetName")

// nullptr if the driver has no such function.
struct DriverFunctions {
#define HPCRUN_DRIVER_MEMBER(member, type, symbol) type member;
  HPCRUN_DRIVER_FUNCTIONS(HPCRUN_DRIVER_MEMBER)
#undef HPCRUN_DRIVER_MEMBER
};

extern CuptiFunctions cupti;
extern DriverFunctions driver;

}  // namespace hpcrun::cuda
