import type { Writable } from "node:stream";
import { systemClock, type Clock } from "../lib/clock.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * A constant message plus fields. error = someone must act, warn = degraded, info = one line per request and per change
 * of state. Never bodies, never keys.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a logger whose lines all have `fields`. */
  with(fields: LogFields): Logger;
  /** Writes buffered lines; called before the process exits. */
  flush(): void;
}

export interface LogSettings {
  readonly level: LogLevel | "off";
  readonly format: "json" | "text";
  readonly out: Writable;
  readonly clock?: Clock;
}

const ORDER = { debug: 0, info: 1, warn: 2, error: 3, off: 4 } as const;
const FLUSH_EVERY_MS = 50;
const FLUSH_AT_CHARS = 64 * 1024;

/**
 * Creates a log. Lines are written in batches: one write per 50 ms costs a tenth of one write per line. Warnings and
 * errors are written at once.
 */
export function createLog(settings: LogSettings): Logger {
  const clock = settings.clock ?? systemClock;
  const timeText = createTimeText();
  const minimum = ORDER[settings.level];
  let buffer = "";
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = undefined;
    if (buffer === "") return;
    const text = buffer;
    buffer = "";
    settings.out.write(text);
  };

  const write = (level: LogLevel, message: string, bound: LogFields, fields: LogFields | undefined) => {
    if (ORDER[level] < minimum) return;
    const line = { time: timeText(clock.now()), level, message, bound, fields };
    buffer += settings.format === "json" ? jsonLine(line) : textLine(line);
    if (ORDER[level] >= ORDER.warn || buffer.length > FLUSH_AT_CHARS) flush();
    else timer ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
  };

  const logger = (bound: LogFields): Logger => ({
    debug: (message, fields) => write("debug", message, bound, fields),
    info: (message, fields) => write("info", message, bound, fields),
    warn: (message, fields) => write("warn", message, bound, fields),
    error: (message, fields) => write("error", message, bound, fields),
    with: (fields) => logger({ ...bound, ...fields }),
    flush,
  });
  return logger(NO_FIELDS);
}

const NO_FIELDS: LogFields = Object.freeze({});

interface Line {
  /** ISO 8601 in UTC. */
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly bound: LogFields;
  readonly fields: LogFields | undefined;
}

/** Caches the text of a time, because many lines have the same millisecond. */
function createTimeText(): (epochMs: number) => string {
  let last = Number.NaN;
  let text = "";
  return (epochMs) => {
    if (epochMs !== last) {
      last = epochMs;
      text = new Date(epochMs).toISOString();
    }
    return text;
  };
}

function jsonLine({ time, level, message, bound, fields }: Line): string {
  // The line of a call has many fields, and a copy of them only to put three before them takes as long as writing it.
  if (fields && bound === NO_FIELDS && !hasHeadMember(fields) && !isIntricateLine(fields)) {
    const rest = JSON.stringify(fields);
    const head = `{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}`;
    return rest === "{}" ? `${head}}\n` : `${head},${rest.slice(1)}\n`;
  }
  const line = { time, level, message, ...bound, ...fields };
  return `${isIntricateLine(line) ? JSON.stringify(line, printable) : JSON.stringify(line)}\n`;
}

/** True if a field replaces a member that every line has. */
function hasHeadMember(fields: LogFields): boolean {
  return "time" in fields || "level" in fields || "message" in fields;
}

function isIntricateLine(line: LogFields): boolean {
  for (const name in line) if (isIntricate(line[name])) return true;
  return false;
}

/**
 * Returns true if a value needs a conversion before it is printed. Converting every value costs three times the
 * printing, and few lines have one that needs it.
 */
function isIntricate(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isIntricate);
  return typeof value === "bigint" || (typeof value === "object" && value !== null);
}

function textLine({ time, level, message, bound, fields }: Line): string {
  const rest = Object.entries({ ...bound, ...fields })
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name}=${typeof value === "string" ? plain(value) : JSON.stringify(printable(name, value))}`,
    )
    .join(" ");
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${message}${rest === "" ? "" : ` ${rest}`}\n`;
}

/**
 * Escapes a client's text: line ends would forge log lines, and other control characters would reach the reader's
 * terminal.
 */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function printable(_name: string, value: unknown): unknown {
  if (value instanceof Error) {
    const code = "code" in value ? value.code : undefined;
    return { name: value.name, message: value.message, code, stack: value.stack, cause: value.cause };
  }
  if (typeof value === "bigint") return value.toString();
  return value;
}
