import { availableParallelism } from "node:os";
import { parseNetwork, type Network } from "../lib/net/ip.ts";
import { parseException, type Exception } from "../lib/net/proxy-rules.ts";
import { isClickhouseUrl, readClickhouseAddress } from "../lib/net/clickhouse-address.ts";
import { readRedisAddress } from "../lib/net/redis-address.ts";
import { Secret } from "../lib/secret.ts";
import { decodePercent } from "../lib/text/percent-encoding.ts";

/** Parsers of environment texts. Each throws an Error whose message is the remedy: "give ...". */

export type Parse<T> = (text: string) => T;

export function text(value: string): string {
  return value;
}

/** Returns a parser that treats blank text as not set and passes everything else to `parse`. */
export function optional<T>(parse: Parse<T>): Parse<T | undefined> {
  return (value) => (value === "" ? undefined : parse(value));
}

export function integer(least: number, most: number): Parse<number> {
  return (value) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new Error(`give a whole number from ${least} to ${most}`);
  };
}

/** Parses a number of processes; `auto` means one per core. */
export function workers(value: string): number {
  if (value.toLowerCase() === "auto") return availableParallelism();
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= 256) return number;
  throw new Error("give auto or a whole number from 1 to 256");
}

export function decimal(least: number, most: number): Parse<number> {
  return (value) => {
    const number = Number(value);
    if (/^\d+(\.\d+)?$/.test(value) && number >= least && number <= most) return number;
    throw new Error(`give a number from ${least} to ${most}`);
  };
}

/** Returns a parser that also accepts `auto`, which leaves the choice to the program. */
export function orAuto<T>(parse: Parse<T>): Parse<T | "auto"> {
  return (value) => (value.toLowerCase() === "auto" ? "auto" : parse(value));
}

const YES = new Set(["true", "1", "yes", "on"]);
const NO = new Set(["false", "0", "no", "off"]);

export function boolean(value: string): boolean {
  const word = value.toLowerCase();
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  throw new Error("give true or false");
}

export function createChoiceParser<const T extends string>(...words: readonly T[]): Parse<T> {
  return (value) => {
    const word = words.find((known) => known === value.toLowerCase());
    if (word !== undefined) return word;
    throw new Error(`give one of ${words.join(", ")}`);
  };
}

/** Returns a parser of comma-separated words without repetition. */
export function createSetParser<const T extends string>(...words: readonly T[]): Parse<ReadonlySet<T>> {
  const one = createChoiceParser(...words);
  return (value) => new Set(parts(value).map(one));
}

/** Parses an http(s) address and removes the trailing slash. */
/** Values are percent-encoded, as in the variables of OpenTelemetry. */
export function pairs(value: string): Readonly<Record<string, string>> {
  const written = value.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    written.map((pair) => {
      const at = pair.indexOf("=");
      const name = pair.slice(0, Math.max(0, at)).trim();
      const text = decodePercent(pair.slice(at + 1).trim());
      if (name === "") throw new Error("give name=value pairs separated by commas");
      if (text === undefined) throw new Error("give values in percent-encoding, where a % is %25");
      return [name, text];
    }),
  );
}

export function webAddress(value: string): string {
  const url = URL.parse(value);
  if (url && (url.protocol === "http:" || url.protocol === "https:")) return value.replace(/\/+$/, "");
  throw new Error("give an address that begins with http:// or https://");
}

export function portNumber(value: string): number {
  if (value.startsWith("tcp://"))
    throw new Error(
      "give a number; a Kubernetes service named fairway sets this name, so set enableServiceLinks: false in the pod",
    );
  return integer(0, 65_535)(value);
}

/** Parses a port, or `off`. */
export function portOrOff(value: string): number | undefined {
  return value.toLowerCase() === "off" ? undefined : portNumber(value);
}

/** Parses addresses and CIDR networks, separated by commas or spaces. */
export function networks(value: string): readonly Network[] {
  return parts(value).map((part) => {
    const network = parseNetwork(part);
    if (network) return network;
    throw new Error(`give addresses or CIDR networks separated by commas; ${part} is neither`);
  });
}

