import {
  LOG_TYPE,
  type ExplainedAttempt,
  type ExplainedCandidate,
  type LogExplanation,
  type LogRow,
} from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { milliseconds, seconds } from "../../lib/format.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { explainQuery } from "./api.ts";
import { isConsumption } from "./columns.tsx";
import { useTexts } from "./texts.ts";

const NEXT = {
  "": undefined,
  retry: "nextRetry",
  same_channel_other_key: "nextKey",
  not_retryable: "nextNotRetryable",
  retries_used: "nextRetriesUsed",
  too_late: "nextTooLate",
  none_left: "nextNoneLeft",
} as const;

const SKIPPED = {
  status: "skippedStatus",
  group: "skippedGroup",
  input_size: "skippedInputSize",
  unsupported: "skippedUnsupported",
  limit: "skippedLimit",
  budget: "skippedBudget",
  breaker: "skippedBreaker",
  cooldown: "skippedCooldown",
  not_drawn: "skippedNotDrawn",
  affinity: "skippedAffinity",
  pin: "skippedPin",
} as const;

/** Where the attempt lies in the time of the whole call. */
function TimeBar({ attempt, total }: { readonly attempt: ExplainedAttempt; readonly total: number }) {
  const part = (ms: number) => `${Math.min(100, (100 * Math.max(0, ms)) / Math.max(1, total))}%`;
  return (
    <span className="route-time" aria-hidden="true">
      <span
        className={attempt.outcome === "ok" ? "route-ok" : "route-failed"}
        style={{ marginInlineStart: part(attempt.start_ms), width: part(attempt.duration_ms) }}
      />
    </span>
  );
}

function AttemptLine(props: { readonly attempt: ExplainedAttempt; readonly number: number; readonly total: number }) {
  const t = useTexts();
  const { attempt, number, total } = props;
  const isOk = attempt.outcome === "ok";
  const channel = attempt.channel > 0 ? `: #${attempt.channel} ${attempt.channel_name}` : "";
  const next = NEXT[attempt.next];
  const facts = [
    attempt.status > 0 ? String(attempt.status) : t("noAnswer"),
    attempt.code,
    milliseconds(attempt.duration_ms),
    attempt.upstream_host,
    next && t(next),
  ];
  return (
    <li>
      <Mark
        kind={isOk ? "go" : "stop"}
        label={`${t("attempt", { number })}${channel} · ${t(isOk ? "delivered" : "failed")}`}
      />
      <TimeBar attempt={attempt} total={total} />
      <p className="soft">{facts.filter((fact) => fact !== undefined && fact !== "").join(" · ")}</p>
    </li>
  );
}

function PassedOver({
  candidates,
  more,
}: {
  readonly candidates: readonly ExplainedCandidate[];
  readonly more: number;
}) {
  const t = useTexts();
  if (candidates.length === 0) return null;
  return (
    <>
      <h4>{t("passedOver")}</h4>
      <ul className="attempts">
        {candidates.map(({ channel, channel_name: name, group, skipped = "not_drawn", wait_ms: wait }) => (
          <li key={`${group}-${channel}`}>
            #{channel} {name}
            <span className="soft">
              {" · "}
              {t(SKIPPED[skipped])}
              {wait !== undefined && ` (${seconds(wait)})`}
            </span>
          </li>
        ))}
        {more > 0 && <li className="soft">{t("moreCandidates", { count: more })}</li>}
      </ul>
    </>
  );
}

function Recorded({ found }: { readonly found: LogExplanation }) {
  const t = useTexts();
  const skipped = found.candidates.filter(({ is_tried: isTried }) => !isTried);
  return (
    <section>
      <h3>{t("route")}</h3>
      {found.attempts.length === 0 && <p className="soft">{t("noAttempts")}</p>}
      <ol className="attempts">
        {found.attempts.map((attempt, at) => (
          <AttemptLine key={attempt.start_ms} attempt={attempt} number={at + 1} total={found.total_ms} />
        ))}
      </ol>
      <PassedOver candidates={skipped} more={found.more_candidates} />
    </section>
  );
}

/** Rows of older versions name the channels alone. */
function Chain({ row, chain }: { readonly row: LogRow; readonly chain: readonly string[] }) {
  const t = useTexts();
  return (
    <section>
      <h3>{t("route")}</h3>
      <ol className="attempts">
        {chain.map((channel, index) => {
          const isDone = index === chain.length - 1 && row.type !== LOG_TYPE.error;
          const name = channel === String(row.channel) ? row.channel_name : "";
          return (
            <li key={`${index}-${channel}`}>
              <Mark
                kind={isDone ? "go" : "stop"}
                label={`${t("attempt", { number: index + 1 })}: #${channel} ${name} · ${t(isDone ? "delivered" : "failed")}`}
              />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface RouteProps {
  readonly row: LogRow;
  readonly chain: readonly string[];
  readonly isAdmin: boolean;
}

/** Which channels were asked, how long each took, and why the others were not. */
export function Route({ row, chain, isAdmin }: RouteProps) {
  const isCall = (isConsumption(row) || row.type === LOG_TYPE.error) && row.request_id !== "";
  const { data } = useQuery({ ...explainQuery(row, isAdmin), enabled: isCall });
  if (data?.is_recorded) return <Recorded found={data} />;
  return chain.length > 0 ? <Chain row={row} chain={chain} /> : null;
}
