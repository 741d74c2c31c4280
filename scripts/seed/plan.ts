import { parseArgs } from "node:util";

export interface SeedPlan {
  readonly logs: number;
  readonly channels: number;
  readonly users: number;
  readonly tokens: number;
  readonly teams: number;
  /** Length of the period that contains the rows. */
  readonly days: number;
  /** End of the period, epoch seconds. */
  readonly until: number;
}

export interface SeedArguments {
  readonly database: string | undefined;
  readonly isAdding: boolean;
  readonly plan: SeedPlan;
}

export const USAGE = `npm run seed -- --logs N [--database URL] [--channels N] [--users N] [--tokens N] [--teams N] [--days N] [--until DATE] [--add]

  --logs       log rows, nearly all with a ledger row and a share in the hourly sums (100,000)
  --database   sqlite:PATH, mysql://… or postgres://… (FAIRWAY_DATABASE_URL, else the gateway's default)
  --channels   channels, with routing rows; their address is one where nothing listens (50)
  --users      users, password sample-password (200)
  --tokens     tokens over all users (500)
  --teams      teams with members, a service account, keys, tags and budgets (5)
  --days       length of the period that the rows fall in (30)
  --until      its end, as a date (now); the same arguments make the same rows
  --add        adds to what is there instead of refusing it`;

const MOST = {
  logs: 1_000_000_000,
  channels: 100_000,
  users: 1_000_000,
  tokens: 1_000_000,
  teams: 10_000,
  days: 3_660,
} as const;

/** Throws an error with the usage. */
export function readArguments(args: readonly string[], now: number): SeedArguments {
  const { values } = parse(args);
  const number = (name: keyof typeof MOST, fallback: number) => wholeNumber(name, values[name], fallback);
  const users = number("users", 200);
  return {
    database: values.database,
    isAdding: values.add ?? false,
    plan: {
      logs: number("logs", 100_000),
      channels: number("channels", 50),
      users,
      tokens: number("tokens", Math.max(500, users)),
      teams: number("teams", 5),
      days: number("days", 30),
      until: values.until === undefined ? Math.floor(now / 1000) : readDate(values.until),
    },
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const numbers = { logs: text, channels: text, users: text, tokens: text, teams: text, days: text } as const;
  const options = { ...numbers, database: text, until: text, add: { type: "boolean" } } as const;
  try {
    return parseArgs({ args: [...args], options });
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : String(cause)}\n\n${USAGE}`, { cause });
  }
}

function wholeNumber(name: keyof typeof MOST, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MOST[name]) return value;
  throw new Error(`--${name} takes a whole number from 1 to ${MOST[name]}, not ${text}\n\n${USAGE}`);
}

function readDate(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`--until takes a date such as 2026-11-01, not ${text}\n\n${USAGE}`);
  return Math.floor(ms / 1000);
}
