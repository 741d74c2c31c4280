import type { ExplainedCandidate, ExplainedDraw, LogExplanation } from "@fairway/wire";
import { Link } from "react-router";
import { seconds } from "../../../lib/format.ts";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { useTexts } from "./texts.ts";

const ROUTE = {
  only: "routeOnly",
  weight: "routeWeight",
  least_busy: "routeLeastBusy",
  latency: "routeLatency",
  cost: "routeCost",
  affinity: "routeAffinity",
  pin: "routePin",
  account: "routeAccount",
  cache: "routeCache",
  none: "routeNone",
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
  not_better: "skippedNotBetter",
  affinity: "skippedAffinity",
  pin: "skippedPin",
  refused: "skippedRefused",
} as const;

/** A newer gateway may have reasons that this page does not know: they are shown as they are. */
function useReasons() {
  const t = useTexts();
  const measure = (value: number | null, by: LogExplanation["route"]) => {
    if (value === null) return t("measureUnknown");
    if (by === "latency") return `${value} ms`;
    return t(by === "cost" ? "measureCost" : "measureBusy", { value });
  };
  return {
    draw: ({ taken, taken_measure: own, other, other_measure: others }: ExplainedDraw, by: LogExplanation["route"]) =>
      other === undefined
        ? t("drawnOne", { channel: taken, measure: measure(own, by) })
        : t("drawnTwo", {
            channel: taken,
            measure: measure(own, by),
            other,
            otherMeasure: measure(others ?? null, by),
          }),
    route: (name: LogExplanation["route"]) => (Object.hasOwn(ROUTE, name) ? t(ROUTE[name]) : name),
    skipped: (name: NonNullable<ExplainedCandidate["skipped"]>) =>
      Object.hasOwn(SKIPPED, name) ? t(SKIPPED[name]) : name,
  };
}

/** Returns how the attempts with a channel ended; a channel with several keys may have several. */
function selectMark({ channel, is_tried: isTried }: ExplainedCandidate, { attempts }: LogExplanation): MarkKind {
  if (!isTried) return "parked";
  return attempts.some((attempt) => attempt.channel === channel && attempt.outcome === "ok") ? "go" : "stop";
}

function Candidate(props: { readonly candidate: ExplainedCandidate; readonly found: LogExplanation }) {
  const t = useTexts();
  const reasons = useReasons();
  const { candidate, found } = props;
  const { channel, channel_name: name, priority, weight, group, skipped, wait_ms: wait } = candidate;
  const mark = selectMark(candidate, found);
  const words = {
    go: t("candidateAnswered"),
    stop: t("candidateFailed"),
    parked: reasons.skipped(skipped ?? "not_drawn"),
  } as const;
  const text = mark === "go" || mark === "stop" ? words[mark] : words.parked;
  return (
    <tr className={mark === "parked" ? "soft" : undefined}>
      <td>
        <Link className="link" to={`/channel/edit/${channel}`}>
          #{channel} <bdi>{name}</bdi>
        </Link>
      </td>
      <td className="end">{priority}</td>
      <td className="end log-table-spare">{weight}</td>
      <td className="log-table-spare">{group}</td>
      <td>
        <Mark kind={mark} label={wait === undefined ? text : `${text} (${seconds(wait)})`} />
      </td>
    </tr>
  );
}

/** Shows why this channel was chosen: the deciding rule, and every candidate with the reason against it. */
export function Choice({ found }: { readonly found: LogExplanation }) {
  const t = useTexts();
  const { route, draw: formatDraw } = useReasons();
  const { candidates, draws = [], more_candidates: more } = found;
  return (
    <section>
      <h3>{t("whyChannel")}</h3>
      <p>{route(found.route)}</p>
      {draws.length > 0 && (
        <ul>
          {draws.map((draw) => (
            <li key={`${draw.taken}-${draw.other ?? 0}`}>{formatDraw(draw, found.route)}</li>
          ))}
        </ul>
      )}
      {candidates.length > 0 && (
        <div className="log-table-frame">
          <table className="log-table">
            <thead>
              <tr>
                <th scope="col">{t("channel")}</th>
                <th scope="col" className="end">
                  {t("priority")}
                </th>
                <th scope="col" className="end log-table-spare">
                  {t("weight")}
                </th>
                <th scope="col" className="log-table-spare">
                  {t("group")}
                </th>
                <th scope="col">{t("verdict")}</th>
              </tr>
            </thead>
            <tbody>
              {candidates.map((candidate) => (
                <Candidate key={`${candidate.group}-${candidate.channel}`} candidate={candidate} found={found} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more > 0 && <p className="soft">{t("moreCandidates", { count: more })}</p>}
    </section>
  );
}
