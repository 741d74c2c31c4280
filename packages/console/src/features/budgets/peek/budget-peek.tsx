import { budgetSubject, type Budget } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { historyQuery } from "../../../shared/budgets/api.ts";
import { WindowEnd } from "../../../shared/budgets/window-end.tsx";
import { CountsSince } from "../../../shared/budgets/counts-since.tsx";
import { Facts } from "../../../ui/display/facts.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { PeekActions } from "../../../ui/peek/peek-actions.tsx";
import { PeekPanel } from "../../../ui/peek/peek-panel.tsx";
import type { RowPeekState } from "../../../ui/peek/use-peek.ts";
import { describeThresholds, describeWindows, SCOPE_TEXT, StateMark } from "../columns.tsx";
import { useTexts } from "../texts.ts";

function Used({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const { used, held } = budget;
  return (
    <>
      <Money quota={used} />
      {held > 0 && (
        <span className="soft">
          {" · "}
          {t("held")} <Money quota={held} />
        </span>
      )}{" "}
      <CountsSince budget={budget} />
    </>
  );
}

function Limit({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const { used, held, quota_limit: limit } = budget;
  return (
    <Facts
      title={t("sectionLimit")}
      items={[
        [t("usedNow"), <Used key="used" budget={budget} />],
        [t("left"), <Money key="left" quota={Math.max(0, limit - used - held)} />],
        [t("limit"), <Money key="limit" quota={limit} />],
        [t("period"), describeWindows(t, budget)],
        [t("resets"), <WindowEnd key="resets" budget={budget} words={{ endless: t("endless"), idle: t("idle") }} />],
        [t("soft"), budget.thresholds.length === 0 ? "–" : describeThresholds(budget)],
        [t("effect"), t(budget.is_hard ? "refuses" : "warns")],
      ]}
    />
  );
}

/** Shows how fast the budget is used up, and when that will be. */
function Outlook({ id }: Pick<Budget, "id">) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(historyQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Facts title={t("forecast")} items={[[t("pace"), "…"]]} />;
  const { budget, forecast } = data;
  const isSpent = budget.used >= budget.quota_limit;
  const ends = !isSpent && forecast.reached_at > 0 ? forecast.reached_at : budget.window_end;
  return (
    <Facts
      title={t("forecast")}
      items={[
        [t("pace"), <Money key="pace" quota={forecast.per_day} />],
        [t("expected"), <Money key="expected" quota={forecast.used_at_end} />],
        [
          t(isSpent ? "reachedNow" : forecast.reached_at > 0 ? "reachedAt" : "lasts"),
          ends === budget.window_end ? (
            <WindowEnd key="ends" budget={budget} words={{ endless: t("endless"), idle: t("idle") }} />
          ) : (
            <When key="ends" at={ends} />
          ),
        ],
      ]}
    />
  );
}

/** Shows a budget next to the list: how much is used, and how long it lasts. */
export function BudgetPeek({ peek }: { readonly peek: RowPeekState<Budget> }) {
  const t = useTexts();
  const { listed, id } = peek;
  const query = useQuery({ ...historyQuery(id ?? 0), enabled: listed === undefined && id !== undefined });
  return (
    <PeekPanel
      peek={peek}
      row={listed ?? query.data?.budget}
      query={query}
      unknown={t("title")}
      missing={{ key: "budget_not_found", body: t("missingTitle") }}
      title={(budget) => (
        <>
          {t(SCOPE_TEXT[budget.scope])} <bdi>{budgetSubject(budget)}</bdi>
        </>
      )}
      lead={(budget) => <StateMark budget={budget} />}
    >
      {(budget) => (
        <>
          <PeekActions
            edit={{ path: `/budget/edit/${budget.id}`, label: t("editRow") }}
            page={{ path: `/budget/${budget.id}`, label: t("openPage") }}
          />
          <div className="facts">
            <Limit budget={budget} />
            <Outlook id={budget.id} />
          </div>
        </>
      )}
    </PeekPanel>
  );
}
