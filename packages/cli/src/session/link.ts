import { readFileSync } from "node:fs";
import { CliError, readErrorCode, EXIT, NotSent } from "../core/exit.ts";
import type { Globals } from "./globals.ts";
import { objectIn } from "../core/json.ts";
import { readProfile } from "./config.ts";
import { currentContext } from "./contexts.ts";
import { redactedBody, redactedUrl } from "./redacted.ts";
import { openSession, type Session } from "./session.ts";
import { createTransport, type Transport, type TransportSettings } from "./transport.ts";

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard error, even with `--quiet`. */
  say(text: string): void;
  out(text: string): void;
}

/** The connection to the gateway, as the flags and the chosen context allow. */
interface Link {
  session(how?: { readonly isScreen?: boolean }): Promise<Session>;
  transport(): Transport;
  confirm(action: string, count: number, isAgreed?: boolean): Promise<void>;
}

/** Calls that change nothing although they have a body. */
const READING = /\/api\/(declarative\/plan|price\/preview|user\/login)$/;

export function createLink(globals: Globals, { env, say, out }: Surroundings): Link {
  const note = (text: string) => (globals.quiet ? undefined : say(text));
  trust(globals.caFile ?? env["FAIRWAY_CA_FILE"]);

  const buildTransport = (isReadOnly: boolean, retries: number): Transport => {
    const settings: TransportSettings = {
      timeoutMs: globals.timeout * 1000,
      retries,
      note,
      ...(globals.debug ? { debug: say } : {}),
      ...(globals.requestId ? { answered: (id) => say(`request ${id}`) } : {}),
      inspect: (method, url, body) => {
        if (method === "GET" || READING.test(new URL(url).pathname) || isRehearsal(url, body)) return;
        if (globals.dryRun && globals.dryRunAt === "server")
          throw new CliError(
            `${method} ${new URL(url).pathname} does not support --dry-run`,
            EXIT.usage,
            "--dry-run prints the request",
          );
        if (globals.dryRun) {
          out(`${method} ${redactedUrl(url)}${body === undefined ? "" : ` ${redactedBody(body)}`}`);
          throw new NotSent();
        }
        if (isReadOnly && url.includes("/api/"))
          throw new CliError(
            `the context ${resolveContextName(env)} is read-only`,
            EXIT.forbidden,
            `\`fairway context set ${resolveContextName(env)} read-only=false\` lifts that`,
          );
      },
    };
    return createTransport(settings);
  };

  return {
    session: async (how) => {
      const isReadOnly = readProfile(env)?.readOnly === true;
      return openSession(env, buildTransport(isReadOnly, how?.isScreen ? 0 : globals.retries));
    },
    transport: () => buildTransport(false, globals.retries),
    async confirm(action, count, isAgreed = false) {
      if (globals.dryRun) return;
      const { confirm, confirmByName } = await import("../terminal/prompt.ts");
      if (readProfile(env)?.protected !== true) return confirm(action, count, isAgreed);
      if (isAgreed && globals.context !== undefined) return;
      await confirmByName(action, resolveContextName(env));
    },
  };
}

/** Returns true if the gateway itself only reports what it would do. */
function isRehearsal(url: string, body: string | undefined): boolean {
  const isImport = /\/api\/import\/(?:litellm|prices)$/.test(url);
  return isImport && objectIn(body ?? "")?.["dry_run"] === true;
}

function resolveContextName(env: Surroundings["env"]): string {
  return env["FAIRWAY_CONTEXT"] || (env["FAIRWAY_CONFIG"] ? "default" : currentContext(env));
}

/** Trusts the certificates of a file, in addition to those of the system. */
function trust(path: string | undefined): void {
  if (path === undefined || path === "") return;
  // Loading it takes a tenth of the time of a short command.
  const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule("node:tls");
  try {
    setDefaultCACertificates([...getCACertificates("default"), readFileSync(path, "utf8")]);
  } catch (cause) {
    const isFile = readErrorCode(cause).startsWith("E") && !readErrorCode(cause).startsWith("ERR_");
    const words = isFile ? `cannot be read (${readErrorCode(cause)})` : "holds no certificates";
    throw new CliError(`--ca-file: ${path} ${words}`, EXIT.usage, "name a file of PEM certificates");
  }
}
