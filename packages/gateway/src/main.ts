import { constants } from "node:os";
import { setFlagsFromString } from "node:v8";
import { createApp } from "./composition/app.ts";
import { openNetwork } from "./composition/network.ts";
import type { App, StartedApp } from "./composition/lifecycle.ts";
import { StartError } from "./composition/storage.ts";
import { UsageError } from "./commands/arguments.ts";
import { UnknownConfig } from "./resources/import/gateway-config.ts";
import { ForeignValueError } from "./storage/foreign.ts";
import { findStaticAnswer, runCommand } from "./commands/index.ts";
import { EnvError, loadEnv, processEnv, type Env } from "./config/env.ts";
import { DEMO_MODEL } from "./demo/upstream.ts";
import { DefaultPasswordError, OpenSetupError } from "./identity/accounts/first-start.ts";
import { createLog, type Logger } from "./observability/log.ts";
import { describeError } from "./observability/reason.ts";
import { isFull, isPassing } from "./storage/errors.ts";
import { SchemaError } from "./storage/schema/migration.ts";
import { VaultError } from "./storage/secrets/secrets.ts";
import { VERSION } from "./version.ts";
import { startPrimary, supervises, type Primary } from "./workers/primary.ts";
import { isWorker, onPrimaryGone, reportEnd, reportTo } from "./workers/worker.ts";

/** Failures whose message is meant for the person who starts the program. */
const EXPLAINED = [
  EnvError,
  StartError,
  SchemaError,
  VaultError,
  DefaultPasswordError,
  OpenSetupError,
  UsageError,
  ForeignValueError,
  UnknownConfig,
];

/**
 * Objects of requests must not be made among the old ones, as the engine does after a while: there each keeps its whole
 * request until the next large collection (docs/performance/garbage-collection.md).
 */
setFlagsFromString("--no-allocation-site-pretenuring");

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const answer = findStaticAnswer(args);
  if (answer !== undefined) return print(answer);
  const env = loadEnv(processEnv());
  const format = env.logFormat === "auto" ? (process.stdout.isTTY ? "text" : "json") : env.logFormat;
  const log = createLog({ level: env.logLevel, format, out: process.stdout });
  for (const { alias, name } of env.aliases) log.info("a variable of a compatible gateway is used", { alias, name });
  process.on("uncaughtException", (error) => crash(log, error));
  const serving: Serving = {};
  stopOnSignals(serving, log);
  if (args.length > 0) {
    await runCommand(args, { env, log, print, network: openNetwork(env, log) });
    return log.flush();
  }
  if (supervises(env)) return supervise(env, log, serving);
  // The primary listens on the admin port for all workers.
  const app = await createApp(isWorker ? { ...env, adminPort: undefined } : env, log);
  const started = await app.start();
  serving.app = app;
  if (isWorker) return reportTo(app, started);
  announce(log, env, { ...started, workers: 1 });
}

async function supervise(env: Env, log: Logger, serving: Serving): Promise<void> {
  const primary = await startPrimary(env, log, (code) => process.exit(code));
  serving.primary = primary;
  process.on("SIGHUP", () => {
    log.info("the workers are replaced one after the other");
    primary.restart().then(
      () => log.info("all workers were replaced"),
      (error: unknown) => log.error("the workers could not be replaced", { error }),
    );
  });
  const { started, adminUrl } = primary;
  announce(log, env, { ...started, adminUrl, demoKey: undefined, workers: env.workers });
}

function announce(log: Logger, env: Env, started: StartedApp & { readonly workers: number }): void {
  const { url, adminUrl, workers } = started;
  const database = env.databaseUrl.reveal().split(":", 1)[0];
  log.info("listening", { url, adminUrl, version: VERSION, database, workers, ms: Math.round(performance.now()) });
  log.flush();
  if (process.stdout.isTTY || env.demo !== "off") process.stderr.write(welcome(started, env));
}

/** What a signal stops: this process's gateway, or the workers that it supervises. */
interface Serving {
  app?: App;
  primary?: Primary;
}

/**
 * The first signal drains, the second cuts off what still runs. Before anything runs the process just ends, which as the
 * first one of a container it would not do by itself. A terminal sends its SIGINT to the workers too, which leave it to
 * the primary.
 */
function stopOnSignals(serving: Serving, log: Logger): void {
  let isStopping = false;
  const stop = async (cause: "SIGTERM" | "SIGINT" | "primary gone") => {
    const { app, primary } = serving;
    if (!app && !primary) {
      log.flush();
      return process.exit(cause === "primary gone" ? 1 : 128 + constants.signals[cause]);
    }
    if (isStopping) return (primary ?? app)?.cutOff();
    isStopping = true;
    log.info("stopping", { signal: cause });
    const code = await (primary ? primary.stop() : stopApp(app)).catch(
      (error: unknown) => (log.error("the stop failed", { error }), 1),
    );
    log.info("stopped");
    log.flush();
    if (isWorker) process.exit(code);
    process.exitCode = code;
    setTimeout(() => process.exit(code), 1_000).unref();
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void (isWorker || stop("SIGINT")));
  if (isWorker) onPrimaryGone(() => void stop("primary gone"));
}

async function stopApp(app: App | undefined): Promise<number> {
  await app?.stop();
  if (app && isWorker) await reportEnd(app);
  return 0;
}

/** State after an unexpected exception is unknown: what is committed stays, what was under way is reaped. */
function crash(log: Logger, error: Error): void {
  log.error("the process ends after an unexpected exception", { error });
  log.flush();
  process.exit(1);
}

function welcome({ url, demoKey, madePassword, hasDefaultPassword }: StartedApp, env: Env): string {
  const password = madePassword === undefined ? (hasDefaultPassword ? "123456" : "your password") : madePassword;
  const lines = [`\nFairway ${VERSION} is ready.\n`, `  Console   ${url}`, `  Sign in   root / ${password}`];
  if (madePassword !== undefined) lines.push("            (generated now and shown only once)");
  if (demoKey !== undefined) {
    const body = JSON.stringify({
      model: DEMO_MODEL,
      stream: true,
      messages: [{ role: "user", content: "Hello, fairway!" }],
    });
    lines.push(
      "",
      "  Try it:",
      `  curl -N ${url}/v1/chat/completions -H "Authorization: Bearer sk-${demoKey}" -H "Content-Type: application/json" -d '${body}'`,
    );
  }
  lines.push(
    "",
    `  Next      connect a provider: ${url}/setup`,
    `  Data      ${env.isEmbedded ? env.dataDir : "in the database"}`,
    "",
  );
  return `${lines.join("\n")}\n`;
}

function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isFull(error)) return `the database has no room (${describeError(error)}): make some on its disk and start again`;
  if (EXPLAINED.some((kind) => error instanceof kind)) return error.message;
  if (isPassing(error))
    return `a server stopped answering during the start (${describeError(error)}): check those of FAIRWAY_DATABASE_URL and FAIRWAY_REDIS_URL, then start again`;
  return error.stack ?? error.message;
}

main().catch((error: unknown) => {
  process.stderr.write(`fairway: ${explained(error)}\n`);
  process.exit(1);
});
