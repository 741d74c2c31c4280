import { execFile, spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);
const POLL_MS = 100;
const LOG_TAIL = 4_000;

/** Ends the program if this process dies in any way, so no cluster outlives its test. */
const LEASHED = ["setpriv", "--pdeathsig", "KILL"] as const;
/** First process of a namespace, which only reaps. */
const HOLD = "while :; do sleep 3600 & wait $!; done";

/** Runs programs on the machine, or in namespaces that nothing else sees. */
export class ProcessHost {
  readonly #prefix: readonly string[];
  readonly #children: ChildProcess[] = [];
  /** The programs by name, with what starts them. */
  readonly #programs = new Map<string, { readonly child: ChildProcess; readonly line: readonly string[] }>();
  /** The folder where programs write their logs. */
  readonly logs: string;

  constructor(logs: string, prefix: readonly string[] = []) {
    this.#prefix = prefix;
    this.logs = logs;
    mkdirSync(logs, { recursive: true });
  }

  /** Starts a program that runs until the host is closed. */
  start(name: string, command: string, args: readonly string[]): void {
    const log = openSync(this.buildLogPath(name), "a");
    const [program, ...leash] = LEASHED;
    const child = spawn(program, [...leash, ...this.#prefix, command, ...args], { stdio: ["ignore", log, log] });
    child.once("error", () => {
      // `until` reports the log of a program that does not run.
    });
    closeSync(log);
    child.unref();
    this.#children.push(child);
    this.#programs.set(name, { child, line: [command, ...args] });
  }

  /** Ends one program of this machine with SIGKILL. */
  async end(name: string): Promise<void> {
    const { child } = this.#find(name);
    await endChild(child);
  }

  /** Starts a program that was ended, with its arguments. */
  startAgain(name: string): void {
    const [command = "", ...args] = this.#find(name).line;
    this.start(name, command, args);
  }

  #find(name: string) {
    const found = this.#programs.get(name);
    if (!found) throw new Error(`no program ${name} was started here`);
    return found;
  }

  /** Runs a program to its end; rejects with its output if it fails. */
  async run(command: string, ...args: string[]): Promise<string> {
    const [program = "", ...rest] = [...this.#prefix, command, ...args];
    return (await execute(program, rest, { maxBuffer: 2 ** 26 })).stdout;
  }

  buildLogPath(name: string): string {
    return join(this.logs, `${name}.log`);
  }

  /** Polls until `isDone` resolves to true; the error shows the end of the program's log. */
  async until(seconds: number, name: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
    const limit = performance.now() + seconds * 1_000;
    while (!(await succeeds(isDone))) {
      if (performance.now() > limit)
        throw new Error(`${name} was not ready within ${seconds} s:\n${readTail(this.buildLogPath(name))}`);
      await sleep(POLL_MS);
    }
  }

  /**
   * Creates new mount, network and process namespaces: rules and settings never affect the machine, and one kill ends
   * everything.
   */
  async isolate(logs: string): Promise<ProcessHost> {
    const namespaces = ["-m", "-n", "-p", "-f", "--mount-proc", "--propagation", "private", "--kill-child=KILL"];
    this.start("holder", "unshare", [...namespaces, "sh", "-c", HOLD]);
    const parent = this.#children.at(-1)?.pid;
    let first = "";
    await this.until(10, "holder", () => {
      first = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
      return first !== "";
    });
    return new ProcessHost(logs, ["nsenter", "-t", first, "-m", "-n", "-p", "--"]);
  }

  /** Creates separate mounts and a network, inside the processes of this host. */
  async nest(logs: string): Promise<{ readonly host: ProcessHost; readonly pid: string }> {
    const file = join(logs, "pid");
    mkdirSync(logs, { recursive: true });
    const script = `echo $$ > ${file}; ${HOLD}`;
    this.start("holder", "unshare", ["-m", "-n", "--propagation", "private", "sh", "-c", script]);
    await this.until(10, "holder", () => readFileSync(file, "utf8").endsWith("\n"));
    const pid = readFileSync(file, "utf8").trim();
    return { pid, host: new ProcessHost(logs, [...this.#prefix, "nsenter", "-t", pid, "-m", "-n", "--"]) };
  }

  /** Ends everything that was started here. An API server whose etcd has ended would hang in an orderly stop. */
  async close(): Promise<void> {
    await Promise.all(this.#children.map(endChild));
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.ref();
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exit;
}

async function succeeds(isDone: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await isDone();
  } catch {
    return false;
  }
}

function readTail(file: string): string {
  try {
    return readFileSync(file, "utf8").slice(-LOG_TAIL);
  } catch {
    return "(no log)";
  }
}
