// Command pause owns the namespaces of a pod: it waits for a signal and reaps orphaned processes.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	orphan := make(chan os.Signal, 1)
	signal.Notify(orphan, syscall.SIGCHLD)
	for {
		select {
		case <-stop:
			return
		case <-orphan:
			for pid := 1; pid > 0; {
				pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			}
		}
	}
}
