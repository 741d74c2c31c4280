import type { Budget } from "@fairway/wire";
import { Button, Stack } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { BudgetRow } from "../../../shared/budgets/budget-row.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { Panel } from "../../../ui/display/panel.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { EmptyTeach, LoadFailed } from "../../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { useTexts } from "../texts.ts";
import { BudgetDialog } from "./budget-dialog.tsx";
import { budgetsQuery, deleteBudget, resetBudget } from "./budgets-api.ts";
import type { PartProps } from "./part.ts";

interface BudgetsPanelProps extends PartProps {
  /** Absent where budgets are only shown. */
  readonly onEdit?: (budget: Budget) => void;
}

/** Budgets of the team, its wallet, its members and its keys. */
export function BudgetsPanel({ team, rights, onEdit }: BudgetsPanelProps) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(budgetsQuery(team.id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const isOwn = ({ managed_by: maker }: Budget) => rights.isOperator || (rights.manage && maker !== "admin");
  return (
    <Panel title={t("budgets")} count={data?.length} empty={t("noBudgets")}>
      {data?.map((budget) => (
        <BudgetRow key={budget.id} budget={budget} isLinked={rights.isOperator} isOfTeam>
          {onEdit && isOwn(budget) && <BudgetMenu team={team} budget={budget} onEdit={() => onEdit(budget)} />}
        </BudgetRow>
      ))}
    </Panel>
  );
}

interface BudgetMenuProps extends Pick<PartProps, "team"> {
  readonly budget: Budget;
  onEdit(): void;
}

function BudgetMenu({ team, budget, onEdit }: BudgetMenuProps) {
  const t = useTexts();
  const { id, subject_name: name } = budget;
  const reset = () =>
    void resetBudget(team.id, id).then(() => toast("success", t("budgetWasReset", { name })), toastProblem);
  const remove = async () => {
    const question = { title: t("budgetDeleteTitle", { name }), body: t("budgetDeleteBody"), isDangerous: true };
    if (!(await ask({ ...question, confirm: t("deleteKey") }))) return;
    await deleteBudget(team.id, id).then(() => toast("success", t("budgetDeleted", { name })), toastProblem);
  };
  return (
    <RowMenu
      name={name}
      entries={[
        { id: "edit", label: t("editBudget"), icon: "edit", run: onEdit },
        { id: "reset", label: t("resetBudget"), icon: "refresh", run: reset },
        undefined,
        { id: "delete", label: t("deleteKey"), icon: "trash", isDangerous: true, run: () => void remove() },
      ]}
    />
  );
}

/** Admins limit the team, its members and its keys; everyone in it sees what is left. */
export function Budgets(props: PartProps) {
  const t = useTexts();
  const { team, rights } = props;
  const { data } = useQuery(budgetsQuery(team.id));
  const [edited, setEdited] = useState<Budget | "new">();
  const add = rights.manage && (
    <Button size="sm" alignSelf="start" onClick={() => setEdited("new")}>
      <Icon name="plus" />
      {t("addBudget")}
    </Button>
  );
  return (
    <Stack gap="3">
      {data?.length === 0 ? (
        <EmptyTeach icon="budget" title={t("noBudgets")} body={t(rights.manage ? "budgetsBody" : "budgetsAskBody")}>
          {add}
        </EmptyTeach>
      ) : (
        <>
          {add}
          <BudgetsPanel {...props} onEdit={setEdited} />
        </>
      )}
      {edited && (
        <BudgetDialog team={team} edited={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Stack>
  );
}
