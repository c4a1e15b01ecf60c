// A plugin with an OpenMP runtime that no other library can reach; openmp_host loads it.

extern "C" long sum_of_team(int last) {
  long sum = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 1; i <= last; ++i) sum += i;
#pragma omp critical(plugin)
    sum += 1000;
  }
  return sum;
}
