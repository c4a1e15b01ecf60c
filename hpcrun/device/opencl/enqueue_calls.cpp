// Wraps calls that enqueue commands. Markers and barriers are not tasks of a device.

#include "hpcrun/device/opencl/enqueue.h"
#include "hpcrun/device/opencl/wrappers.h"

namespace hpcrun::opencl {

namespace {

uint64_t volume(const size_t* region) noexcept {
  return region ? uint64_t{region[0]} * region[1] * region[2] : 0;
}

uint64_t pixel_bytes(cl_mem image) noexcept {
  size_t bytes = 0;
  return next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, nullptr) == CL_SUCCESS
             ? bytes
             : 0;
}

uint64_t total_bytes(const cl_mem* objects, cl_uint count) noexcept {
  uint64_t sum = 0;
  for (cl_uint i = 0; objects && i < count; ++i) {
    size_t bytes = 0;
    if (next.clGetMemObjectInfo(objects[i], CL_MEM_SIZE, sizeof bytes, &bytes, nullptr) == CL_SUCCESS)
      sum += bytes;
  }
  return sum;
}

Work kernel_work(cl_kernel kernel) noexcept {
  return {TaskKind::Kernel, 0, name_of_kernel(kernel)};
}
Work to_device(uint64_t bytes) noexcept {
  return {TaskKind::CopyToDevice, bytes, nullptr};
}
Work from_device(uint64_t bytes) noexcept {
  return {TaskKind::CopyFromDevice, bytes, nullptr};
}
Work on_device(uint64_t bytes) noexcept {
  return {TaskKind::CopyOnDevice, bytes, nullptr};
}
Work fill(uint64_t bytes) noexcept {
  return {TaskKind::Fill, bytes, nullptr};
}

// Contents that will be overwritten are not copied first.
Work map_work(cl_map_flags flags, uint64_t bytes) noexcept {
  return from_device(flags & CL_MAP_READ ? bytes : 0);
}

Work migration(cl_mem_migration_flags flags, uint64_t bytes) noexcept {
  if (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) bytes = 0;
  return flags & CL_MIGRATE_MEM_OBJECT_HOST ? from_device(bytes) : to_device(bytes);
}

}  // namespace

// Calls `name` with the arguments and returns its result. `list` is the wait list among the arguments.
#define HPCRUN_ENQUEUE(name, work, blocks, ...)                                                             \
  cl_int status = CL_SUCCESS;                                                                               \
  enqueue(public_functions.name, queue, work, blocks, {count, list}, event, [&](cl_event* where) noexcept { \
    status = next.name(__VA_ARGS__, where);                                                                 \
    return status == CL_SUCCESS;                                                                            \
  });                                                                                                       \
  return status

namespace wrap {

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t* offset, const size_t* global, const size_t* local,
                                          cl_uint count, const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueNDRangeKernel, kernel_work(kernel), false, queue, kernel, dimensions, offset,
                 global, local, count, list);
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                 const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueTask, kernel_work(kernel), false, queue, kernel, count, list);
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                         void* arguments, size_t bytes, cl_uint objects,
                                         const cl_mem* list_of, const void** places, cl_uint count,
                                         const cl_event* list, cl_event* event) {
  const Work work{TaskKind::Kernel, 0, "[native kernel]"};
  HPCRUN_ENQUEUE(clEnqueueNativeKernel, work, false, queue, function, arguments, bytes, objects, list_of,
                 places, count, list);
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t bytes, void* to, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueReadBuffer, from_device(bytes), blocking, queue, buffer, blocking, offset, bytes,
                 to, count, list);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t bytes, const void* from, cl_uint count,
                                        const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueWriteBuffer, to_device(bytes), blocking, queue, buffer, blocking, offset, bytes,
                 from, count, list);
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t* origin, const size_t* host_origin,
                                           const size_t* region, size_t row, size_t slice, size_t host_row,
                                           size_t host_slice, void* to, cl_uint count, const cl_event* list,
                                           cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueReadBufferRect, from_device(volume(region)), blocking, queue, buffer, blocking,
                 origin, host_origin, region, row, slice, host_row, host_slice, to, count, list);
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t* origin, const size_t* host_origin,
                                            const size_t* region, size_t row, size_t slice, size_t host_row,
                                            size_t host_slice, const void* from, cl_uint count,
                                            const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueWriteBufferRect, to_device(volume(region)), blocking, queue, buffer, blocking,
                 origin, host_origin, region, row, slice, host_row, host_slice, from, count, list);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t bytes, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueCopyBuffer, on_device(bytes), false, queue, from, to, from_offset, to_offset, bytes,
                 count, list);
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                           const size_t* from_origin, const size_t* to_origin,
                                           const size_t* region, size_t from_row, size_t from_slice,
                                           size_t to_row, size_t to_slice, cl_uint count,
                                           const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueCopyBufferRect, on_device(volume(region)), false, queue, from, to, from_origin,
                 to_origin, region, from_row, from_slice, to_row, to_slice, count, list);
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueFillBuffer, fill(bytes), false, queue, buffer, pattern, pattern_bytes, offset,
                 bytes, count, list);
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const size_t* origin, const size_t* region, size_t row, size_t slice,
                                      void* to, cl_uint count, const cl_event* list, cl_event* event) {
  const Work work = from_device(volume(region) * pixel_bytes(image));
  HPCRUN_ENQUEUE(clEnqueueReadImage, work, blocking, queue, image, blocking, origin, region, row, slice, to,
                 count, list);
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       const size_t* origin, const size_t* region, size_t row, size_t slice,
                                       const void* from, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  const Work work = to_device(volume(region) * pixel_bytes(image));
  HPCRUN_ENQUEUE(clEnqueueWriteImage, work, blocking, queue, image, blocking, origin, region, row, slice,
                 from, count, list);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                      const size_t* from_origin, const size_t* to_origin,
                                      const size_t* region, cl_uint count, const cl_event* list,
                                      cl_event* event) {
  const Work work = on_device(volume(region) * pixel_bytes(from));
  HPCRUN_ENQUEUE(clEnqueueCopyImage, work, false, queue, from, to, from_origin, to_origin, region, count,
                 list);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                              const size_t* origin, const size_t* region, size_t offset,
                                              cl_uint count, const cl_event* list, cl_event* event) {
  const Work work = on_device(volume(region) * pixel_bytes(image));
  HPCRUN_ENQUEUE(clEnqueueCopyImageToBuffer, work, false, queue, image, buffer, origin, region, offset, count,
                 list);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                              size_t offset, const size_t* origin, const size_t* region,
                                              cl_uint count, const cl_event* list, cl_event* event) {
  const Work work = on_device(volume(region) * pixel_bytes(image));
  HPCRUN_ENQUEUE(clEnqueueCopyBufferToImage, work, false, queue, buffer, image, offset, origin, region, count,
                 list);
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color,
                                      const size_t* origin, const size_t* region, cl_uint count,
                                      const cl_event* list, cl_event* event) {
  const Work work = fill(volume(region) * pixel_bytes(image));
  HPCRUN_ENQUEUE(clEnqueueFillImage, work, false, queue, image, color, origin, region, count, list);
}

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                     const cl_event* list, cl_event* event, cl_int* error) {
  void* mapped = nullptr;
  enqueue(public_functions.clEnqueueMapBuffer, queue, map_work(flags, bytes), blocking, {count, list}, event,
          [&](cl_event* where) noexcept {
            mapped = next.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, count, list,
                                             where, error);
            return mapped != nullptr;
          });
  return mapped;
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                    cl_map_flags flags, const size_t* origin, const size_t* region,
                                    size_t* row, size_t* slice, cl_uint count, const cl_event* list,
                                    cl_event* event, cl_int* error) {
  void* mapped = nullptr;
  const Work work = map_work(flags, volume(region) * pixel_bytes(image));
  enqueue(public_functions.clEnqueueMapImage, queue, work, blocking, {count, list}, event,
          [&](cl_event* where) noexcept {
            mapped = next.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row, slice, count,
                                            list, where, error);
            return mapped != nullptr;
          });
  return mapped;
}

