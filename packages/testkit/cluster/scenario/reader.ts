import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Cluster } from "../cluster.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const OF_THE_CHECKOUT = ["charts", "deploy", "dist"];

/** A person in a checkout who copies commands from a page into a shell. */
export interface Reader {
  /** The folder of the shell: that of a checkout, and the reader's own files. */
  readonly folder: string;
  write(name: string, text: string): void;
  /** Runs a command to its end and returns both outputs; rejects with them if it fails. */
  run(command: string): Promise<string>;
  /** Starts a command that lasts; `said` returns both outputs so far. */
  start(command: string): { said(): string; stop(): Promise<void> };
  leave(): void;
}

/** kubectl, helm and `fairway` are found by their names. The built command line is used. */
export function createReader({ kubeconfig, programs: clients }: Pick<Cluster, "kubeconfig" | "programs">): Reader {
  const folder = mkdtempSync(join(tmpdir(), "fairway-reader-"));
  for (const name of OF_THE_CHECKOUT) symlinkSync(join(ROOT, name), join(folder, name));
  const programs = join(folder, "programs");
  mkdirSync(programs);
  const cli = join(ROOT, "packages/cli/dist/fairway.mjs");
  writeFileSync(join(programs, "fairway"), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`);
  chmodSync(join(programs, "fairway"), 0o755);
  const env = {
    PATH: `${programs}:${clients}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    KUBECONFIG: kubeconfig,
    FAIRWAY_CONFIG: join(folder, "credentials.json"),
  };
  const launch = (command: string) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", command], {
      cwd: folder,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (said += part.toString()));
    return { child, said: () => said };
  };
  return {
    folder,
    write: (name, text) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    },
    async run(command) {
      const { child, said } = launch(command);
      const [code] = (await once(child, "close")) as [number | null];
      if (code !== 0) throw new Error(`${command} ended with ${code}:\n${said()}`);
      return said();
    },
    start(command) {
      const { child, said } = launch(command);
      return { said, stop: () => endGroup(child) };
    },
    leave: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Ends a shell together with what it started. */
async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  process.kill(-child.pid, "SIGTERM");
  await closed;
}
