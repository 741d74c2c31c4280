import { budgetSubject, type ExplainedBudget, type LogExplanation, type UsageDoubt } from "@fairway/wire";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { Mark } from "../../../ui/display/mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { describePeriod } from "../../../shared/budgets/period-text.ts";
import { useTexts as useBudgetTexts } from "../../../shared/budgets/texts.ts";
import type { LogOther } from "../other.ts";
import { useTexts } from "./texts.ts";

const WHOSE = {
  user: "budgetOfUser",
  token: "budgetOfToken",
  group: "budgetOfGroup",
  model: "budgetOfModel",
  channel: "budgetOfChannel",
  team: "budgetOfTeam",
  member: "budgetOfMember",
  service_account: "budgetOfServiceAccount",
  tag: "budgetOfTag",
  end_user: "budgetOfEndUser",
} as const;

function Verdict({ other }: { readonly other: LogOther }) {
  const t = useTexts();
  const isBlocked = other.guardrail === "block";
  const reason = other.admin_info?.guardrail_reason;
  return (
    <>
      <Mark kind={isBlocked ? "stop" : "caution"} label={t(isBlocked ? "guardrailBlocked" : "guardrailFailed")} />
      {reason && <p className="soft">{t("guardrailReason", { reason })}</p>}
    </>
  );
}

function SpentBudget({ budget }: { readonly budget: ExplainedBudget }) {
  const t = useTexts();
  const ofBudgets = useBudgetTexts();
  const { id, scope, quota_limit: limit } = budget;
  return (
    <>
      <Mark kind="stop" label={t("budgetUsedUp")} />
      <p>
        <Link className="link" to={`/budget/${id}`}>
          <bdi>{t(WHOSE[scope], { subject: budgetSubject(budget) })}</bdi>
        </Link>{" "}
        <span className="soft">
          {t("budgetLimit", { period: describePeriod(ofBudgets, budget) })} <Money quota={limit} isPrecise />
        </span>
      </p>
    </>
  );
}

function Losses({ names }: { readonly names: readonly string[] }) {
  const t = useTexts();
  return (
    <>
      <Mark kind="caution" label={t("losses")} />
      <ul className="log-losses">
        {names.map((name) => (
          <li key={name}>
            <code className="mono">{name}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Rules that implausible usage breaks; a newer gateway may have more, which are shown as they are. */
const DOUBTS = {
  output_counted: "doubtOutput",
  input_counted: "doubtInput",
  cached_over_input: "doubtCached",
  cache_write_over_input: "doubtCacheWrite",
  audio_over_input: "doubtAudioInput",
  image_over_input: "doubtImage",
  reasoning_over_output: "doubtReasoning",
  audio_over_output: "doubtAudioOutput",
  cache_write_contradicts: "doubtLifetimes",
  total_contradicts: "doubtTotal",
} as const;

function isKnownDoubt(rule: string): rule is keyof typeof DOUBTS {
  return Object.hasOwn(DOUBTS, rule);
}

function Doubts({ doubts }: { readonly doubts: readonly UsageDoubt[] }) {
  const t = useTexts();
  const describeRule = (rule: string) => {
    if (isKnownDoubt(rule)) return t(DOUBTS[rule]);
    return rule.startsWith("invalid_") ? t("doubtInvalid", { name: rule.slice("invalid_".length) }) : rule;
  };
  return (
    <>
      <Mark kind="caution" label={t("doubts")} />
      <ul className="log-losses">
        {doubts.map(({ rule, reported }) => (
          <li key={rule}>
            {describeRule(rule)}
            {reported !== "" && <span className="soft"> {t("doubtReported", { reported })}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * Shows the guardrail's verdict, the budget that ended the call, parameters that the conversion omitted, and usage that
 * was not believed; empty if there are none.
 */
export function Events({ other, found }: { readonly other: LogOther; readonly found: LogExplanation | undefined }) {
  const t = useTexts();
  const losses = found?.losses ?? [];
  const doubts = found?.usage_doubts ?? [];
  const parts: ReactNode[] = [];
  if (other.guardrail !== undefined) parts.push(<Verdict key="guardrail" other={other} />);
  if (found?.budget) parts.push(<SpentBudget key="budget" budget={found.budget} />);
  if (losses.length > 0) parts.push(<Losses key="losses" names={losses} />);
  if (doubts.length > 0) parts.push(<Doubts key="doubts" doubts={doubts} />);
  if (parts.length === 0) return null;
  return (
    <section>
      <h3>{t("events")}</h3>
      {parts}
    </section>
  );
}
