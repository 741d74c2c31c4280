import cluster from "node:cluster";
import type { App } from "../composition/lifecycle.ts";
import type { Question, Report, WorkerStarted } from "./messages.ts";

/** The part of an app that reports on its process. */
export type Reporting = Pick<App, "probe" | "collectMetrics">;

export const isWorker = cluster.isWorker;

/** Answers the questions of the primary from now on, and reports that this worker serves. */
export function reportTo(app: Reporting, started: WorkerStarted): void {
  process.on("message", (question: Question) => void answer(app, question));
  send({ kind: "started", started });
}

/** Sends the last counts to the primary. */
export async function reportEnd(app: Reporting): Promise<void> {
  const metrics = await app.collectMetrics();
  await new Promise<void>((resolve) => send({ kind: "stopping", metrics }, resolve));
}

/** Stops a worker whose primary died: it no longer has a listener, so it finishes its running calls and exits. */
export function onPrimaryGone(stop: () => void): void {
  const { worker } = cluster;
  worker?.on("disconnect", () => {
    if (worker.exitedAfterDisconnect) return;
    // This prevents the Node process from exiting.
    worker.exitedAfterDisconnect = true;
    stop();
  });
}

async function answer(app: Reporting, question: Question): Promise<void> {
  const { id } = question;
  if (question.kind === "metrics") return send({ kind: "metrics", id, metrics: await app.collectMetrics() });
  const found = app.probe(question.path, question.isVerbose);
  if (found) send({ kind: "probe", id, answer: found });
}

function send(report: Report, done: () => void = () => {}): void {
  if (process.connected) process.send?.(report, undefined, undefined, done);
  else done();
}