/** Parses the address of an HTTP proxy; the scheme may be missing, as in the variables of other programs. */
export function proxyAddress(value: string): Secret {
  const url = URL.parse(value.includes("://") ? value : `http://${value}`);
  const isPlain = url && url.hostname !== "" && /^\/?$/.test(url.pathname) && url.search === "" && url.hash === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return new Secret(url.href);
  throw new Error("give the address of an HTTP proxy, special characters of its password percent-encoded");
}

/** Parses addresses that no proxy serves, separated by commas or spaces. */
export function proxyExceptions(value: string): readonly Exception[] {
  return parts(value).map((part) => {
    const exception = parseException(part);
    if (exception) return exception;
    throw new Error(`give hosts, suffixes, addresses or networks separated by commas; ${part} is none of them`);
  });
}

/** A number of requests per number of seconds; undefined = no limit. */
export interface Rate {
  readonly count: number;
  readonly seconds: number;
}

const LONGEST_WINDOW_SECONDS = 1_200;

export function rate(value: string): Rate | undefined {
  if (value.toLowerCase() === "off") return undefined;
  const match = /^(\d{1,9})\/(\d{1,4})$/.exec(value);
  const [count, seconds] = [Number(match?.[1]), Number(match?.[2])];
  if (count > 0 && seconds > 0 && seconds <= LONGEST_WINDOW_SECONDS) return { count, seconds };
  throw new Error(`give count/seconds with at most ${LONGEST_WINDOW_SECONDS} seconds, or off`);
}

export interface ApiRates {
  /** Per address, for callers who are not signed in. */
  readonly anonymous: Rate | undefined;
  /** Per user. */
  readonly user: Rate | undefined;
}

/** Parses one rate for all callers, or two: for anonymous and for signed-in callers. */
export function apiRates(value: string): ApiRates {
  const [anonymous = "", user = anonymous, ...rest] = value.split(",").map((part) => part.trim());
  if (rest.length > 0) throw new Error("give one rate, or two separated by a comma");
  return { anonymous: rate(anonymous), user: rate(user) };
}

export function secret(least = 1): Parse<Secret> {
  return (value) => {
    if (value.length >= least) return new Secret(value);
    throw new Error(`give at least ${least} characters`);
  };
}

/** The value in the example file of compatible gateways, which everyone knows. */
const KNOWN_TO_ALL = "random_string";

export function sessionSecret(value: string): Secret {
  if (value === KNOWN_TO_ALL) throw new Error("use a secret of your own: this one is used in public examples");
  return secret(16)(value);
}

const MYSQL_TLS = ["ssl-mode", "ssl-ca"];
const POSTGRES_TLS = ["sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation", "ssl"];

export function databaseUrl(value: string): Secret {
  if (/^sqlite:.+/.test(value)) return new Secret(value);
  const url = URL.parse(value);
  if (url && /^(mysql|mariadb|postgres|postgresql):$/.test(url.protocol) && url.pathname.length > 1) {
    refuseUnknownTls(url);
    return new Secret(value);
  }
  throw new Error(
    "give sqlite:PATH, mysql://user:password@host:3306/name or postgres://user:password@host:5432/name, special characters of the password percent-encoded",
  );
}

/** The log may also be in ClickHouse. */
export function logDatabaseUrl(value: string): Secret {
  if (!isClickhouseUrl(value)) return databaseUrl(value);
  readClickhouseAddress(value);
  return new Secret(value);
}

/** Refuses unknown TLS settings, because drivers ignore unknown names and connect without TLS. */
function refuseUnknownTls({ protocol, searchParams }: URL): void {
  const known = /^(mysql|mariadb):$/.test(protocol) ? MYSQL_TLS : POSTGRES_TLS;
  const unknown = [...searchParams.keys()].find((name) => /^(ssl|tls)/i.test(name) && !known.includes(name));
  if (unknown !== undefined) throw new Error(`its parameter ${unknown} is none: TLS is set by ${known.join(", ")}`);
}

export function redisUrl(value: string): Secret {
  readRedisAddress(value);
  return new Secret(value);
}

function parts(value: string): string[] {
  return value.split(/[\s,]+/).filter((part) => part !== "");
}
