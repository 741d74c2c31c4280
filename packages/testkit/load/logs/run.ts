import { loadavg } from "node:os";
import { signIn } from "../../src/api.ts";
import { startGateway } from "../../src/gateway.ts";
import { readContents, type Contents } from "../api/calls.ts";
import { timed, type Timed } from "../api/run.ts";
import { logCalls, type LogCall } from "./calls.ts";

export interface LogsPlan {
  /** The number of calls of each kind, and the time limit for slow ones. */
  readonly calls: number;
  readonly seconds: number;
}

export interface LogsDatabase {
  readonly name: string;
  readonly url: string;
  /** The password of every seeded user. */
  readonly password: string;
  readonly partitions: number;
}

export interface LogsFigures {
  readonly name: string;
  readonly contents: Contents;
  readonly partitions: number;
  /** Load average of the machine before the first call. */
  readonly loadBefore: number;
  readonly calls: readonly ({ readonly call: LogCall } & Timed)[];
}

/** Sends a gateway on a seeded database every query of the log and the dashboard, over HTTP. */
export async function runLogsBench(
  { name, url, password, partitions }: LogsDatabase,
  { plan, program, say }: { readonly plan: LogsPlan; readonly program: string; readonly say: (line: string) => void },
): Promise<LogsFigures> {
  const [loadBefore = 0] = loadavg();
  const contents = await readContents(url);
  // The limits of calls are for clients and do not matter in this bench.
  const gateway = await startGateway({ program, database: url, env: { FAIRWAY_LIMIT_API: "off" } });
  try {
    const root = await signIn(gateway.url);
    const user = await signIn(gateway.url, contents.users[0]?.name, password);
    const calls: ({ call: LogCall } & Timed)[] = [];
    for (const call of logCalls(contents)) {
      const figures = await timed(call.by === "root" ? root : user, call, plan);
      say(`${name}, ${call.section}, ${call.name}: p50 ${figures.p50.toFixed(1)}, p95 ${figures.p95.toFixed(1)} ms`);
      calls.push({ call, ...figures });
    }
    return { name, contents, partitions, loadBefore, calls };
  } finally {
    await gateway.stop();
  }
}
