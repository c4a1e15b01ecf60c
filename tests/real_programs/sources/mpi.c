#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enum { N = 200000 };
  long *part = malloc(N * sizeof *part), *all = malloc(N * sizeof *all);
  long total = 0;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < N; ++i) part[i] = (long)i * (rank + 1) * 7919 % (10007 + round);
    MPI_Allreduce(part, all, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    total += all[round * 1000];
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %ld\n", size, total);
  MPI_Finalize();
  return 0;
}
