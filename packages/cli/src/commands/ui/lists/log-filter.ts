import { LOG_TYPE, type Client } from "@fairway/wire";
import { resolveIdByName } from "../../names.ts";
import { parsePastTime } from "../../../core/times.ts";
import type { LogQuery } from "../../log/query.ts";
import { tokenFilter, type TokenFilter } from "../../log/token-filter.ts";
import { FieldProblem, readField, type Field, type Values } from "../form.ts";
import type { Wanted } from "../state.ts";

const TYPES = Object.keys(LOG_TYPE).filter((word) => word !== "unknown");

const OF_ADMINISTRATORS: readonly Omit<Field, "value">[] = [
  { name: "user", hint: "a username" },
  { name: "channel", hint: "its id or name" },
];

/** Returns the fields of the logs' filter form. */
export function filterFields(isAdmin: boolean): readonly Omit<Field, "value">[] {
  return [
    ...(isAdmin ? OF_ADMINISTRATORS : []),
    { name: "token", hint: "its id or name" },
    { name: "model", hint: "its name; % stands for any letters" },
    { name: "type", hint: TYPES.join(", ") },
    { name: "since", hint: "15m, 1h, 7d or 2026-11-23T08:00" },
    { name: "until", hint: "like since" },
    { name: "status", hint: "what clients of failed calls got, such as 429" },
    { name: "request", hint: "the id of a request" },
  ];
}

const ID = /^[1-9]\d{0,14}$/;

/** Builds queries from filled forms; the ids of a named channel and token are looked up once. */
export function createLogQueries(client: Client, isAdmin: boolean) {
  const tokens = new Map<string, TokenFilter>();
  const resolveToken = async (text: string | undefined, user: string | undefined) => {
    if (text === undefined) return {};
    const key = JSON.stringify([text, user]);
    const named = ID.test(text) ? Number(text) : { noun: "token" as const, name: text };
    const found = tokens.get(key) ?? (await readField("token", () => tokenFilter(client, named, { isAdmin, user })));
    tokens.set(key, found);
    return found;
  };
  const ids = new Map<string, number>();
  const resolveChannel = async (text: string): Promise<number> => {
    if (ID.test(text)) return Number(text);
    const id = ids.get(text) ?? (await resolveIdByName(client, { noun: "channel", name: text }, false));
    ids.set(text, id);
    return id;
  };

  /** Fails with a `FieldProblem` for the field that cannot be used. */
  return async ({ query, scope }: Pick<Wanted, "query" | "scope">): Promise<LogQuery> => {
    const { user, channel, token, model, since, until, request } = query;
    const now = Math.floor(Date.now() / 1000);
    const filter = {
      type: typeIn(query),
      ...(await resolveToken(token, user)),
      model_name: model,
      request_id: request,
      status: statusIn(query),
      start_timestamp: since === undefined ? 0 : await readField("since", () => parsePastTime(since, "since", now)),
      end_timestamp: until === undefined ? 0 : await readField("until", () => parsePastTime(until, "until", now)),
      ...(scope && { channel: Number(scope.channel), ...(scope.isFailing && { type: LOG_TYPE.error }) }),
    };
    if (!isAdmin) return { isAdmin, filter };
    const id = channel === undefined ? undefined : await readField("channel", () => resolveChannel(channel));
    return { isAdmin, filter: { ...filter, username: user, ...(id === undefined ? {} : { channel: id }) } };
  };
}

function typeIn({ type }: Values): number {
  if (type === undefined) return LOG_TYPE.unknown;
  const number = TYPES.includes(type) ? LOG_TYPE[type as keyof typeof LOG_TYPE] : undefined;
  if (number !== undefined) return number;
  throw new FieldProblem("type", `there is no type ${type}`, `write ${TYPES.join(", ")}`);
}

function statusIn({ status }: Values): number {
  if (status === undefined) return 0;
  if (/^[1-5]\d\d$/.test(status)) return Number(status);
  throw new FieldProblem("status", `status ${status} is not an HTTP status`, "write a number such as 429");
}
