import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { mergeMetrics } from "../observability/merge-metrics.ts";
import type { Fleet } from "./fleet.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
}

/** Serves probes and metrics of all workers on one listener of the primary. */
export function createFleetAdmin(fleet: Fleet, size: number): Server {
  return createServer((request, response) => {
    answer(fleet, size, request).then(
      (found) => send(response, found),
      () => send(response, { status: 500, text: "the workers cannot be asked\n" }),
    );
  });
}

async function answer(fleet: Fleet, size: number, request: IncomingMessage): Promise<Answer> {
  const { pathname = "", searchParams } = URL.parse(request.url ?? "/", "http://admin") ?? {};
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, text: "method not allowed\n" };
  if (pathname === "/metrics") return { status: 200, ...(await collectMetrics(fleet)) };
  // The machine is ready while one worker is, and started when all are. The primary itself is always live.
  const needed = { "/livez": 0, "/readyz": 1, "/startupz": size }[pathname];
  if (needed === undefined) return { status: 404, text: "not found\n" };
  return probe(fleet, { path: pathname, isVerbose: searchParams?.has("verbose") === true, needed, size });
}

interface Probe {
  readonly path: string;
  readonly isVerbose: boolean;
  readonly needed: number;
  readonly size: number;
}

async function probe(fleet: Fleet, { path, isVerbose, needed, size }: Probe): Promise<Answer> {
  const answers = await fleet.ask<"probe">({ kind: "probe", path, isVerbose });
  const passed = answers.filter((one) => one.answer?.answer.status === 200).length;
  const status = passed >= needed ? 200 : 503;
  const sum = `${passed} of ${size} workers passed\n`;
  if (!isVerbose) return { status, text: status === 200 ? "ok\n" : sum };
  const parts = answers.map(({ member: { worker }, answer: found }) => {
    return `worker ${worker.id}, process ${worker.process.pid}\n${found?.answer.text ?? "[-] no answer\n"}`;
  });
  return { status, text: [...parts, sum].join("") };
}

async function collectMetrics(fleet: Fleet): Promise<Pick<Answer, "text" | "contentType">> {
  await fleet.ask<"metrics">({ kind: "metrics" });
  // A worker that hangs retains the counts of its last report: a sum that falls would be read as a restart.
  return mergeMetrics([fleet.counted, ...fleet.members.map(({ metrics }) => metrics)]);
}

function send(response: ServerResponse, { status, text, contentType = "text/plain; charset=utf-8" }: Answer): void {
  response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" }).end(text);
}
