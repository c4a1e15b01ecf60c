#pragma once
// What is called of NVIDIA's libraries, both of which are opened while the program runs: the driver by the
// program, CUPTI by us. Set once, before any of it is called.

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
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
#define HPCRUN_CUPTI_MEMBER(name) decltype(&(::name)) name;
  HPCRUN_CUPTI_FUNCTIONS(HPCRUN_CUPTI_MEMBER)
#undef HPCRUN_CUPTI_MEMBER
  decltype(&::cuptiSubscribe_v2) subscribe_v2;                                      // nullptr before 12.9
  decltype(&::cuptiActivityRegisterTimestampCallback) register_timestamp_callback;  // nullptr before 11.6
};

// cuda.h renames functions by macros: these are the names that the library exports.
struct DriverFunctions {
  CUresult (*device_get)(CUdevice*, int);
  CUresult (*device_name)(char*, int, CUdevice);
  CUresult (*device_uuid)(CUuuid*, CUdevice);
  CUresult (*driver_version)(int*);
  CUresult (*stream_is_capturing)(CUstream, CUstreamCaptureStatus*);
  CUresult (*graph_nodes)(CUgraph, CUgraphNode*, size_t*);
  CUresult (*graph_node_type)(CUgraphNode, CUgraphNodeType*);
  CUresult (*child_graph)(CUgraphNode, CUgraph*);
  CUresult (*pointer_attribute)(void*, CUpointer_attribute, CUdeviceptr);
};

extern CuptiFunctions cupti;
extern DriverFunctions driver;

}  // namespace hpcrun::cuda
