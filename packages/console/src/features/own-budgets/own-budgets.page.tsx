import type { Budget } from "@fairway/wire";
import { Button, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ownBudgetsQuery } from "../../shared/budgets/api.ts";
import { BudgetRow } from "../../shared/budgets/budget-row.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { Panel } from "../../ui/display/panel.tsx";
import { ask } from "../../ui/feedback/ask.ts";
import { EmptyTeach, LoadFailed, Loading } from "../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { deleteOwnBudget, resetOwnBudget } from "./api.ts";
import { OwnBudgetDialog } from "./own-budget-dialog.tsx";
import { useTexts } from "./texts.ts";

/** The budgets that limit the reader: those that the reader made, and those of administrators and teams. */
export function OwnBudgetsPage() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(ownBudgetsQuery);
  const [edited, setEdited] = useState<Budget | "new">();
  const add = (
    <Button size="sm" onClick={() => setEdited("new")}>
      <Icon name="plus" />
      {t("add")}
    </Button>
  );
  return (
    <Page title={t("title")} width="form" actions={data && data.length > 0 && add}>
      {data ? (
        data.length === 0 ? (
          <EmptyTeach icon="budget" title={t("none")} body={t("noneBody")}>
            {add}
          </EmptyTeach>
        ) : (
          <Stack gap="3">
            <Panel title={t("budgets")} count={data.length} empty="">
              {data.map((budget) => (
                <BudgetRow key={budget.id} budget={budget}>
                  <Maker budget={budget} onEdit={() => setEdited(budget)} />
                </BudgetRow>
              ))}
            </Panel>
          </Stack>
        )
      ) : error ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
      {edited && (
        <OwnBudgetDialog edited={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  );
}

interface MakerProps {
  readonly budget: Budget;
  onEdit(): void;
}

/** What the reader can do with a budget, or who decides about it. */
function Maker({ budget, onEdit }: MakerProps) {
  const t = useTexts();
  const { id, managed_by: maker } = budget;
  const name = budget.subject_name === "" ? `#${budget.subject}` : budget.subject_name;
  if (maker !== "self")
    return (
      <Text textStyle="xs" color="fg.muted">
        {t(maker === "team" ? "madeByTeam" : "madeByAdmin")}
      </Text>
    );
  const reset = () => void resetOwnBudget(id).then(() => toast("success", t("wasReset", { name })), toastProblem);
  const remove = async () => {
    const question = { title: t("deleteTitle", { name }), body: t("deleteBody"), isDangerous: true };
    if (!(await ask({ ...question, confirm: t("delete") }))) return;
    await deleteOwnBudget(id).then(() => toast("success", t("deleted", { name })), toastProblem);
  };
  return (
    <RowMenu
      name={name}
      entries={[
        { id: "edit", label: t("edit"), icon: "edit", run: onEdit },
        { id: "reset", label: t("reset"), icon: "refresh", run: reset },
        undefined,
        { id: "delete", label: t("delete"), icon: "trash", isDangerous: true, run: () => void remove() },
      ]}
    />
  );
}
