import { LOG_TYPE, logListSelf, type LogRow, type Token } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call, sendWithKey } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { readReply, type Reply } from "./reply.ts";

/** Sends one short question with the key of a token, as an application would. */
export async function sendTest(token: Token, model: string, signal: AbortSignal): Promise<Reply> {
  const began = performance.now();
  const body = { model, messages: [{ role: "user", content: "Say hello in five words." }] };
  const response = await sendWithKey("/v1/chat/completions", `sk-${token.key}`, body, signal);
  return readReply(response.status, response.headers, await response.text(), performance.now() - began);
}

const TRIES = 8;

class NotYet extends Error {}

/** The row of a request; it is written after the answer. Calls with a key of a team are in the log of the team. */
export function rowQuery(requestId: string, teamId: number | undefined) {
  return queryOptions({
    queryKey: queryKeys.logs.request(requestId),
    queryFn: async ({ signal }): Promise<LogRow> => {
      const query = { p: 1, page_size: 1, request_id: requestId };
      const { items } = await (teamId === undefined
        ? call(logListSelf, { query, signal })
        : // Few keys belong to a team, so the other pages do not carry its calls.
          (await import("./team-row.ts")).readTeamRow(teamId, query, signal));
      const [row] = items;
      if (!row) throw new NotYet();
      return row;
    },
    staleTime: Infinity,
    retry: (count, problem) => problem instanceof NotYet && count < TRIES,
    retryDelay: (count) => Math.min(2_000, 300 * 2 ** count),
  });
}

const WATCH_MS = 3_000;

/** The newest successful call with a token, by any program; requested until there is one. */
export function firstCallQuery({ id }: Token) {
  return queryOptions({
    queryKey: queryKeys.logs.firstCall(id),
    queryFn: async ({ signal }): Promise<LogRow | null> => {
      const query = { p: 1, page_size: 1, type: LOG_TYPE.consume, token_id: id };
      return (await call(logListSelf, { query, signal })).items[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data ? false : WATCH_MS),
    retry: false,
  });
}
