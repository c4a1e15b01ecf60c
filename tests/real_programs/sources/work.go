package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"sync"
	"syscall"
	"time"
)

func collatz(n uint64) (steps uint64) {
	for ; n != 1; steps++ {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return
}

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	var group sync.WaitGroup
	sums := make([]uint64, 8)
	for part := range sums {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := uint64(1); n < 300000; n++ {
				sums[part] += collatz(n + uint64(part))
			}
		}()
	}
	group.Wait()
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	received := <-signals
	words := map[string]int{}
	for i := 0; i < 300000; i++ {
		words[fmt.Sprint(i*7919%10007)]++
	}
	keys := make([]string, 0, len(words))
	for key := range words {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	hash := sha256.New()
	for _, key := range keys {
		hash.Write([]byte(key))
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println(sums, received, len(keys), fmt.Sprintf("%x", hash.Sum(nil)))
	os.Exit(6)
}