// It is not known how much of it was changed.
cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void* mapped, cl_uint count,
                                           const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueUnmapMemObject, to_device(0), false, queue, object, mapped, count, list);
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint objects, const cl_mem* list_of,
                                              cl_mem_migration_flags flags, cl_uint count,
                                              const cl_event* list, cl_event* event) {
  const Work work = migration(flags, total_bytes(list_of, objects));
  HPCRUN_ENQUEUE(clEnqueueMigrateMemObjects, work, false, queue, objects, list_of, flags, count, list);
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void* to, const void* from,
                                      size_t bytes, cl_uint count, const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueSVMMemcpy, on_device(bytes), blocking, queue, blocking, to, from, bytes, count,
                 list);
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void* to, const void* pattern,
                                       size_t pattern_bytes, size_t bytes, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueSVMMemFill, fill(bytes), false, queue, to, pattern, pattern_bytes, bytes, count,
                 list);
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* memory,
                                   size_t bytes, cl_uint count, const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueSVMMap, map_work(flags, bytes), blocking, queue, blocking, flags, memory, bytes,
                 count, list);
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void* memory, cl_uint count,
                                     const cl_event* list, cl_event* event) {
  HPCRUN_ENQUEUE(clEnqueueSVMUnmap, to_device(0), false, queue, memory, count, list);
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint pointers, const void** list_of,
                                          const size_t* sizes, cl_mem_migration_flags flags, cl_uint count,
                                          const cl_event* list, cl_event* event) {
  uint64_t bytes = 0;
  for (cl_uint i = 0; sizes && i < pointers; ++i) bytes += sizes[i];
  HPCRUN_ENQUEUE(clEnqueueSVMMigrateMem, migration(flags, bytes), false, queue, pointers, list_of, sizes,
                 flags, count, list);
}

// Calls whose commands are not tasks.

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  const DeviceCall call(CallKind::Short, public_functions.clEnqueueMarker);
  return next.clEnqueueMarker(queue, event);
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                               cl_event* event) {
  const DeviceCall call(CallKind::Short, public_functions.clEnqueueMarkerWithWaitList);
  return next.clEnqueueMarkerWithWaitList(queue, count, list, event);
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
  const DeviceCall call(CallKind::Short, public_functions.clEnqueueBarrier);
  return next.clEnqueueBarrier(queue);
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                                cl_event* event) {
  const DeviceCall call(CallKind::Short, public_functions.clEnqueueBarrierWithWaitList);
  return next.clEnqueueBarrierWithWaitList(queue, count, list, event);
}

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* list) {
  const DeviceCall call(CallKind::Short, public_functions.clEnqueueWaitForEvents);
  return next.clEnqueueWaitForEvents(queue, count, list);
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue queue, cl_uint pointers, void** list_of,
                                    void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void**, void*),
                                    void* data, cl_uint count, const cl_event* list, cl_event* event) {
  const DeviceCall call(CallKind::Short, public_functions.clEnqueueSVMFree);
  return next.clEnqueueSVMFree(queue, pointers, list_of, function, data, count, list, event);
}

}  // namespace wrap

}  // namespace hpcrun::opencl
