import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Work {
  static int[] table = new int[4096];

  static long collatz(long n) {
    long steps = 0;
    for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
  }

  static long work(int part) {
    long sum = 0;
    for (int i = 1; i < 300_000; ++i) sum += collatz(i + part);
    return sum;
  }

  // The virtual machine turns the fault at a null reference into an exception: a SIGSEGV of its own.
  static int nulls() {
    int caught = 0;
    for (int i = 0; i < 20_000; ++i) {
      try {
        int[] nothing = i % 2 == 0 ? null : table;
        nothing[i % 4096] += i;
      } catch (NullPointerException e) {
        ++caught;
      }
    }
    return caught;
  }

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Callable<Long>> tasks = new ArrayList<>();
    for (int part = 0; part < 6; ++part) {
      final int which = part;
      tasks.add(() -> work(which));
    }
    for (Future<Long> future : pool.invokeAll(tasks)) System.out.println(future.get());
    pool.shutdown();
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < 500_000; ++i) counts.merge(Integer.toString(i * 31 % 5003), 1, Integer::sum);
    System.out.println(counts.size() + " " + nulls());
    System.exit(7);
  }
}
