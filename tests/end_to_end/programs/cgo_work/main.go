// Go code and C code that it calls, in turns. Their lengths vary: turns of the same length as the sampling period
// would be met at the same place each time.
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
	length := uint32(1)
	for turn := 0; turn < 1200; turn++ {
		length = length*1664525 + 1013904223
		part := 50000 + int(length>>16)%100000
		sum += spin(3*part) + int(C.c_spin(C.int(part)))
	}
	if sum != 1 {
		fmt.Println("worked")
	}
}
