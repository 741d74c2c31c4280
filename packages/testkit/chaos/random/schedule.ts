// What a random run does and when, as data: the seed writes it, a file repeats it.

/** Galera has scenes of its own: three nodes need too long to start for each run. */
export type Engine = "SQLite" | "MariaDB" | "PostgreSQL" | "Galera";

export interface Setting {
  readonly engine: Engine;
  readonly hasRedis: boolean;
  /** What replicas do without Redis. */
  readonly onOutage: "deny" | "sql";
}

/** One fault. */
export interface Event {
  readonly action: string;
  /** The replica that it affects; 0 for faults of servers. */
  readonly replica: number;
  /** Milliseconds after the beginning of its round. */
  readonly atMs: number;
  readonly lastsMs: number;
}

export interface Schedule {
  readonly seed: number;
  readonly setting: Setting;
  /** Events of each round; the books are compared after each. */
  readonly rounds: readonly (readonly Event[])[];
}

export const SETTINGS: readonly Setting[] = [
  { engine: "PostgreSQL", hasRedis: true, onOutage: "deny" },
  { engine: "MariaDB", hasRedis: true, onOutage: "sql" },
  { engine: "SQLite", hasRedis: false, onOutage: "deny" },
  { engine: "PostgreSQL", hasRedis: false, onOutage: "deny" },
  { engine: "MariaDB", hasRedis: true, onOutage: "deny" },
  { engine: "PostgreSQL", hasRedis: true, onOutage: "sql" },
  { engine: "MariaDB", hasRedis: false, onOutage: "deny" },
  { engine: "SQLite", hasRedis: true, onOutage: "deny" },
];

export function nameSetting({ engine, hasRedis, onOutage }: Setting): string {
  return hasRedis ? `${engine} and Redis (${onOutage})` : `${engine} without Redis`;
}

export function describeEvent({ action, replica, atMs, lastsMs }: Event): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return `${seconds(atMs)} s to ${seconds(atMs + lastsMs)} s: ${action} (${replica})`;
}

/** Reads the file of `--schedule`. Throws for anything else. */
export function parseSchedule(text: string): Schedule {
  const read = JSON.parse(text) as Partial<Schedule>;
  if (typeof read.seed !== "number" || !read.setting || !Array.isArray(read.rounds))
    throw new Error("the file has no schedule: it needs seed, setting and rounds");
  return read as Schedule;
}
