import {
  CHANNEL_FIELD_NAMES,
  CHANNEL_STATUS,
  channelBatchTag,
  channelCatalogue,
  channelCopy,
  channelCopyAs,
  channelCreate,
  channelFix,
  channelGet,
  channelList,
  channelModelsEnabled,
  channelSearch,
  channelUpdate,
  resolvePage,
  SEARCH_CAP,
  type CatalogueModel,
  type Channel,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { wantedTags } from "../../http/etag.ts";
import { Refusal } from "../../lib/refusal.ts";
import { checkSize, createChannels, unwrapped } from "./create.ts";
import { destinationCheck } from "./destination.ts";
import { changedFields, storedKey, withMoreKeys, type ChannelFields, type TypeCheck } from "./input.ts";
import { buildOrder } from "./query.ts";
import type { ChannelPage } from "./reads.ts";
import { requireIds } from "./require-ids.ts";
import type { ChannelStore, NewKey } from "./store.ts";
import type { StatusCause } from "./status-info.ts";
import { tagRoutes } from "./tag-routes.ts";
import { keyFacts, toChannel } from "./view.ts";

export interface ChannelRoutesDeps {
  readonly store: ChannelStore;
  readonly isType: TypeCheck;
  /** Every model that the gateway knows, ascending. */
  readonly catalogue: readonly CatalogueModel[];
}

const NAME_LIMIT = 191;
const COPY_SUFFIX = "Copy";
/** The suffix that compatible gateways add to a copy. */
const COMPATIBLE_COPY_SUFFIX = "_copy";

export function channelRoutes(deps: ChannelRoutesDeps): Route[] {
  const { store, isType, catalogue } = deps;
  return [
    implement(channelList, async (call) => {
      const { offset, limit } = resolvePage(call.query);
      return answerPage(call, await readPage(store, call.query, offset, limit));
    }),
    implement(channelSearch, async (call) => {
      const isPaged = call.query.page_size > 0 || call.query.p > 0;
      const { offset, limit } = isPaged ? resolvePage(call.query) : { offset: 0, limit: SEARCH_CAP };
      return answerPage(call, await readPage(store, call.query, offset, limit));
    }),
    implement(channelGet, async ({ params, response }) => {
      const [row, key] = await Promise.all([store.get(params.id), store.findKey(params.id)]);
      if (!row || key === undefined) throw new Refusal("channel_not_found");
      setVersion(response, row.version);
      return { ...toChannel(row), ...keyFacts(key) };
    }),
    implement(channelCreate, async ({ body, caller }) => {
      await createChannels({ store, isType, caller }, unwrapped(body));
    }),
    implement(channelUpdate, async (call) => {
      const { response } = call;
      const channel = await update(deps, call);
      setVersion(response, channel.version);
      return channel;
    }),
    implement(channelBatchTag, async ({ body }) => {
      const ids = requireIds(body.ids);
      const tag = (body.tag ?? "").trim();
      await store.updateEach(ids, () => ({ tag: tag === "" ? null : tag }));
      return ids.length;
    }),
    implement(channelFix, () => store.rebuildAll()),
    implement(channelCopy, ({ params }) => copy(store, params.id, COPY_SUFFIX)),
    implement(channelCopyAs, async ({ params, query }) => {
      const { id } = await copy(store, params.id, query.suffix || COMPATIBLE_COPY_SUFFIX);
      return { id };
    }),
    implement(channelCatalogue, () => [...catalogue]),
    implement(channelModelsEnabled, () => store.enabledModels()),
    ...tagRoutes(deps),
  ];
}

type ListQuery = Call<typeof channelList>["query"];

function readPage(store: ChannelStore, query: ListQuery, offset: number, limit: number): Promise<ChannelPage> {
  const request = { filter: query, order: buildOrder(query), offset, limit };
  return query.tag_mode ? store.listTagPage(request) : store.page(request);
}

function answerPage(call: { setTotal(total: number): void }, page: ChannelPage): Channel[] {
  call.setTotal(page.total);
  return page.rows.map(toChannel);
}

async function update({ store, isType }: ChannelRoutesDeps, { body, caller, request }: Call<typeof channelUpdate>) {
  const { id, key = "", key_mode: mode = "", disable_seconds: span, status_reason: reason, ...input } = body;
  if (id === undefined || id <= 0) throw new Refusal("invalid_parameter", { field: "id" });
  const current = await store.get(id);
  if (!current) throw new Refusal("channel_not_found");
  const patch = changedFields(input, current, isType);
  checkSize({ ...current, ...patch });
  const replaced = newKey(key, mode, patch.type ?? current.type);
  const cause = buildStatusCause({ span, reason }, input.status);
  const check = destinationCheck(caller);
  const outcome = await store.update(id, patch, { key: replaced, versions: wantedTags(request), cause, check });
  if ("refused" in outcome) throw new Refusal(outcome.refused === "missing" ? "channel_not_found" : "channel_changed");
  return toChannel(outcome.row);
}

interface WantedCause {
  readonly span: number | undefined;
  readonly reason: string | undefined;
}

/** Returns undefined if the call names neither a time nor a reason. */
function buildStatusCause({ span, reason }: WantedCause, status: number | undefined): StatusCause | undefined {
  if (span === undefined && reason === undefined) return undefined;
  if (status !== CHANNEL_STATUS.disabledByHand)
    throw new Refusal("invalid_parameter", { field: span === undefined ? "status_reason" : "disable_seconds" });
  return { ...(reason && { reason }), ...(span && { span }) };
}

/** Returns the new keys of the channel; undefined if they do not change. */
function newKey(key: string, mode: string, type: number): NewKey | undefined {
  const given = storedKey(key, type);
  if (given === undefined) return undefined;
  switch (mode) {
    case "":
    case "replace":
      return given;
    case "append":
      return (stored, now) => withMoreKeys(stored, given, now);
    default:
      throw new Refusal("invalid_parameter", { field: "key_mode" });
  }
}

/** Copies everything except what the original accumulated: its counters, its balance and its state. */
async function copy(store: ChannelStore, id: number, suffix: string): Promise<Channel> {
  const [row, key] = await Promise.all([store.get(id), store.findKey(id)]);
  if (!row || key === undefined) throw new Refusal("channel_not_found");
  const fields = Object.fromEntries(CHANNEL_FIELD_NAMES.map((field) => [field, row[field]])) as ChannelFields;
  const suffixLetters = Array.from(suffix).slice(0, NAME_LIMIT - 1);
  const name = [...Array.from(row.name).slice(0, NAME_LIMIT - suffixLetters.length), ...suffixLetters].join("");
  const [created = 0] = await store.create({ ...fields, name, status: CHANNEL_STATUS.enabled }, [key]);
  const copied = await store.get(created);
  if (!copied) throw new Refusal("channel_not_found");
  return toChannel(copied);
}

function setVersion(response: ServerResponse, version: number): void {
  response.setHeader("ETag", `"${version}"`);
}
