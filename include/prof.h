/* Says from inside a program which part of it `prof` is to measure. C and C++; nothing to link with.
 *
 *     #include <prof.h>
 *     prof_start();  ...the part...  prof_stop();
 *
 * Run it with `prof run --paused ./program`, and only the part is measured. Without the runtime (not run
 * under `prof`, or not attached) both functions do nothing and cost a load and a branch. They may be called
 * from any thread and as often as one likes: they hold for the whole process, do not nest, and the last call
 * wins, as does `prof pause` or `prof resume` that comes after it. Not to be called from signal handlers. */
#ifndef PROF_H
#define PROF_H

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime's. Null without it. */
extern void hpcrun_start(void) __attribute__((weak));
extern void hpcrun_stop(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* The address is loaded from the global offset table, in position-dependent programs too: there compilers and
 * linkers would otherwise take a weak function for absent for good. */
#if defined(__x86_64__) && defined(__ELF__)
#define PROF_CALL_(function)                                                         \
  do {                                                                               \
    void (*prof_function_)(void);                                                    \
    __asm__ volatile(".weak " #function "\n\tmovq " #function "@GOTPCREL(%%rip), %0" \
                     : "=r"(prof_function_));                                        \
    if (prof_function_) prof_function_();                                            \
  } while (0)
#else
#define PROF_CALL_(function)  \
  do {                        \
    if (function) function(); \
  } while (0)
#endif

/* Measuring begins or goes on. */
static inline void prof_start(void) {
  PROF_CALL_(hpcrun_start);
}

/* Measuring pauses. */
static inline void prof_stop(void) {
  PROF_CALL_(hpcrun_stop);
}

#undef PROF_CALL_
#endif
