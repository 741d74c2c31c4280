import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { rangeName, resolveBounds, type RangeName } from "../../lib/range.ts";
import { listAsked, readFields } from "./fields.ts";
import { readUsage, type Reader } from "./reader.ts";
import { askSharing } from "./shared-cost/sharing.ts";

export const USUAL_RANGE: RangeName = "30d";

/** The question, as the address has it. */
export const DEFAULTS = {
  by: "model",
  range: USUAL_RANGE as string,
  from: "",
  to: "",
  interval: "day",
  tags: "",
  endUser: "",
  model: "",
  token: "",
  group: "",
  user: "",
  channel: "",
  /** Values of a tag whose cost the others share, as the gateway reads them; a key alone until values are chosen. */
  shared: "",
  split: "",
};
export type Question = Readonly<typeof DEFAULTS>;

/** The zone in which days begin. */
export function readZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the query of a question; a relative range moves with time. */
export function buildQuery(question: Question, reader: Reader) {
  const { from, to } = resolveBounds(rangeName(question.range, USUAL_RANGE), nowSeconds(), question);
  const query = {
    by: listAsked(readFields(question.by, reader)).join(","),
    start: from,
    end: to,
    interval: question.interval,
    time_zone: readZone(),
    tags: question.tags,
    end_user: question.endUser,
    model_name: question.model,
    token_name: question.token,
    group: question.group,
    ...askSharing(question, reader),
  };
  const isOfAll = reader.of === "everyone";
  return isOfAll ? { ...query, username: question.user, channel: question.channel } : query;
}

export function reportQuery(question: Question, reader: Reader) {
  return queryOptions({
    queryKey: queryKeys.reports.usage(question, reader.of, reader.team),
    queryFn: ({ signal }) => readUsage(reader, buildQuery(question, reader), signal),
    placeholderData: keepPreviousData,
  });
}

export function refreshReports(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.reports.all });
}
