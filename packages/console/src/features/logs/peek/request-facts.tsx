import type { LogExplanation, LogRow } from "@fairway/wire";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { formatCount, formatExactTime } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { writeState } from "../../../lib/url-state.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { Facts } from "../../../ui/display/facts.tsx";
import { Durations } from "../columns.tsx";
import { isConsumption } from "../kinds.ts";
import type { LogOther } from "../other.ts";
import { useTexts as useLogTexts } from "../texts.ts";
import { useTexts } from "./texts.ts";

interface FactsProps {
  readonly row: LogRow;
  readonly other: LogOther;
  readonly found: LogExplanation | undefined;
  readonly isAdmin: boolean;
}

type FilterName = "model" | "token" | "tokenId" | "user" | "channel" | "group" | "tags" | "endUser";

/** A value that links to the calls that share it, in the same time range. */
function Filtering(props: {
  readonly name: FilterName;
  readonly value: string;
  readonly label?: string;
  readonly children?: ReactNode;
}) {
  const t = useTexts();
  const [search] = useSearchParams();
  const { name, value, label = value } = props;
  if (value === "" || value === "0") return null;
  const { range = "", from = "", to = "" } = Object.fromEntries(search);
  const query = writeState(new URLSearchParams(), {}, { range, from, to, [name]: value });
  return (
    <Link className="link" to={`/log?${query}`} title={t("callsOf", { name: label })}>
      <bdi>{props.children ?? label}</bdi>
    </Link>
  );
}

type Item = readonly [string, ReactNode];

function useWho({ row, isAdmin }: FactsProps): Item[] {
  const t = useTexts();
  const say = useLogTexts();
  const items: Item[] = [];
  if (isAdmin && row.username !== "")
    items.push([
      say("user"),
      <>
        <Filtering name="user" value={row.username} />
        <Link className="log-side-link" to={`/user/edit/${row.user_id}`}>
          {t("openUser")}
        </Link>
      </>,
    ]);
  if (row.token_name !== "")
    items.push([
      say("token"),
      <>
        {row.token_id > 0 ? (
          <>
            <Filtering name="tokenId" value={String(row.token_id)} label={row.token_name} />
            <Link className="log-side-link" to={`/token/${row.token_id}`}>
              {t("openToken")}
            </Link>
          </>
        ) : (
          <Filtering name="token" value={row.token_name} />
        )}
      </>,
    ]);
  if (row.channel > 0)
    items.push([
      say("channel"),
      <>
        <Filtering name="channel" value={String(row.channel)}>
          #{row.channel} {row.channel_name}
        </Filtering>
        <Link className="log-side-link" to={`/channel/edit/${row.channel}`}>
          {t("openChannel")}
        </Link>
      </>,
    ]);
  return items;
}

function useWhat({ row, other, found }: FactsProps): Item[] {
  const t = useTexts();
  const say = useLogTexts();
  const language = useLanguage();
  const upstreamModel = other.admin_info?.upstream_model ?? found?.attempts.at(-1)?.upstream_model ?? "";
  const items: Item[] = [];
  if (row.model_name !== "") items.push([say("model"), <Filtering name="model" value={row.model_name} />]);
  if (found?.fallback) items.push([t("modelsTried"), <Models fallback={found.fallback} />]);
  if (upstreamModel !== row.model_name) items.push([t("upstreamModel"), upstreamModel]);
  if (row.tags !== "") items.push([say("tags"), <Tags tags={row.tags} />]);
  if (row.end_user !== "") items.push([say("endUser"), <Filtering name="endUser" value={row.end_user} />]);
  if (row.group !== "") items.push([say("group"), <Filtering name="group" value={row.group} />]);
  if (isConsumption(row)) {
    const input = formatCount(row.prompt_tokens, language);
    const output = formatCount(row.completion_tokens, language);
    items.push([say("duration"), <Durations row={row} t={say} />], [t("tokens"), t("tokensInOut", { input, output })]);
  }
  if (other.request_path) items.push([t("path"), <code className="mono">{other.request_path}</code>]);
  return items;
}

/** Each tag of the call, as a filter of its own. */
function Tags({ tags }: { readonly tags: string }) {
  return tags.split("|").map((tag) => (
    <div key={tag}>
      <Filtering name="tags" value={tag} />
    </div>
  ));
}

/** The models that were left or left out before the one that the call ended with. */
function Models({ fallback }: { readonly fallback: NonNullable<LogExplanation["fallback"]> }) {
  const t = useTexts();
  return fallback.hops.map(({ model, outcome, is_skipped: isSkipped }) => (
    <div key={model}>
      <bdi>{model}</bdi>: {isSkipped ? t("modelLeftOut", { why: outcome }) : t("modelLeft", { why: outcome })}
    </div>
  ));
}

function RequestId({ id }: { readonly id: string }) {
  const t = useTexts();
  return (
    <>
      <code className="mono">{id}</code>
      <CopyButton text={id} label={t("copyRequestId")} />
    </>
  );
}

/** Facts about the request, each with a link to similar calls. */
export function RequestFacts(props: FactsProps) {
  const t = useTexts();
  const say = useLogTexts();
  const language = useLanguage();
  const { row } = props;
  const items: readonly Item[] = [
    [t("requestId"), row.request_id === "" ? "" : <RequestId id={row.request_id} />],
    [say("time"), formatExactTime(row.created_at, language)],
    ...useWho(props),
    ...useWhat(props),
    [t("ip"), row.ip],
  ];
  return (
    <div className="facts">
      <Facts title={t("request")} items={items} />
    </div>
  );
}
