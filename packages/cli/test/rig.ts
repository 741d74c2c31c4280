import { createClient, type Client } from "@fairway/wire";
import { ROOT_PASSWORD, startGateway, startUpstream, type GatewayProcess, type Upstream } from "@fairway/testkit";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTerminal, run, type Finished } from "./terminal.ts";

/** A gateway with an upstream, a signed-in super administrator, and a folder of its own. */
export interface Rig {
  readonly gateway: GatewayProcess;
  readonly upstream: Upstream;
  readonly home: string;
  readonly env: Record<string, string> & { readonly FAIRWAY_CONFIG: string };
  readonly token: string;
  readonly client: Client;
  /** Runs a command whose words contain no blanks. */
  fairway(args: string, input?: string): Promise<Finished>;
  stop(): Promise<void>;
}

export async function startRig(settings: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const [upstream, gateway] = await Promise.all([startUpstream(), startGateway({ env: settings })]);
  const home = await mkdtemp(join(tmpdir(), "fairway-cli-"));
  const env = { FAIRWAY_CONFIG: join(home, "credentials.json") };
  const token = await signIn(gateway.url, env);
  const headers = { Authorization: `Bearer ${token}` };
  return {
    gateway,
    upstream,
    home,
    env,
    token,
    client: createClient({ baseUrl: gateway.url, fetch, headers: () => headers }),
    fairway: (args, input) => run(args.split(" "), env, input),
    async stop() {
      await Promise.all([gateway.stop(), upstream.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Signs in like a person; returns the stored access token. */
export async function signIn(
  url: string,
  env: { readonly FAIRWAY_CONFIG: string },
  { username = "root", password = ROOT_PASSWORD } = {},
): Promise<string> {
  const terminal = openTerminal(["login", url, "--username", username], env);
  await terminal.sees("Password:");
  terminal.type(`${password}\r`);
  await terminal.exited;
  return (JSON.parse(await readFile(env.FAIRWAY_CONFIG, "utf8")) as { token: string }).token;
}

export function parseJsonOutput({ out }: Finished): Record<string, unknown> {
  return JSON.parse(out) as Record<string, unknown>;
}

/** Parses the rows of `-o jsonl`. */
export function parseRows({ out }: Finished): Record<string, unknown>[] {
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
