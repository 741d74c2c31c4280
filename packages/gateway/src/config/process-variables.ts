import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables that determine the role of a process in the installation. */
export const PROCESS_VARIABLES = {
  roles: define({
    name: "FAIRWAY_ROLES",
    about:
      "What this process does: relay serves models, console the management API and its screens, jobs the background work. Some replica has to do each.",
    fallback: "relay,console,jobs",
    example: "relay",
    parse: parse.createSetParser("relay", "console", "jobs"),
  }),
  instanceId: define({
    name: "FAIRWAY_INSTANCE_ID",
    about: "Name of this process among its replicas. Blank means host name and process id.",
    fallback: "",
    example: "gateway-0",
    parse: parse.text,
  }),
  workers: define({
    name: "FAIRWAY_WORKERS",
    about:
      "Processes that share the ports of this machine; auto starts one for each core. More than one needs a database server and Redis. Limits such as FAIRWAY_MAX_INFLIGHT and FAIRWAY_DATABASE_CONNECTIONS hold for each.",
    fallback: "1",
    example: "auto",
    parse: parse.workers,
  }),
  migrate: define({
    name: "FAIRWAY_MIGRATE",
    about:
      "Database schema at the start: auto migrates it, wait waits for another process, verify refuses an old one, off skips the check.",
    fallback: "auto",
    example: "wait",
    parse: parse.createChoiceParser("auto", "wait", "verify", "off"),
  }),
  batchIntervalMs: define({
    name: "FAIRWAY_BATCH_INTERVAL_MS",
    about: "How often the leading process reads the state of open batches that are due, and books those that ended.",
    fallback: "5000",
    example: "1000",
    parse: parse.integer(50, 3_600_000),
  }),
  drainSeconds: define({
    name: "FAIRWAY_DRAIN_SECONDS",
    about: "Time for running streams to end at a stop; then they get an error event and are settled.",
    fallback: "240",
    example: "20",
    parse: parse.decimal(0, 86_400),
  }),
  drainIdleSeconds: define({
    name: "FAIRWAY_DRAIN_IDLE_SECONDS",
    about:
      "Time for clients to notice a stop on idle connections: their next answer says Connection: close. auto is 5, and 0 where the gateway listens on loopback only.",
    fallback: "auto",
    example: "0",
    parse: parse.orAuto(parse.decimal(0, 60)),
  }),
};
