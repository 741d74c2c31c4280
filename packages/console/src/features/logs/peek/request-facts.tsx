import type { LogExplanation, LogRow } from "@fairway/wire";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { formatCount, formatExactTime } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { writeState } from "../../../lib/url-state.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
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

type FilterName = "model" | "token" | "user" | "channel" | "group";

/** A value that leads to the calls that share it, in the same range of time. */
function Filtering(props: { readonly name: FilterName; readonly value: string; readonly children?: ReactNode }) {
  const t = useTexts();
  const [search] = useSearchParams();
  const { name, value } = props;
  if (value === "" || value === "0") return null;
  const { range = "", from = "", to = "" } = Object.fromEntries(search);
  const query = writeState(new URLSearchParams(), {}, { range, from, to, [name]: value });
  return (
    <Link className="link" to={`/log?${query}`} title={t("callsOf", { name: value })}>
      <bdi>{props.children ?? value}</bdi>
    </Link>
  );
}

function Fact(props: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

function Who({ row, isAdmin }: FactsProps) {
  const t = useTexts();
  const say = useLogTexts();
  return (
    <>
      {isAdmin && row.username !== "" && (
        <Fact label={say("user")}>
          <Filtering name="user" value={row.username} />
          <Link className="log-side-link" to={`/user/edit/${row.user_id}`}>
            {t("openUser")}
          </Link>
        </Fact>
      )}
      {row.token_name !== "" && (
        <Fact label={say("token")}>
          <Filtering name="token" value={row.token_name} />
        </Fact>
      )}
      {row.channel > 0 && (
        <Fact label={say("channel")}>
          <Filtering name="channel" value={String(row.channel)}>
            #{row.channel} {row.channel_name}
          </Filtering>
          <Link className="log-side-link" to={`/channel/edit/${row.channel}`}>
            {t("openChannel")}
          </Link>
        </Fact>
      )}
    </>
  );
}

function What({ row, other, found }: FactsProps) {
  const t = useTexts();
  const say = useLogTexts();
  const language = useLanguage();
  const upstreamModel = other.admin_info?.upstream_model ?? found?.attempts.at(-1)?.upstream_model ?? "";
  return (
    <>
      {row.model_name !== "" && (
        <Fact label={say("model")}>
          <Filtering name="model" value={row.model_name} />
        </Fact>
      )}
      {upstreamModel !== "" && upstreamModel !== row.model_name && (
        <Fact label={t("upstreamModel")}>{upstreamModel}</Fact>
      )}
      {row.group !== "" && (
        <Fact label={say("group")}>
          <Filtering name="group" value={row.group} />
        </Fact>
      )}
      {isConsumption(row) && (
        <>
          <Fact label={say("duration")}>
            <Durations row={row} t={say} />
          </Fact>
          <Fact label={t("tokens")}>
            {t("tokensInOut", {
              input: formatCount(row.prompt_tokens, language),
              output: formatCount(row.completion_tokens, language),
            })}
          </Fact>
        </>
      )}
      {other.request_path && (
        <Fact label={t("path")}>
          <code className="mono">{other.request_path}</code>
        </Fact>
      )}
    </>
  );
}

/** Facts about the request, each with a link to similar calls. */
export function RequestFacts(props: FactsProps) {
  const t = useTexts();
  const say = useLogTexts();
  const language = useLanguage();
  const { row } = props;
  return (
    <section>
      <h3>{t("request")}</h3>
      <dl className="log-facts">
        {row.request_id !== "" && (
          <Fact label={t("requestId")}>
            <code className="mono">{row.request_id}</code>
            <CopyButton text={row.request_id} label={t("copyRequestId")} />
          </Fact>
        )}
        <Fact label={say("time")}>{formatExactTime(row.created_at, language)}</Fact>
        <Who {...props} />
        <What {...props} />
        {row.ip !== "" && <Fact label={t("ip")}>{row.ip}</Fact>}
      </dl>
    </section>
  );
}
