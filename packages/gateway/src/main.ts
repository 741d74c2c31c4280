import { setFlagsFromString } from "node:v8";
import { createApp, type App, type StartedApp } from "./app.ts";
import { StartError } from "./app-storage.ts";
import { UsageError } from "./commands/arguments.ts";
import { runCommand } from "./commands/index.ts";
import { EnvError, loadEnv, processEnv, type Env } from "./config/env.ts";
import { DEMO_MODEL } from "./demo/upstream.ts";
import { DefaultPasswordError } from "./identity/first-start.ts";
import { createLog, type Logger } from "./observability/log.ts";
import { SchemaError } from "./storage/migrate.ts";
import { VaultError } from "./storage/secrets.ts";
import { VERSION } from "./version.ts";

/** Failures whose message is meant for the person who starts the program. */
const EXPLAINED = [EnvError, StartError, SchemaError, VaultError, DefaultPasswordError, UsageError];

/**
 * Objects of requests must not be made among the old ones, as the engine does after a while: there each keeps its whole
 * request until the next large collection (docs/adr/0054).
 */
setFlagsFromString("--no-allocation-site-pretenuring");

async function main(): Promise<void> {
  const env = loadEnv(processEnv());
  const format = env.logFormat === "auto" ? (process.stdout.isTTY ? "text" : "json") : env.logFormat;
  const log = createLog({ level: env.logLevel, format, out: process.stdout });
  for (const { alias, name } of env.aliases) log.info("a variable of a compatible gateway is used", { alias, name });
  process.on("uncaughtException", (error) => crash(log, error));
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  if (await runCommand(process.argv.slice(2), { env, log, print })) return log.flush();
  const app = await createApp(env, log);
  stopOnSignals(app, log);
  const started = await app.start();
  log.info("listening", {
    url: started.url,
    adminUrl: started.adminUrl,
    version: VERSION,
    database: env.databaseUrl.reveal().split(":", 1)[0],
  });
  log.flush();
  if (process.stdout.isTTY || env.demo !== "off") process.stderr.write(welcome(started, env));
}

/** The first signal drains, the second cuts off what still runs. */
function stopOnSignals(app: App, log: Logger): void {
  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return app.cutOff();
    isStopping = true;
    log.info("stopping", { signal });
    const code = await app.stop().then(
      () => 0,
      (error: unknown) => (log.error("the stop failed", { error }), 1),
    );
    log.info("stopped");
    log.flush();
    process.exitCode = code;
    setTimeout(() => process.exit(code), 1_000).unref();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(signal));
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
  if (madePassword !== undefined) lines.push("            (made up just now and told this once)");
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
    `  Next      connect a provider: ${url}/channel`,
    `  Data      ${env.isEmbedded ? env.dataDir : "in the database"}`,
    "",
  );
  return `${lines.join("\n")}\n`;
}

main().catch((error: unknown) => {
  const isExplained = EXPLAINED.some((kind) => error instanceof kind);
  const text = error instanceof Error ? (isExplained ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`fairway: ${text}\n`);
  process.exit(1);
});
