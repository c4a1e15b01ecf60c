// Known work for Go programs: goroutines, garbage, signals, children and a deep stack on request. heavy does
// three times the work of light.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

var sink []byte

//go:noinline
func spin(turns int) int {
	sum := 0
	for i := 0; i < turns; i++ {
		sum += i * i ^ sum
	}
	return sum
}

//go:noinline
func heavy() int { return spin(90000) + 1 }

//go:noinline
func light() int { return spin(30000) + 1 }

//go:noinline
func descend(depth int) int {
	if depth == 0 {
		return heavy()
	}
	return descend(depth-1) + 1
}

//go:noinline
func litter() {
	for i := 0; i < 20; i++ {
		sink = make([]byte, 32<<10)
	}
}

func work(deep bool) {
	for turn := 0; turn < 2000; turn++ {
		if deep {
			descend(60)
		} else {
			heavy()
		}
		light()
		litter()
	}
}

func main() {
	has := map[string]bool{}
	for _, argument := range os.Args[1:] {
		has[argument] = true
	}
	received := make(chan os.Signal, 16)
	signal.Notify(received, syscall.SIGUSR1, syscall.SIGTRAP)
	var all sync.WaitGroup
	for i := 0; i < 3; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			work(has["deep"])
		}()
	}
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGTRAP)
	fmt.Println((<-received).(syscall.Signal) + (<-received).(syscall.Signal))
	if has["children"] {
		out, err := exec.Command("sh", "-c", "echo child; exit 3").Output()
		fmt.Print(string(out), err, "\n")
	}
	all.Wait()
	fmt.Println("worked")
	if has["status"] {
		os.Exit(7)
	}
}
