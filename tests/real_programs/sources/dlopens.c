/* Loads and unloads libraries over and over, and calls what they have. */
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  unsigned long calls = 0, loads = 0;
  for (int round = 0; round < 150; ++round) {
    for (int i = 1; i < argc; ++i) {
      void* library = dlopen(argv[i], round % 2 ? RTLD_NOW : RTLD_LAZY);
      if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
      }
      ++loads;
      unsigned long (*crc)(unsigned long, const unsigned char*, unsigned) = dlsym(library, "crc32");
      unsigned char data[4096];
      for (unsigned k = 0; k < sizeof data; ++k) data[k] = (unsigned char)(k * i);
      for (int k = 0; crc && k < 20; ++k) calls += crc(k, data, sizeof data) != 0;
      dlclose(library);
    }
  }
  printf("%lu libraries, %lu calls\n", loads, calls);
  return 0;
}
