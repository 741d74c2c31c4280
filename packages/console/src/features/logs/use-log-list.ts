import { useCallback } from "react";
import { useSearchParams } from "react-router";
import { changeAddress } from "../../lib/url-state.ts";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import type { LogFilter } from "./api.ts";

const FILTER: Readonly<Record<keyof LogFilter, string>> = {
  type: "0",
  token: "",
  tokenId: "",
  model: "",
  user: "",
  channel: "",
  group: "",
  code: "",
  status: "",
  tags: "",
  endUser: "",
  request: "",
  range: "today",
  from: "",
  to: "",
};
const LIST = { ...LIST_DEFAULTS, ...FILTER };
/** Other state in the address: the open row, and how the page is used. */
const PLACE = { row: "", live: "", facets: "" };
const ALL = { ...LIST, ...PLACE };

const SWITCH: ReadonlyMap<string, boolean> = new Map([
  ["1", true],
  ["0", false],
]);

type Change = Partial<Record<keyof typeof ALL, string>>;

/** The state of the log page, which all lives in the address: filters, range, open row, live, facets and page. */
export function useLogList() {
  const list = useList(LIST);
  const [search, setSearch] = useSearchParams();
  /** Adds a history entry, so Back undoes it. */
  const go = useCallback(
    (change: Change) => setSearch(changeAddress(ALL, change), { preventScrollReset: true }),
    [setSearch],
  );
  const replace = useCallback(
    (change: Change) => setSearch(changeAddress(ALL, change), { preventScrollReset: true, replace: true }),
    [setSearch],
  );
  const { type, token, tokenId, model, user, channel, group, code, status, request, range, from, to } = list.state;
  const { tags, endUser } = list.state;
  const what = { type, token, tokenId, model, user, channel, group, code, status, tags, endUser, request };
  const filter: LogFilter = { ...what, range, from, to };
  return {
    list,
    filter,
    go,
    replace,
    row: search.get("row") ?? "",
    isLive: search.get("live") === "1",
    /** Undefined if the address has no such member. */
    facets: SWITCH.get(search.get("facets") ?? ""),
  };
}
