import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryFlag, queryText } from "../core/envelope.ts";

/** Gateways whose management calls are read. */
const IMPORT_SERVERS = ["new-api", "one-api", "one-hub", "litellm"] as const;
export type ImportServer = (typeof IMPORT_SERVERS)[number];

/** A report has a line for each kind of item, and a note for each loss. */
export const ImportCount = z.object({
  what: z.string(),
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  skipped: z.int(),
});
export type ImportCount = z.output<typeof ImportCount>;

/** One import, or the trial of one. */
export const ImportRun = z.object({
  id: z.int(),
  /** Where the data came from: `database`, `config` or the kind of a running gateway. */
  source: z.string(),
  /** The name of the file, or the host of the gateway. */
  place: z.string(),
  /** True for a trial, which writes nothing. */
  dry_run: z.boolean(),
  started_by: z.int(),
  created_at: z.int(),
  status: z.enum(["running", "done", "failed", "interrupted"]),
  /** Rows that were read so far. */
  done: z.int(),
  /** Rows of the source; 0 = not known. */
  total: z.int(),
  /** The kind of rows that is being read. */
  step: z.string(),
  /** Why it failed; "" unless it did. */
  reason: z.string(),
  counts: z.array(ImportCount),
  notes: z.array(z.string()),
});
export type ImportRun = z.output<typeof ImportRun>;

const STARTED = z.object({ id: z.int() });
const CONFIG_BYTES = 8 * 1024 * 1024;
const groups = z.optional(z.record(z.string().check(z.minLength(1)), z.string().check(z.minLength(1))));

export const importRunList = endpoint({
  name: "importRunList",
  method: "GET",
  path: "/api/import/run/",
  access: "root",
  summary: "The latest 20 imports and trials, newest first, each with its progress and its report.",
  data: z.array(ImportRun),
});

export const importRunGet = endpoint({
  name: "importRunGet",
  method: "GET",
  path: "/api/import/run/{id}",
  access: "root",
  summary: "One import with its progress and its report.",
  params: idParams,
  data: ImportRun,
  fails: ["import_not_found"],
});

export const importDatabaseStart = endpoint({
  name: "importDatabaseStart",
  method: "POST",
  path: "/api/import/database",
  access: "root",
  summary:
    "Imports a database export of new-api, one-api or LiteLLM. The body is the file itself: an SQLite file, or a plain dump of MySQL, MariaDB or PostgreSQL, also compressed with gzip. Answers the id of the import, which continues in the background.",
  query: z.object({
    /** Name of the file, for the list of imports. */
    name: queryText,
    /** Decides what the numbers of channel types mean: `new-api` unless `one-api` is given. */
    from: z.optional(z.enum(["new-api", "one-api"])),
    dry_run: queryFlag,
    /** Imports the rows of the log too. */
    logs: queryFlag,
    /** Size of the file, which is compared with the bytes that arrived. */
    bytes: queryText,
  }),
  data: STARTED,
  fails: ["invalid_parameter", "import_running", "import_too_large", "import_unreadable", "import_without_logs"],
});

export const importConfigStart = endpoint({
  name: "importConfigStart",
  method: "POST",
  path: "/api/import/config",
  access: "root",
  summary: "Imports a configuration of LiteLLM or Bifrost in the background; answers the id of the import.",
  body: z.strictObject({
    /** YAML of LiteLLM or JSON of Bifrost. */
    config: z.string().check(z.minLength(1)),
    /** Name of the file. */
    name: z.optional(z.string().check(z.maxLength(255))),
    /** Values of the variables that it refers to as `os.environ/NAME` or `env.NAME`. */
    variables: z.optional(z.record(z.string(), z.string())),
    dry_run: z.optional(z.boolean()),
    /** Models without a price get the prices that the addresses of their channels publish. */
    price_from_upstream: z.optional(z.boolean()),
    /** Address of the gateway that is being replaced. */
    price_from: z.optional(z.string().check(z.regex(/^https?:\/\/\S*[^\s/]$/))),
    groups,
  }),
  bodyBytes: CONFIG_BYTES,
  data: STARTED,
  fails: ["invalid_parameter", "invalid_field", "import_running"],
});

export const importServerStart = endpoint({
  name: "importServerStart",
  method: "POST",
  path: "/api/import/server",
  access: "root",
  summary:
    "Imports what a running gateway shows through its management calls, in the background; answers the id of the import. The gateway itself calls the address.",
  body: z.strictObject({
    from: z.enum(IMPORT_SERVERS),
    /** Without a path, a user or a query. */
    address: z.string().check(z.regex(/^https?:\/\/[^\s/?#@]+\/?$/)),
    /** Access token of a super administrator there, or the master key of LiteLLM. */
    token: z.string().check(z.minLength(1), z.maxLength(4096), z.regex(/^[\x21-\x7e]+$/)),
    /** Whose token it is, where the gateway requires the id with every call. */
    user_id: z.optional(z.int().check(z.positive())),
    dry_run: z.optional(z.boolean()),
    groups,
  }),
  data: STARTED,
  fails: ["invalid_parameter", "invalid_field", "import_running"],
});
