import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** The shipped program: building the image has built it. */
const PROGRAM = join(import.meta.dirname, "../../../cli/dist/fairway.mjs");

/** `fairway` with the kubeconfig of a cluster and a folder of its own. */
export interface Cli {
  run(...args: string[]): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** Starts the program; `said` returns both outputs so far. The caller kills it. */
  start(...args: string[]): { readonly child: ChildProcess; said(): string };
}

export function createCli(kubeconfig: string, folder: string): Cli {
  const FAIRWAY_CONFIG = join(folder, "credentials.json");
  const env = { PATH: process.env["PATH"], HOME: folder, KUBECONFIG: kubeconfig, FAIRWAY_CONFIG };
  const start = (args: readonly string[]) => spawn(process.execPath, [PROGRAM, ...args], { env });
  return {
    async run(...args) {
      const child = start(args);
      let [out, err] = ["", ""];
      child.stdout.on("data", (part: Buffer) => (out += part.toString()));
      child.stderr.on("data", (part: Buffer) => (err += part.toString()));
      child.stdin.end();
      const [code] = (await once(child, "close")) as [number | null];
      return { code, out, err };
    },
    start(...args) {
      const child = start(args);
      let said = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (said += part.toString()));
      return { child, said: () => said };
    },
  };
}
