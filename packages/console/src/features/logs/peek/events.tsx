import { budgetSubject, type ExplainedBudget, type LogExplanation } from "@fairway/wire";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { Mark } from "../../../ui/display/mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import type { LogOther } from "../other.ts";
import { useTexts } from "./texts.ts";

const WHOSE = {
  user: "budgetOfUser",
  token: "budgetOfToken",
  group: "budgetOfGroup",
  model: "budgetOfModel",
  channel: "budgetOfChannel",
} as const;

const PERIODS = { day: "budgetDay", week: "budgetWeek", month: "budgetMonth" } as const;

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
  const { id, scope, period, quota_limit: limit } = budget;
  return (
    <>
      <Mark kind="stop" label={t("budgetUsedUp")} />
      <p>
        <Link className="link" to={`/budget/${id}`}>
          <bdi>{t(WHOSE[scope], { subject: budgetSubject(budget) })}</bdi>
        </Link>{" "}
        <span className="soft">
          {t("budgetLimit", { period: t(PERIODS[period]) })} <Money quota={limit} isPrecise />
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

/** The guardrail's verdict, the budget that ended it, and parameters that the conversion omitted; empty without. */
export function Events({ other, found }: { readonly other: LogOther; readonly found: LogExplanation | undefined }) {
  const t = useTexts();
  const losses = found?.losses ?? [];
  const parts: ReactNode[] = [];
  if (other.guardrail !== undefined) parts.push(<Verdict key="guardrail" other={other} />);
  if (found?.budget) parts.push(<SpentBudget key="budget" budget={found.budget} />);
  if (losses.length > 0) parts.push(<Losses key="losses" names={losses} />);
  if (parts.length === 0) return null;
  return (
    <section>
      <h3>{t("events")}</h3>
      {parts}
    </section>
  );
}
