import { Secret } from "../lib/secret.ts";
import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables of the databases and of Redis. */
export const STORE_VARIABLES = {
  databaseUrl: define({
    name: "FAIRWAY_DATABASE_URL",
    about: "Main database. Blank means an SQLite file in FAIRWAY_DATA_DIR.",
    fallback: "",
    example: "mysql://fairway:password@db:3306/fairway?ssl-mode=verify-identity",
    parse: parse.optional(parse.databaseUrl),
    isSecret: true,
  }),
  databasePassword: define({
    name: "FAIRWAY_DATABASE_PASSWORD",
    about: "Password of the account in FAIRWAY_DATABASE_URL, as it is; the URL then has none.",
    fallback: "",
    example: "p@ss/word",
    parse: parse.optional((text) => new Secret(text)),
    isSecret: true,
  }),
  databaseConnections: define({
    name: "FAIRWAY_DATABASE_CONNECTIONS",
    about: "Most connections to each database server; two are the least.",
    fallback: "20",
    example: "50",
    parse: parse.integer(1, 1_000),
  }),
  logDatabaseUrl: define({
    name: "FAIRWAY_LOG_DATABASE_URL",
    about:
      "Database of its own for request logs: another one of these, or ClickHouse by its HTTP interface, clickhouse://user:password@host:8123/name, with ?tls=true by HTTPS. Blank keeps them in the main one.",
    fallback: "",
    example: "postgres://fairway:password@logs:5432/fairway_logs",
    parse: parse.optional(parse.logDatabaseUrl),
    isSecret: true,
  }),
  journalMinutes: define({
    name: "FAIRWAY_JOURNAL_MINUTES",
    about:
      "How long FAIRWAY_DATA_DIR has a copy of booked charges, to book them again if the database goes back: a standby that was behind is promoted, or an older copy is put back. 0 writes none without Redis.",
    fallback: "10",
    example: "1440",
    parse: parse.integer(0, 10_080),
  }),
  redisChargeMinutes: define({
    name: "FAIRWAY_REDIS_CHARGE_MINUTES",
    about:
      "How long Redis has a copy of booked charges, to book them again if the database goes back and the replicas that served them are lost with their disks. A charge takes about one kilobyte.",
    fallback: "0",
    example: "10",
    parse: parse.integer(0, 1_440),
  }),
  sqliteSync: define({
    name: "FAIRWAY_SQLITE_SYNC",
    about: "full keeps the last commits over a loss of power, normal keeps the file intact but may lose them.",
    fallback: "normal",
    example: "full",
    parse: parse.createChoiceParser("normal", "full"),
  }),
  redisUrl: define({
    name: "FAIRWAY_REDIS_URL",
    about:
      "Redis shared by all replicas, one server, redis+sentinel://:password@host:26379,host:26379/0?master=name or redis+cluster://:password@host:6379,host:6379. Blank means a single process without Redis.",
    fallback: "",
    example: "rediss://:password@cache:6379/0",
    parse: parse.optional(parse.redisUrl),
    isSecret: true,
  }),
  redisPassword: define({
    name: "FAIRWAY_REDIS_PASSWORD",
    about: "Password of FAIRWAY_REDIS_URL, as it is; the URL then has none.",
    fallback: "",
    example: "p@ss/word",
    parse: parse.optional((text) => new Secret(text)),
    isSecret: true,
  }),
  redisPrefix: define({
    name: "FAIRWAY_REDIS_PREFIX",
    about: "Beginning of every Redis key of this installation.",
    fallback: "fairway:",
    example: "staging:",
    parse: parse.text,
  }),
} as const;
