import type { Budget } from "@fairway/wire";
import { Box, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { formatShare } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useNow } from "../../lib/now.ts";
import { useUser } from "../../session/session.ts";
import { Meter } from "../../ui/display/meter.tsx";
import { Money } from "../../ui/display/money.tsx";
import { PanelRow } from "../../ui/display/panel.tsx";
import { When } from "../../ui/display/when.tsx";
import { CountsSince } from "./counts-since.tsx";
import { budgetState, NEAR } from "./near.ts";
import { describePeriod } from "./period-text.ts";
import { useTexts } from "./texts.ts";

interface BudgetRowProps {
  readonly budget: Budget;
  /** Only administrators can open a budget's page. */
  readonly isLinked?: boolean;
  /** True in the list of a team, whose keys have no page of their own. */
  readonly isOfTeam?: boolean;
  /** What can be done with it. */
  readonly children?: ReactNode;
}

/** A token links to its page, which shows how its budget is used up. */
function Subject({ budget, isLinked = false, isOfTeam = false }: BudgetRowProps) {
  const t = useTexts();
  const isOwn = String(useUser()?.id) === budget.subject;
  const { id, scope, subject, subject_name: name } = budget;
  const to = isLinked ? `/budget/${id}` : scope === "token" && !isOfTeam ? `/token/${subject}` : undefined;
  const text = scope === "user" ? (isOwn ? t("ownAccount") : t("accountOf", { name })) : name || t("token");
  return (
    <Box flex="1" minW="140px" overflowWrap="anywhere">
      {to === undefined ? (
        <bdi>{text}</bdi>
      ) : (
        <Link className="link" to={to}>
          <bdi>{text}</bdi>
        </Link>
      )}{" "}
      <Text as="span" color="fg.muted">
        {describePeriod(t, budget)}
        {budget.filter_model !== "" && ` · ${t("onlyModel", { model: budget.filter_model })}`}
      </Text>
    </Box>
  );
}

interface OutlookProps {
  readonly budget: Budget;
  readonly isSpent: boolean;
  readonly endsAt: number | undefined;
}

/** Whether the budget lasts, and when it begins again. */
function Outlook({ budget: { is_hard: isHard, period, window_end: resets }, isSpent, endsAt }: OutlookProps) {
  const t = useTexts();
  if (!isSpent && endsAt !== undefined)
    return (
      <>
        {t("ends")} <When at={endsAt} />
      </>
    );
  if (resets === 0) {
    const spent = isHard ? "spentForGood" : "spentForGoodSoft";
    return t(period !== "total" ? "waits" : isSpent ? spent : "lastsEndless");
  }
  return (
    <>
      {t(isSpent ? (isHard ? "spentHard" : "spentSoft") : "lasts")} <When at={resets} />
    </>
  );
}

/** One budget: how much of its limit is used, when its window restarts, and whether it lasts until then. */
export function BudgetRow({ budget, isLinked = false, isOfTeam = false, children }: BudgetRowProps) {
  const t = useTexts();
  const language = useLanguage();
  const { part, endsAt } = budgetState(budget, useNow());
  const { used, held, quota_limit: limit, values } = budget;
  const isSpent = part >= 1;
  if (values !== undefined)
    return (
      <PanelRow>
        <Subject budget={budget} isLinked={isLinked} isOfTeam={isOfTeam} />
        <span>
          {t("eachOf", { values })} <Money quota={limit} />
        </span>
        {children}
      </PanelRow>
    );
  return (
    <PanelRow>
      <Subject budget={budget} isLinked={isLinked} isOfTeam={isOfTeam} />
      <span className="meter-line">
        <Meter used={used / limit} held={held / limit} isHigh={part >= NEAR} label={formatShare(part, 1, language)} />
        <span>
          <Money quota={used} /> <span className="soft">{t("of")}</span> <Money quota={limit} />
          {held > 0 && (
            <span className="soft">
              {" · "}
              {t("held")} <Money quota={held} />
            </span>
          )}{" "}
          <CountsSince budget={budget} />
        </span>
      </span>
      {children}
      <Text color={isSpent ? "fg.error" : "fg.muted"} width="full">
        <Outlook budget={budget} isSpent={isSpent} endsAt={endsAt} />
      </Text>
    </PanelRow>
  );
}
