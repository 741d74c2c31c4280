import { loadavg } from "node:os";
import { signIn, type Session } from "../../src/api.ts";
import { startGateway } from "../../src/gateway.ts";
import { apiCalls, readContents, type ApiCall, type Contents } from "./calls.ts";
import { measureSignIns, percentile, type SignInFigures } from "./sign-ins.ts";

export interface ApiPlan {
  /** The number of calls of each kind, and the time limit for slow ones. */
  readonly calls: number;
  readonly seconds: number;
  readonly signInSeconds: number;
  readonly signInsPerSecond: number;
}

interface CallFigures {
  readonly call: ApiCall;
  readonly p50: number;
  readonly p95: number;
}

/** The figures of one database. */
export interface ApiFigures {
  readonly name: string;
  readonly contents: Contents;
  readonly seedSeconds: number | undefined;
  /** Load average of the machine before the first call. */
  readonly loadBefore: number;
  readonly calls: readonly CallFigures[];
  readonly signIns: SignInFigures;
}

export interface SeededDatabase {
  readonly name: string;
  readonly url: string;
  readonly seedSeconds: number | undefined;
  /** The password of every seeded user. */
  readonly password: string;
}

export interface ApiBench {
  readonly plan: ApiPlan;
  /** The gateway's program. */
  readonly program: string;
  /** Address of `stream.ts`. */
  readonly upstream: string;
  readonly say: (line: string) => void;
}

const WARM_UP_CALLS = 3;

/** Starts a gateway on a seeded database and measures the calls one after the other, over real HTTP. */
export async function runApiBench(database: SeededDatabase, bench: ApiBench): Promise<ApiFigures> {
  const { plan, program, say } = bench;
  const [loadBefore = 0] = loadavg();
  const contents = await readContents(database.url);
  const gateway = await startGateway({ program, database: database.url });
  try {
    const root = await signIn(gateway.url);
    const user = await signIn(gateway.url, contents.users[0]?.name, database.password);
    const calls: CallFigures[] = [];
    for (const call of apiCalls(contents)) {
      const figures = await measureCall(call.by === "root" ? root : user, call, plan);
      say(
        `${database.name}, ${call.kind}, ${call.name}: p50 ${figures.p50.toFixed(1)}, p95 ${figures.p95.toFixed(1)} ms`,
      );
      calls.push(figures);
    }
    const signIns = await measureSignIns(root, {
      perSecond: plan.signInsPerSecond,
      seconds: plan.signInSeconds,
      users: contents.users.map(({ name }) => name),
      password: database.password,
      upstream: bench.upstream,
    });
    say(
      `${database.name}, sign-ins: chunk p99 ${signIns.delayP99.toFixed(1)} ms, gap p99 ${signIns.gapP99.toFixed(1)} ms`,
    );
    return { name: database.name, contents, seedSeconds: database.seedSeconds, loadBefore, calls, signIns };
  } catch (error) {
    for (const line of gateway.logs) if (line.level === "error") say(JSON.stringify(line));
    throw error;
  } finally {
    await gateway.stop();
  }
}

async function measureCall(session: Session, call: ApiCall, plan: ApiPlan): Promise<CallFigures> {
  return { call, ...(await timed(session, call, plan)) };
}

export interface Timed {
  readonly p50: number;
  readonly p95: number;
}

/** Makes calls one after the other; returns milliseconds. */
export async function timed(
  session: Session,
  call: Pick<ApiCall, "path">,
  plan: Pick<ApiPlan, "calls" | "seconds">,
): Promise<Timed> {
  const latencies: number[] = [];
  const until = performance.now() + plan.seconds * 1_000;
  for (let turn = 0; turn < plan.calls + WARM_UP_CALLS; turn++) {
    const from = performance.now();
    await session.must("GET", call.path(turn));
    if (turn >= WARM_UP_CALLS) latencies.push(performance.now() - from);
    if (performance.now() > until && latencies.length > 0) break;
  }
  return { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) };
}
