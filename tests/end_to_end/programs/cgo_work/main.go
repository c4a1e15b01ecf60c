// Go code and C code that it calls, in turns.
package main

/*
__attribute__((noinline)) double c_spin(int turns) {
  volatile double sum = 0;
  for (int i = 0; i < turns; ++i) sum = sum + i * 0.5;
  return sum;
}
*/
import "C"
import "fmt"

//go:noinline
func spin(turns int) int {
	sum := 0
	for i := 0; i < turns; i++ {
		sum += i * i ^ sum
	}
	return sum
}

func main() {
	sum := 0
	for turn := 0; turn < 1200; turn++ {
		sum += spin(300000) + int(C.c_spin(100000))
	}
	if sum != 1 {
		fmt.Println("worked")
	}
}
