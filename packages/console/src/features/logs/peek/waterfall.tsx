import { keyNumber, type ExplainedAttempt, type LogExplanation, type LogRow } from "@fairway/wire";
import { milliseconds } from "../../../lib/format.ts";
import { Mark } from "../../../ui/display/mark.tsx";
import { findUpstreamReason } from "../../../shared/failures/reasons.ts";
import { useTexts as useFailureTexts } from "../../../shared/failures/texts.ts";
import { isConsumption } from "../kinds.ts";
import { attemptSegments, calculateScale, type Segment } from "./segments.ts";
import { useTexts } from "./texts.ts";

const NEXT = {
  "": undefined,
  retry: "nextRetry",
  same_channel: "nextSame",
  same_channel_other_key: "nextKey",
  not_retryable: "nextNotRetryable",
  retries_used: "nextRetriesUsed",
  retries_off: "nextRetriesOff",
  bound: "nextBound",
  too_late: "nextTooLate",
  none_left: "nextNoneLeft",
  begun: "nextBegun",
} as const;

function Track({ segments }: { readonly segments: readonly Segment[] }) {
  return (
    <span className="waterfall-track" aria-hidden="true">
      {segments.map(({ kind, left, width }) => (
        <span
          key={kind}
          className={`waterfall-bar is-${kind}`}
          style={{ insetInlineStart: `${left}%`, width: `${width}%` }}
        />
      ))}
    </span>
  );
}

function Attempt(props: { readonly attempt: ExplainedAttempt; readonly number: number; readonly scale: number }) {
  const t = useTexts();
  const say = useFailureTexts();
  const { attempt, number, scale } = props;
  const isOk = attempt.outcome === "ok";
  const channel = attempt.channel > 0 ? ` · #${attempt.channel} ${attempt.channel_name}` : "";
  const next = NEXT[attempt.next];
  const first = attempt.first_byte_ms;
  const facts = [
    attempt.status > 0 ? String(attempt.status) : t("noAnswer"),
    attempt.code === "" ? "" : (findUpstreamReason(attempt.code, attempt.status, say) ?? attempt.code),
    first >= 0 ? t("firstByte", { time: milliseconds(first) }) : "",
    attempt.key_index >= 0 ? t("keyPlace", { number: keyNumber(attempt.key_index) }) : "",
    attempt.upstream_host,
    attempt.upstream_request_id === "" ? "" : t("upstreamId", { id: attempt.upstream_request_id }),
  ];
  return (
    <li>
      <div className="waterfall-line">
        <Mark kind={isOk ? "go" : "stop"} label={`${t("attempt", { number })}${channel}`} />
        <span className="sr-only">{t(isOk ? "delivered" : "failed")}</span>
        <span className="waterfall-time">
          <span className="sr-only">{t("startedAt", { time: milliseconds(attempt.start_ms) })}, </span>
          {milliseconds(attempt.duration_ms)}
        </span>
      </div>
      <Track segments={attemptSegments(attempt, scale)} />
      <p className="soft">{facts.filter((fact) => fact !== "").join(" · ")}</p>
      {attempt.upstream_message !== undefined && (
        <p className="waterfall-said">{t("upstreamSaid", { message: attempt.upstream_message })}</p>
      )}
      {next && <p className="waterfall-next">↳ {t(next)}</p>}
    </li>
  );
}

/** The upstream calls of a request on one axis of time. */
export function Waterfall({ found }: { readonly found: LogExplanation }) {
  const t = useTexts();
  const scale = calculateScale(found);
  const { queue_ms: queue, first_token_ms: firstToken, attempts } = found;
  return (
    <section>
      <h3>{t("attempts")}</h3>
      {attempts.length === 0 && <p className="soft">{t("noAttempts")}</p>}
      <ol className="waterfall">
        {queue > 0 && (
          <li>
            <div className="waterfall-line">
              <Mark kind="underway" label={t("queued")} />
              <span className="waterfall-time">{milliseconds(queue)}</span>
            </div>
            <Track segments={[{ kind: "queue", left: 0, width: (100 * Math.min(queue, scale)) / scale }]} />
          </li>
        )}
        {attempts.map((attempt, at) => (
          <Attempt key={`${at}-${attempt.start_ms}`} attempt={attempt} number={at + 1} scale={scale} />
        ))}
      </ol>
      {attempts.length > 0 && (
        <>
          <div className="waterfall-axis" aria-hidden="true">
            <span>0</span>
            <span>{milliseconds(scale / 2)}</span>
            <span>{milliseconds(scale)}</span>
          </div>
          <p className="waterfall-legend soft">
            <span>
              <i className="waterfall-bar is-wait" /> {t("legendWait")}
            </span>
            <span>
              <i className="waterfall-bar is-ok" /> {t("legendAnswer")}
            </span>
            <span>{t("totalTime", { time: milliseconds(found.total_ms) })}</span>
            {firstToken > 0 && <span>{t("firstTokenAt", { time: milliseconds(firstToken) })}</span>}
          </p>
        </>
      )}
    </section>
  );
}

/** Rows of older versions name only the channels. */
export function Chain({ row, chain }: { readonly row: LogRow; readonly chain: readonly string[] }) {
  const t = useTexts();
  if (chain.length === 0) return null;
  return (
    <section>
      <h3>{t("attempts")}</h3>
      <ol className="waterfall">
        {chain.map((channel, at) => {
          const isOk = at === chain.length - 1 && isConsumption(row);
          const name = channel === String(row.channel) ? ` ${row.channel_name}` : "";
          return (
            <li key={`${at}-${channel}`}>
              <Mark
                kind={isOk ? "go" : "stop"}
                label={`${t("attempt", { number: at + 1 })} · #${channel}${name} · ${t(isOk ? "delivered" : "failed")}`}
              />
            </li>
          );
        })}
      </ol>
    </section>
  );
}
