import { InvalidArgumentError, Option, type Command } from "commander";
import { list } from "../core/arguments.ts";
import { parseSpanSeconds } from "../core/times.ts";
import { checkedFormat, type Format } from "../print/format.ts";

/** Flags of every command. */
export interface Globals {
  readonly output: Format;
  readonly columns?: readonly string[];
  readonly sort?: string;
  readonly headers: boolean;
  readonly context?: string;
  readonly server?: string;
  readonly caFile?: string;
  /** Seconds. */
  readonly timeout: number;
  readonly retries: number;
  readonly dryRun?: boolean;
  /** The side that simulates the change, if `--dry-run=` names one. */
  readonly dryRunAt?: "client" | "server";
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly debug?: boolean;
  readonly requestId?: boolean;
}

/** Defaults for flags and variables that are not set; `fairway config set` changes them. */
export interface Defaults {
  readonly output: Format;
  readonly timeout: number;
  readonly retries: number;
}

export const BUILT_IN: Defaults = { output: "table", timeout: 60, retries: 3 };

export function addGlobals(program: Command, defaults: Defaults): void {
  program.addOption(
    new Option("-o, --output <format>", `how data is printed: ${FORMAT_WORDS}`)
      .argParser(format)
      .default(defaults.output),
  );
  program.option(
    "--columns <list>",
    "only these, of tables, csv and tsv: by title or by name, with commas between",
    list,
  );
  program.option("--sort <column>", "sort the listed rows by a column, the last first with a - before it");
  program.option("--no-headers", "no line of titles in tables, csv and tsv");
  program.option("--utc", "times in UTC, not in the zone of this machine");
  program.option("-c, --context <name>", "the sign-in to use, of several; see `fairway context`");
  program.option("--server <url>", "the gateway to call, as FAIRWAY_SERVER");
  program.option("--ca-file <path>", "certificates of authorities to trust in addition, as FAIRWAY_CA_FILE");
  program.option("--timeout <span>", "how long a call may take, such as 30s or 2m", timeout, defaults.timeout);
  program.option(
    "--retries <count>",
    "further tries when the gateway is busy; Retry-After is honoured",
    retries,
    defaults.retries,
  );
  program.option(
    "--dry-run",
    "print what would be sent, and change nothing; `apply --dry-run=client` checks documents without a gateway",
  );
  program.addOption(new Option(`${DRY_RUN_AT} <side>`).choices(["client", "server"]).hideHelp());
  program.option("-q, --quiet", "print data and errors, nothing else");
  program.option("-v, --verbose", "also what stays as it is");
  program.option("--debug", "print each call on standard error, without secrets, and the stack of a failure");
  program.option("--request-id", "print the id of each request on standard error");
  program.option("--no-input", "ask nothing, as without a terminal");
  program.option("--color", "colours, also in a pipe");
  program.option("--no-color", "no colours");
}

const DRY_RUN_AT = "--dry-run-at";

/** Rewrites `--dry-run=client` as two flags: the parser supports a flag either with or without a value. */
export function withPlainFlags(words: readonly string[]): string[] {
  const end = words.indexOf("--");
  return words.flatMap((word, at) =>
    word.startsWith("--dry-run=") && (end === -1 || at < end)
      ? ["--dry-run", DRY_RUN_AT, word.slice("--dry-run=".length)]
      : [word],
  );
}

const FORMAT_WORDS =
  "table, wide, json, jsonl, yaml, name, csv, tsv, raw, jsonpath=TEMPLATE or custom-columns=TITLE:.path,…";

function format(text: string): Format {
  const known = checkedFormat(text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(`Allowed choices are ${FORMAT_WORDS}.`);
}

function timeout(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : parseSpanSeconds(text);
  if (seconds === undefined || seconds < 1 || seconds > 3600)
    throw new InvalidArgumentError("It must be from 1s to 1h, such as 30s.");
  return seconds;
}

function retries(text: string): number {
  if (!/^\d{1,2}$/.test(text)) throw new InvalidArgumentError("It must be a number from 0 to 99.");
  return Number(text);
}
