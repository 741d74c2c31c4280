import type { Budget } from "@fairway/wire";
import { Box, Text } from "@chakra-ui/react";
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
import { PERIOD_TEXT } from "./period-text.ts";
import { useTexts } from "./texts.ts";

interface BudgetRowProps {
  readonly budget: Budget;
  /** Only administrators can open a budget's page. */
  readonly isLinked?: boolean;
}

/** A token links to its page, which shows how its budget is used up. */
function Subject({ budget, isLinked = false }: BudgetRowProps) {
  const t = useTexts();
  const isOwn = String(useUser()?.id) === budget.subject;
  const { id, scope, subject, subject_name: name } = budget;
  const to = isLinked ? `/budget/${id}` : scope === "token" ? `/token/${subject}` : undefined;
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
        {t("perPeriod", { period: t(PERIOD_TEXT[budget.period]) })}
      </Text>
    </Box>
  );
}

/** One budget: how much of its limit is used, when its window restarts, and whether it lasts until then. */
export function BudgetRow({ budget, isLinked = false }: BudgetRowProps) {
  const t = useTexts();
  const language = useLanguage();
  const { part, endsAt } = budgetState(budget, useNow());
  const { used, held, quota_limit: limit, window_end: resets } = budget;
  const isSpent = part >= 1;
  const outlook = isSpent ? t(budget.is_hard ? "spentHard" : "spentSoft") : t(endsAt === undefined ? "lasts" : "ends");
  return (
    <PanelRow>
      <Subject budget={budget} isLinked={isLinked} />
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
      <Text color={isSpent ? "fg.error" : "fg.muted"} width="full">
        {outlook} <When at={isSpent || endsAt === undefined ? resets : endsAt} />
      </Text>
    </PanelRow>
  );
}
