import {
  FEATURES,
  logTail,
  logTailSelf,
  ROLE,
  selfGet,
  status,
  systemInfo,
  type Endpoint,
  type OutgoingWay,
} from "@fairway/wire";
import { chmodSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { configPath } from "../../session/contexts.ts";
import { readProfile, loadToken, type Profile } from "../../session/config.ts";
import type { AnswerHead } from "../../session/request.ts";
import { readEvents } from "../../terminal/events.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { unlessMissing } from "../../core/problem.ts";
import { plain } from "../../print/columns.ts";
import { printList, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import type { Session, SessionClient } from "../../session/session.ts";
import { VERSION } from "../../core/version.ts";
import { outgoingFindings } from "./doctor-outgoing.ts";
import { addressFinding, certificateFinding, isBehindProxy, nameFinding, proxyFinding } from "./doctor-way.ts";
import { finding, ok, warning, type Finding } from "./finding.ts";
import { DAY_SECONDS, endText, tokenEnd } from "./token-end.ts";
import { ROLE_WORD } from "./whoami.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface DoctorInput {
  readonly env: Environment;
  session(): Promise<Session>;
}

/** A larger skew breaks one-time codes and expiry dates. */
const SKEW_SECONDS = 60;
/** The gateway writes the first event as soon as a stream opens. */
const FIRST_EVENT_MS = 10_000;
/** A token that expires sooner gets a warning. */
const TOKEN_DAYS = 7;
/** Below this share of the limit the next commands may be refused. */
const LOW = 0.1;

const COLUMNS: readonly Column<Finding>[] = [
  {
    ...plain("", "verdict"),
    value: ({ verdict }) => (verdict === "failure" ? "FAIL" : verdict === "ok" ? "ok" : "warn"),
  },
  plain("CHECK", "check"),
  { ...plain("MESSAGE", "message"), value: ({ message, cure }) => message + (cure === undefined ? "" : `; ${cure}`) },
];

/** Checks everything that commands rely on, one line per check with its remedy; exit code 1 if a check fails. */
export async function runDoctor(input: DoctorInput, output: Output): Promise<void> {
  const findings = await collectFindings(input);
  const name = ({ check }: Finding) => `check/${check}`;
  await printList(output, { kind: "Finding", columns: COLUMNS, name, rows: findings, empty: "" });
  const failures = findings.filter(({ verdict }) => verdict === "failure").length;
  if (failures > 0) throw new CliError(`${failures} of ${findings.length} checks failed`, EXIT.failure);
}

async function collectFindings({ env, session }: DoctorInput): Promise<Finding[]> {
  const files = await fileFinding(env);
  if (files.verdict === "failure") return [files];
  const { keychain } = readProfile(env) ?? {};
  const stored = keychain === undefined ? [files] : [files, await keychainFinding(env)];
  if (stored.some(({ verdict }) => verdict === "failure")) return stored;
  const { client, profile } = await session();
  const way = await wayFindings(client, profile, env);
  const isReached = way.every(({ verdict }) => verdict !== "failure");
  const proxy = proxyFinding(profile.server, env, isReached);
  return [...stored, ...way, proxy, ...(isReached ? await account(client, profile) : [])];
}

/** Checks the sign-in file and its folder, which commands refuse if others can read them. */
export function closeToOthers(env: Environment, output: Output): void {
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

function fileFinding(env: Environment): Promise<Finding> {
  return finding("files", () => {
    const profile = readProfile(env);
    if (!profile) throw new CliError("you are not signed in", EXIT.notSignedIn, "sign in with `fairway login URL`");
    if (env["FAIRWAY_SERVER"] && env["FAIRWAY_TOKEN"]) return ok("FAIRWAY_SERVER and FAIRWAY_TOKEN, no file");
    const path = configPath(env);
    const folder = statSync(dirname(path));
    const isOpen = (folder.mode & 0o022) !== 0 && !env["FAIRWAY_CONFIG"];
    return isOpen
      ? warning(`others can replace ${path}`, "close its folder with `fairway doctor --fix`")
      : ok(`${path}, for you alone`);
  });
}

function keychainFinding(env: Environment): Promise<Finding> {
  return finding("keychain", async () => {
    const profile = readProfile(env);
    if (profile) await loadToken(profile);
    return ok("it has the token");
  });
}

/** Checks the path to the gateway, up to the first failure. */
async function wayFindings(client: SessionClient, { server }: Profile, env: Environment): Promise<Finding[]> {
  const found = [addressFinding(server)];
  const checks = isBehindProxy(server, env)
    ? [() => gateway(client)]
    : [() => nameFinding(server), () => certificateFinding(server), () => gateway(client)];
  for (const check of checks) {
    const one = await check();
    if (one) found.push(one);
    if (one?.verdict === "failure") break;
  }
  return found;
}

function gateway(client: SessionClient): Promise<Finding> {
  return finding("gateway", async () => {
    const { data } = await client.call(status, {});
    if (data.version === VERSION) return ok(`version ${data.version}`);
    return warning(`version ${data.version}, this command is ${VERSION}`, "use the same of both");
  });
}

/** Checks that need a sign-in; without one they would all fail for the same reason. */
async function account(client: SessionClient, profile: Profile): Promise<Finding[]> {
  let role: number = ROLE.guest;
  let head: AnswerHead | undefined;
  const asked = Date.now();
  const signIn = await finding("sign-in", async () => {
    const { data: self } = await client.inspect(selfGet, {}, (answered) => void (head = answered));
    role = self.role;
    const who = `${self.username}, ${ROLE_WORD[role] ?? "guest"}`;
    const end = await tokenEnd(client, profile);
    const text = end === undefined ? "by a token of another place" : endText(end);
    return end !== undefined && end > 0 && end - Date.now() / 1000 < TOKEN_DAYS * DAY_SECONDS
      ? warning(`${who}, ${text}`, "sign in again with `fairway login`, or make a new token in the console")
      : ok(`${who}, ${text}`);
  });
  if (signIn.verdict === "failure") return [signIn];
  const clock = clockFinding(head, asked);
  return [signIn, limitFinding(head), ...(await server(client)), ...(await streams(client, role)), clock];
}

function limitFinding(head: AnswerHead | undefined): Finding {
  const readRateLimit = (what: string) => Number.parseInt(head?.headers.get(`X-RateLimit-${what}-Requests`) ?? "", 10);
  const [limit, left, reset] = [readRateLimit("Limit"), readRateLimit("Remaining"), readRateLimit("Reset")];
  const check = "limit of calls";
  if (Number.isNaN(limit)) return { check, ...ok("the gateway names none") };
  const message = `${left} of ${limit} calls are left`;
  if (left >= limit * LOW) return { check, ...ok(message) };
  return { check, ...warning(message, `wait ${reset} s, or raise FAIRWAY_LIMIT_API of the gateway`) };
}

async function server(client: SessionClient): Promise<Finding[]> {
  let features: readonly string[] | undefined;
  let outgoing: readonly OutgoingWay[] = [];
  const database = await finding("database", async () => {
    const found = await unlessMissing(client.call(systemInfo, {}));
    if (!found) return ok("not known: it is a compatible gateway, which lacks some commands");
    ({ features, outgoing = [] } = found.data);
    return ok(`${found.data.database}, answered by ${found.data.instance}`);
  });
  if (!features) return [database];
  const lacking = FEATURES.filter((one) => !features?.includes(one));
  const check = "features";
  const verdict =
    lacking.length === 0
      ? ok(`all ${FEATURES.length} that commands use`)
      : warning(`it lacks ${lacking.join(", ")}`, "update the gateway");
  return [database, { check, ...verdict }, ...outgoingFindings(outgoing)];
}

/** A proxy that buffers answers breaks every stream, including those of models. */
async function streams(client: SessionClient, role: number): Promise<Finding[]> {
  const call: Endpoint = role >= ROLE.admin ? logTail : logTailSelf;
  const opened = await finding("streams", async () => {
    const limit = AbortSignal.timeout(FIRST_EVENT_MS);
    const started = performance.now();
    try {
      const answer = await unlessMissing(client.open(call, { signal: limit }));
      if (!answer) return ok("not checked: it is a compatible gateway");
      for await (const _event of readEvents(answer.body)) break;
    } catch (error) {
      if (!limit.aborted) throw error;
      const seconds = FIRST_EVENT_MS / 1000;
      throw new CliError(
        `nothing of a stream arrived within ${seconds} s: a proxy on the way holds answers back`,
        EXIT.failure,
        "switch its buffering off",
      );
    }
    return ok(`the first bytes came after ${Math.round(performance.now() - started)} ms`);
  });
  return [opened];
}

/** The server wrote its time between the request and now. */
function clockFinding(head: AnswerHead | undefined, askedMs: number): Finding {
  const there = Date.parse(head?.headers.get("Date") ?? "");
  const check = "clock";
  if (Number.isNaN(there)) return { check, ...ok("the gateway names no time") };
  const skew = Math.round((askedMs - there) / 1000);
  const message = `${Math.abs(skew)} s ${skew < 0 ? "behind" : "ahead of"} the gateway`;
  if (Math.abs(skew) <= SKEW_SECONDS) return { check, ...ok(message) };
  return { check, ...warning(message, "set the clocks of both machines by a time server") };
}
