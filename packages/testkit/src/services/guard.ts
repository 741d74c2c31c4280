import { spawn } from "node:child_process";
import type { Socket } from "node:net";

export interface Guard {
  /** Remembers a process to end with `signal` if this one dies; replaces the previous one. */
  watch(pid: number, signal: NodeJS.Signals): void;
  /** Forgets everything; called after an orderly stop. */
  disarm(): void;
}

// Reads lines "pid signal" until the pipe closes, which the kernel does when the owner dies in any way.
const SCRIPT = `
while read -r p s; do pid=$p; signal=$s; [ "$pid" = disarm ] && exit 0; done
[ -n "$pid" ] && kill -"$signal" "$pid" 2>/dev/null && sleep 1
rm -rf "$0"
`;

/**
 * A shell that outlives its owner for a moment, so that no server and no folder remains after a SIGKILL of the tests.
 */
export function createGuard(folder: string): Guard {
  const shell = spawn("/bin/sh", ["-c", SCRIPT, folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shell.unref();
  shell.stdin.on("error", () => {
    // EPIPE: the shell has ended, so nothing is left to guard with
  });
  (shell.stdin as Socket).unref(); // a pipe of a child is a socket, but the types know it only as a stream
  return {
    watch: (pid, signal) => void shell.stdin.write(`${pid} ${signal.slice(3)}\n`),
    disarm: () => shell.stdin.end("disarm\n"),
  };
}
