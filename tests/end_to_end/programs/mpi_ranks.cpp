// A parallel program whose ranks compute the same and synchronize in MPI_Allreduce.
//   mpi_ranks [slow RANK | turns RANKS | collective RANK | dies RANK | works N]
// slow: the rank prepares for some time before it synchronizes. turns: one of the first RANKS does, each in
// turn. collective: they synchronize a second time in each step, and only the given rank assembles for some
// time before that. dies: it kills itself halfway. works: all compute N million divisions per step, instead
// of for a given time.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

constexpr int kSteps = 8;
constexpr double kComputeSeconds = 0.025;
constexpr double kPrepareSeconds = 0.050;
constexpr double kAssembleSeconds = 0.060;  // a different number: equal functions would be merged

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Takes the same CPU time on any machine.
[[gnu::noinline]] double spend(double seconds) {
  const double end = cpu_seconds() + seconds;
  double sum = 1;
  while (cpu_seconds() < end)
    for (int i = 1; i < 2000; ++i) sum += 1 / (sum + i);
  return sum;
}

[[gnu::noinline]] double divide(long times) {
  double sum = 1;
  for (long i = 1; i <= times; ++i) sum += 1 / (sum + static_cast<double>(i));
  return sum;
}

[[gnu::noinline]] double compute(long divisions) {
  double sum = divisions > 0 ? divide(divisions) : spend(kComputeSeconds);
  asm volatile("" : "+m"(sum));  // prevents a jump instead of the call
  return sum;
}

[[gnu::noinline]] double prepare() {
  double sum = spend(kPrepareSeconds);
  asm volatile("" : "+m"(sum));
  return sum;
}

[[gnu::noinline]] double assemble() {
  double sum = spend(kAssembleSeconds);
  asm volatile("" : "+m"(sum));
  return sum;
}

// The second synchronization.
[[gnu::noinline]] void exchange(double own, bool is_late, double* all) {
  own += compute(0);
  if (is_late) own += assemble();
  MPI_Allgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 2 ? argv[1] : "";
  const int which = argc > 2 ? atoi(argv[2]) : -1;
  const long divisions = strcmp(how, "works") == 0 ? which * 1'000'000L : 0;
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> gathered(static_cast<size_t>(size));
  int steps = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (rank == which && strcmp(how, "dies") == 0 && step == kSteps / 2) raise(SIGKILL);
    double own = compute(divisions), all = 0;
    const int late = strcmp(how, "slow") == 0 ? which : strcmp(how, "turns") == 0 ? step % which : -1;
    if (rank == late) own += prepare();
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    steps += all > 0;
    if (strcmp(how, "collective") == 0) exchange(own, rank == which, gathered.data());
  }
  printf("rank %d of %d: %d steps\n", rank, size, steps);
  MPI_Finalize();
  return 0;
}
