import {
  logClear,
  logExplain,
  logExplainSelf,
  logExport,
  logExportSelf,
  logFacets,
  logFacetsSelf,
  logGet,
  logGetSelf,
  logHistogram,
  logHistogramSelf,
  logList,
  logListSelf,
  logOfToken,
  logSearch,
  logSearchSelf,
  logStat,
  logStatSelf,
  logTail,
  logTailSelf,
  resolvePage,
  type LogPage,
  type LogRow,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import type { Authenticator } from "../../identity/authentication/caller.ts";
import { AppError } from "../../lib/app-error.ts";
import { Refusal } from "../../lib/refusal.ts";
import { openEventStream } from "../event-stream.ts";
import type { Vault } from "../ports.ts";
import { explain, tracedChannels } from "./explain.ts";
import { exportLogs, type ExportFormat } from "./export.ts";
import { facetChannels, buildFacets } from "./facets.ts";
import { EVERYTHING, type Cursor, type LogQuery } from "./filter.ts";
import { withAccounts, type FindNamed } from "./named-accounts.ts";
import type { LogStore } from "./store.ts";
import type { LogTail } from "./tail.ts";
import { adminView, ownerView, type StoredLog } from "./view.ts";
import { LOG_CURSOR } from "../../storage/secrets/sealed-locations.ts";

export interface LogRoutesDeps {
  readonly store: LogStore;
  readonly tail: LogTail;
  /** Returns names of channels, which are in the main database. */
  readonly channelNames: (ids: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  /** Returns whom the user filter of administrators means. */
  readonly findNamed: FindNamed;
  /** The check of the relay: the log of a key is readable with the key. */
  readonly authenticator: Pick<Authenticator, "byKey">;
  /** Seals the cursors of owners, who must not learn real ids. */
  readonly vault: Vault;
  /** Writes the management row for a deletion. */
  readonly logClearing: (operator: Principal, ip: string, content: string) => Promise<void>;
}

export function logRoutes(deps: LogRoutesDeps): Route[] {
  return [...adminRoutes(deps), ...selfRoutes(deps), tokenRoute(deps)];
}

function adminRoutes(deps: LogRoutesDeps): Route[] {
  const { store, tail } = deps;
  const named = <Q extends LogQuery>(query: Q) => withAccounts(deps.findNamed, query);
  const view = (rows: readonly StoredLog[]) => adminViews(deps, rows);
  return [
    implement(logList, async ({ query }) => {
      const before = query.before === "" ? undefined : await store.cursorAt(parseId(query.before));
      return readPage(store, {
        query: await named(query),
        page: query,
        before,
        viewFrom: () => view,
        cursorText: String,
      });
    }),
    implement(logGet, async ({ params }) => first(await view(toList(await store.get(params.id))))),
    implement(logExplain, async ({ params }) => {
      const row = requireLog(await store.get(params.id));
      const channelNames = await loadChannelNames(deps, tracedChannels(row));
      return explain(row, { channelNames, isOwner: false });
    }),
    implement(logStat, async ({ query }) => loadStatistics(store, await named(query))),
    implement(logSearch, async ({ query }) => view(await store.search(query.keyword, undefined))),
    implement(logFacets, async ({ query }) => {
      const counts = await store.facets(await named(query));
      return buildFacets(counts, await loadChannelNames(deps, facetChannels(counts)));
    }),
    implement(logHistogram, async ({ query }) => store.histogram(await named(query))),
    implement(logExport, async ({ query, response }) =>
      exportLogs(response, { store, query: await named(query), format: parseFormat(query.format), view }),
    ),
    implement(logTail, async ({ query, response }) =>
      tail.follow(() => openEventStream(response), await named(query), view),
    ),
    implement(logClear, async (call) => {
      const time = call.query.target_timestamp;
      if (time <= 0) throw new Refusal("log_time_missing", { field: "target_timestamp" });
      return store.removeBefore(time, (removed) =>
        deps.logClearing(call.caller, call.context.ip, `Cleared ${removed} logs before ${time}`),
      );
    }),
  ];
}

function selfRoutes(deps: LogRoutesDeps): Route[] {
  const { store, tail, vault } = deps;
  return [
    implement(logListSelf, async ({ query, caller }) => {
      const before = query.before === "" ? undefined : await store.cursorAt(parseId(openCursor(vault, query.before)));
      const cursorText = (id: number) => Buffer.from(vault.seal(String(id), LOG_CURSOR)).toString("base64url");
      return readPage(store, { query: ownQuery(query, caller), page: query, before, viewFrom: ownerViews, cursorText });
    }),
    implement(logGetSelf, async ({ params, caller }) =>
      first(await ownerViews()(toList(await ownRow(store, caller, params.request)))),
    ),
    implement(logExplainSelf, async ({ params, caller }) =>
      explain(requireLog(await ownRow(store, caller, params.request)), { channelNames: NO_NAMES, isOwner: true }),
    ),
    implement(logStatSelf, ({ query, caller }) => loadStatistics(store, ownQuery(query, caller))),
    implement(logSearchSelf, async ({ query, caller }) =>
      ownerViews()(await store.search(query.keyword, caller.userId)),
    ),
    implement(logFacetsSelf, async ({ query, caller }) =>
      buildFacets(await store.facets(ownQuery(query, caller)), "owner"),
    ),
    implement(logHistogramSelf, ({ query, caller }) => store.histogram(ownQuery(query, caller))),
    implement(logExportSelf, ({ query, caller, response }) => {
      const job = { store, query: ownQuery(query, caller), format: parseFormat(query.format), view: ownerViews() };
      return exportLogs(response, job);
    }),
    implement(logTailSelf, ({ query, caller, response }) =>
      tail.follow(() => openEventStream(response), ownQuery(query, caller), ownerViews()),
    ),
  ];
}

function tokenRoute({ store, authenticator }: LogRoutesDeps): Route {
  return implement(logOfToken, async ({ request, context }) => {
    try {
      const { userId, tokenId } = await authenticator.byKey(request, context.ip, { allowExhausted: true });
      return ownerViews()(await store.ofToken(userId, tokenId));
    } catch (error) {
      // Compatible gateways return an empty list for an unknown key.
      if (error instanceof AppError && UNKNOWN_KEY.has(error.code)) return [];
      throw error;
    }
  });
}

const UNKNOWN_KEY: ReadonlySet<string | undefined> = new Set(["missing_api_key", "invalid_api_key"]);

/** Returns the filter restricted to its owner; names of other users or channels are ignored. */
function ownQuery(filter: Omit<LogQuery, "username" | "channel" | "user_id">, caller: Principal): LogQuery {
  return { ...EVERYTHING, ...filter, username: "", channel: 0, user_id: 0, ownerId: caller.userId };
}

/** Returns the newest row of one of the caller's requests. */
async function ownRow(store: LogStore, caller: Principal, requestId: string): Promise<StoredLog | undefined> {
  const query = { ...ownQuery(EVERYTHING, caller), request_id: requestId };
  return (await store.page(query, { offset: 0, limit: 1 }))[0];
}

const NO_NAMES: ReadonlyMap<number, string> = new Map();

function loadChannelNames(
  { channelNames }: LogRoutesDeps,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  return ids.length === 0 ? Promise.resolve(NO_NAMES) : channelNames(ids);
}

function requireLog(row: StoredLog | undefined): StoredLog {
  if (!row) throw new Refusal("log_not_found");
  return row;
}

type View = (rows: readonly StoredLog[]) => Promise<LogRow[]>;

/** Returns rows as their owner sees them, numbered from the first to the last row of the call. */
function ownerViews(offset = 0): View {
  let number = offset;
  return async (rows) => rows.map((row) => ownerView(row, (number += 1)));
}

interface PageRead {
  readonly query: LogQuery;
  readonly page: { readonly p: number; readonly page_size: number };
  readonly before: Cursor | undefined;
  /** @param offset rows before the page */
  readonly viewFrom: (offset: number) => View;
  readonly cursorText: (id: number) => string;
}

async function readPage(store: LogStore, { query, page, before, viewFrom, cursorText }: PageRead): Promise<LogPage> {
  const number = Math.max(1, page.p);
  const { offset, limit } = resolvePage({ p: number - 1, page_size: page.page_size });
  const [rows, total] = await Promise.all([store.page(query, { offset, limit, before }), store.total(query)]);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return {
    items: await viewFrom(before ? 0 : offset)(rows),
    total,
    page: number,
    page_size: limit,
    next: last ? cursorText(last.id) : "",
  };
}

async function loadStatistics(store: LogStore, query: LogQuery): Promise<{ quota: number; rpm: number; tpm: number }> {
  return { quota: await store.spent(query), ...(await store.rates(query)) };
}

async function adminViews(deps: LogRoutesDeps, rows: readonly StoredLog[]): Promise<LogRow[]> {
  const ids = [...new Set(rows.map((row) => row.channel_id))].filter((id) => id !== 0);
  const names = await loadChannelNames(deps, ids);
  return rows.map((row) => adminView(row, names.get(row.channel_id) ?? ""));
}

function parseId(text: string): number {
  const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (id <= 0) throw new Refusal("invalid_parameter", { field: "before" });
  return id;
}

function openCursor(vault: Vault, text: string): string {
  try {
    return vault.open(Buffer.from(text, "base64url").toString(), LOG_CURSOR);
  } catch (cause) {
    throw new Refusal("invalid_parameter", { field: "before", cause });
  }
}

function parseFormat(text: string): ExportFormat {
  if (text === "" || text === "csv") return "csv";
  if (text === "ndjson") return "ndjson";
  throw new Refusal("invalid_parameter", { field: "format" });
}

function toList<Row>(row: Row | undefined): Row[] {
  return row === undefined ? [] : [row];
}

function first(rows: readonly LogRow[]): LogRow {
  const [row] = rows;
  if (!row) throw new Refusal("log_not_found");
  return row;
}
