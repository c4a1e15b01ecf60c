// Allocates with every C++ operator and counts the resulting calls of malloc() and free(), which are the
// program's own. Also exchanges blocks with a library that has a scope of its own.

#include <dlfcn.h>
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

int allocated = 0, released = 0;

template <typename Function>
Function behind(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" void* malloc(size_t bytes) {
  static const auto next = behind<void* (*)(size_t)>("malloc");
  ++allocated;
  return next(bytes);
}
extern "C" void* aligned_alloc(size_t align, size_t bytes) {
  static const auto next = behind<void* (*)(size_t, size_t)>("aligned_alloc");
  ++allocated;
  return next(align, bytes);
}
extern "C" void free(void* at) {
  static const auto next = behind<void (*)(void*)>("free");
  ++released;
  next(at);
}

namespace {

struct alignas(256) Aligned {
  char bytes[256];
};

void report(const char* what) {
  printf("%s: %d %d\n", what, allocated, released);
  allocated = released = 0;
}

template <typename Object>
void operators(const char* what) {
  volatile bool is_there = true;
  Object* const one = new Object;
  Object* const several = new Object[3];
  Object* const maybe = new (std::nothrow) Object;
  Object* const maybe_several = new (std::nothrow) Object[3];
  is_there = one && several && maybe && maybe_several;
  const bool is_aligned = reinterpret_cast<uintptr_t>(several) % alignof(Object) == 0;
  delete one;
  delete[] several;
  delete maybe;
  delete[] maybe_several;
  ::operator delete(::operator new(100));
  ::operator delete (::operator new(100), size_t{100});
  ::operator delete[](::operator new[](100), std::nothrow);
  printf("%d %d ", is_there, is_aligned);
  report(what);
}

void scopes(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  if (!library) {
    printf("%s\n", dlerror());
    return;
  }
  const auto give = reinterpret_cast<char* (*)(const char*)>(dlsym(library, "give"));
  const auto take = reinterpret_cast<void (*)(void*)>(dlsym(library, "take"));
  char* const given = give("given");
  printf("%s ", given);
  free(given);
  take(strdup("taken"));
  take(memalign(4096, 10));
  take(valloc(10));
  take(pvalloc(10));
  take(reallocarray(nullptr, 10, 10));
  printf("and taken\n");
}

}  // namespace

int main(int, char** arguments) {
  char buffer[BUFSIZ];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);  // its own buffer, because an allocated one would count
  allocated = released = 0;
  operators<int>("operators");
  operators<Aligned>("aligned operators");
  try {
    volatile size_t too_many = SIZE_MAX / 2;
    delete[] new char[too_many];
  } catch (const std::bad_alloc&) {
    printf("thrown\n");
  }
  scopes(arguments[1]);
}
