import { logTail, logTailSelf, ROLE, selfGet, status, systemInfo, type Endpoint } from "@fairway/wire";
import { chmodSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { configPath } from "../../session/contexts.ts";
import { isLoopback, type Profile } from "../../session/config.ts";
import { eventsOf } from "../../terminal/events.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { hintOf, messageOf } from "../../core/problem.ts";
import { plain } from "../../print/columns.ts";
import { printList, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import type { SessionClient } from "../../session/session.ts";
import { VERSION } from "../../core/version.ts";

interface Finding {
  readonly check: string;
  readonly verdict: "ok" | "warning" | "failure";
  readonly message: string;
}

/** More than this confuses one-time codes and expiry dates. */
const SKEW_SECONDS = 60;
/** The gateway writes at once when a stream opens. */
const FIRST_EVENT_MS = 10_000;

const COLUMNS: readonly Column<Finding>[] = [
  {
    ...plain("", "verdict"),
    value: ({ verdict }) => (verdict === "failure" ? "FAIL" : verdict === "ok" ? "ok" : "warn"),
  },
  plain("CHECK", "check"),
  plain("MESSAGE", "message"),
];

/** Checks everything that commands rely on; exit code 1 if a check fails. */
export async function runDoctor(client: SessionClient, { server }: Profile, output: Output): Promise<void> {
  const findings = [transport(server), await gateway(client), ...(await account(client))];
  const name = ({ check }: Finding) => `check/${check}`;
  await printList(output, { kind: "Finding", columns: COLUMNS, name, rows: findings, empty: "" });
  const failures = findings.filter(({ verdict }) => verdict === "failure").length;
  if (failures > 0) throw new CliError(`${failures} of ${findings.length} checks failed`, EXIT.failure);
}

/** The file of the sign-in and its folder, which the command refuses while others can read them. */
export function closeToOthers(env: Readonly<Record<string, string | undefined>>, output: Output): void {
  const path = configPath(env);
  for (const [place, mode] of [
    [dirname(path), 0o700],
    [path, 0o600],
  ] as const) {
    const now = statSync(place, { throwIfNoEntry: false });
    if (!now || (now.mode & 0o077) === 0 || (env["FAIRWAY_CONFIG"] && place !== path)) continue;
    chmodSync(place, mode);
    output.note(`Only you can read ${place} now.`);
  }
}

function transport(server: string): Finding {
  const url = new URL(server);
  const isOpen = url.protocol === "http:" && !isLoopback(url);
  const message = isOpen ? "the token travels unencrypted: use https" : server;
  return { check: "address", verdict: isOpen ? "warning" : "ok", message };
}

function gateway(client: SessionClient): Promise<Finding> {
  return finding("gateway", async () => {
    const { data } = await client.call(status, {});
    if (data.version === VERSION) return `version ${data.version}`;
    return warning(`version ${data.version}, this command is ${VERSION}: use the same`);
  });
}

/** Checks that need a sign-in; without one they would all fail for the same reason. */
async function account(client: SessionClient): Promise<Finding[]> {
  let role: number = ROLE.guest;
  const signIn = await finding("sign-in", async () => {
    const { data: self } = await client.call(selfGet, {});
    role = self.role;
    return `${self.username}, role ${self.role}`;
  });
  if (signIn.verdict === "failure") return [signIn];
  const database = await finding("database", async () => {
    const { data } = await client.call(systemInfo, {});
    return `${data.database}, answered by ${data.instance}`;
  });
  return [signIn, database, ...(await streams(client, role >= ROLE.admin ? logTail : logTailSelf))];
}

/** A proxy that collects answers before it hands them on breaks every stream, also those of models. */
async function streams(client: SessionClient, call: Endpoint): Promise<Finding[]> {
  let skew = 0;
  const opened = await finding("streams", async () => {
    const limit = AbortSignal.timeout(FIRST_EVENT_MS);
    const started = performance.now();
    try {
      const { body, at } = await client.open(call, { signal: limit });
      skew = Math.round(Date.now() / 1000 - at);
      for await (const _event of eventsOf(body)) break;
    } catch (error) {
      if (!limit.aborted) throw error;
      const seconds = FIRST_EVENT_MS / 1000;
      throw new CliError(
        `nothing of a stream arrived within ${seconds} s: a proxy on the way holds answers back`,
        EXIT.failure,
        "switch its buffering off",
      );
    }
    return `the first bytes came after ${Math.round(performance.now() - started)} ms`;
  });
  if (opened.verdict === "failure") return [opened];
  const clock = `${Math.abs(skew)} s ${skew < 0 ? "behind" : "ahead of"} the gateway`;
  return [opened, { check: "clock", verdict: Math.abs(skew) > SKEW_SECONDS ? "warning" : "ok", message: clock }];
}

interface Warning {
  readonly warning: string;
}

function warning(text: string): Warning {
  return { warning: text };
}

async function finding(check: string, look: () => Promise<string | Warning>): Promise<Finding> {
  try {
    const seen = await look();
    return typeof seen === "string"
      ? { check, verdict: "ok", message: seen }
      : { check, verdict: "warning", message: seen.warning };
  } catch (error) {
    const hint = hintOf(error);
    return { check, verdict: "failure", message: messageOf(error) + (hint === undefined ? "" : `; ${hint}`) };
  }
}
